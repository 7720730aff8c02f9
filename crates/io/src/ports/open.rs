//! Opening ports: descriptors and programs.

use super::Ends;
use super::driver::{self, Driver, DriverEntry};
use super::options::{PortOptions, text};
use super::port::{Port, PortKind, set_nonblocking};
use super::stream::Stream;
use heddle_runtime::{affinity, qsbr};
use heddle_term::Term;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// What `open_port` was asked to open.
pub enum What {
    Fd(RawFd, RawFd),
    /// A driver, and the command line for it.
    Driver(&'static DriverEntry, OsString),
    /// A command line for the shell.
    Spawn(OsString),
    Executable(OsString),
}

/// Takes a port name apart. Returns None for a term that is none.
pub fn what(name: Term) -> Option<What> {
    match name.as_tuple()? {
        [kind, value] => match kind.as_atom()?.name() {
            kind @ ("spawn" | "spawn_driver") => {
                let command = text(*value)?;
                match driver::of_command(&command) {
                    Some(entry) => Some(What::Driver(entry, command)),
                    None if kind == "spawn" => Some(What::Spawn(command)),
                    // There are no other drivers here.
                    None => None,
                }
            }
            "spawn_executable" => Some(What::Executable(text(*value)?)),
            _ => None,
        },
        [kind, input, output] if kind.as_atom()?.name() == "fd" => {
            Some(What::Fd(i32::try_from(input.as_small()?).ok()?, i32::try_from(output.as_small()?).ok()?))
        }
        _ => None,
    }
}

pub fn open(what: What, o: PortOptions, owner: u64) -> std::io::Result<Option<Arc<Port>>> {
    match what {
        What::Driver(entry, line) => begin(&line.to_string_lossy(), (entry.open)(&line, &o)?, &o, owner),
        What::Fd(input, output) => {
            let input_fd = if o.input { Some(own(input, libc::O_RDONLY)?) } else { None };
            let output_fd = if o.output { Some(own(output, libc::O_WRONLY)?) } else { None };
            let label = format!("{input}/{output}");
            Ok(super::start(
                label,
                PortKind::Descriptors,
                &o,
                owner,
                Ends { driver: Box::new(Stream::new(input_fd, output_fd)), os_pid: None },
            ))
        }
        What::Spawn(command) => {
            let mut c = Command::new("/bin/sh");
            // `exec` saves a process for plain commands, and is what stock's helper runs.
            let mut line = OsString::from("exec ");
            line.push(&command);
            c.arg("-c").arg(line);
            spawn(c, command.to_string_lossy().into_owned(), o, owner)
        }
        What::Executable(file) => {
            let path = std::path::Path::new(&file);
            if let Some(entry) = driver::of_program(path) {
                return begin(&file.to_string_lossy(), (entry.open)(&file, &o)?, &o, owner);
            }
            // The errors of a missing or unfit file come from here, as they do in stock.
            let meta = std::fs::metadata(path)?;
            use std::os::unix::fs::PermissionsExt;
            if meta.is_dir() || meta.permissions().mode() & 0o111 == 0 {
                return Err(std::io::Error::from_raw_os_error(libc::EACCES));
            }
            let mut c = Command::new(&file);
            if let Some(args) = &o.args {
                c.args(args);
            }
            if let Some(arg0) = &o.arg0 {
                c.arg0(arg0);
            }
            let label = file.to_string_lossy().into_owned();
            spawn(c, label, o, owner)
        }
    }
}

/// A descriptor of the port's own for the file of `fd`, which stays as it is. The port's descriptor must not block, and duplicates share
/// that property with the original, which other programs may use. So a pipe or terminal is opened again instead.
fn own(fd: RawFd, mode: i32) -> std::io::Result<OwnedFd> {
    // SAFETY: filled in by the call, or not looked at.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: room for the answer; fails for what is no descriptor.
    if unsafe { libc::fstat(fd, &mut about) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    if matches!(about.st_mode & libc::S_IFMT, libc::S_IFIFO | libc::S_IFCHR) {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        options.read(mode == libc::O_RDONLY).write(mode == libc::O_WRONLY).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        if let Ok(file) = options.open(format!("/proc/self/fd/{fd}")) {
            return Ok(file.into());
        }
    }
    // SAFETY: duplicates an open descriptor, or fails.
    let new = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if new < 0 {
        return Err(std::io::Error::last_os_error());
    }
    if about.st_mode & libc::S_IFMT == libc::S_IFSOCK {
        // The file cannot be opened again.
        set_nonblocking(new);
    }
    // SAFETY: fresh and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(new) })
}

fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: both are fresh and ours.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

fn spawn(mut c: Command, label: String, o: PortOptions, owner: u64) -> std::io::Result<Option<Arc<Port>>> {
    c.env_clear();
    c.envs(crate::os::environment());
    for (name, value) in &o.env {
        match value {
            Some(value) => c.env(name, value),
            None => c.env_remove(name),
        };
    }
    if let Some(cd) = &o.cd {
        c.current_dir(OsStr::from_bytes(cd.as_bytes()));
    }
    let (mut input, mut output) = (None, None);
    if o.stdio {
        if o.input {
            let (ours, theirs) = pipe()?;
            if o.stderr_to_stdout {
                c.stderr(Stdio::from(theirs.try_clone()?));
            }
            c.stdout(Stdio::from(theirs));
            input = Some(ours);
        }
        if o.output {
            let (theirs, ours) = pipe()?;
            c.stdin(Stdio::from(theirs));
            output = Some(ours);
        } else {
            c.stdin(Stdio::from(File::open("/dev/null")?));
        }
    } else {
        // Descriptors 3 (their input) and 4 (their output).
        let (their_in, our_out) = pipe()?;
        let (our_in, their_out) = pipe()?;
        let (a, b) = (std::os::fd::IntoRawFd::into_raw_fd(their_in), std::os::fd::IntoRawFd::into_raw_fd(their_out));
        let (reads, writes) = (o.output, o.input);
        // SAFETY: runs in the child before exec: only dup2 and close.
        unsafe {
            c.pre_exec(move || {
                affinity::free();
                // Moved to numbers from 10 on first, in case one of them is 3 or 4.
                let a2 = libc::fcntl(a, libc::F_DUPFD, 10);
                let b2 = libc::fcntl(b, libc::F_DUPFD, 10);
                // A port in one direction has one of the two.
                if a2 < 0 || b2 < 0 || reads && libc::dup2(a2, 3) < 0 || writes && libc::dup2(b2, 4) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                libc::close(a2);
                libc::close(b2);
                Ok(())
            });
        }
        if o.input {
            input = Some(our_in);
        }
        if o.output {
            output = Some(our_out);
        }
        let child = begun(&mut c, &o);
        // SAFETY: our copies of the child's ends.
        unsafe {
            libc::close(a);
            libc::close(b);
        }
        return Ok(finish(child?, label, &o, owner, input, output));
    }
    if affinity::is_any_bound() {
        // SAFETY: runs in the child before exec: one system call.
        unsafe {
            c.pre_exec(|| {
                affinity::free();
                Ok(())
            })
        };
    }
    let child = begun(&mut c, &o)?;
    drop(c);
    Ok(finish(child, label, &o, owner, input, output))
}

/// Starts the program. Where it cannot begin (no such folder, too much environment), a child takes its place that ends with the number of
/// the error: in stock the port is open before that is known.
fn begun(c: &mut Command, o: &PortOptions) -> std::io::Result<Child> {
    let error = match c.spawn() {
        Ok(child) => return Ok(child),
        Err(error) => error,
    };
    let status = error.raw_os_error().unwrap_or(255);
    let folder = o.cd.as_ref().map(|cd| cd.as_bytes()).filter(|cd| !is_folder(cd));
    let words = match folder {
        Some(cd) => [b"spawn: Could not cd to ", cd, b"\n"].concat(),
        None if status == libc::E2BIG => Vec::new(),
        None => return Err(error),
    };
    c.env_clear().current_dir("/");
    // SAFETY: runs in the child before exec, of which there is none: two system calls.
    unsafe {
        c.pre_exec(move || {
            libc::write(2, words.as_ptr().cast(), words.len());
            libc::_exit(status)
        })
    };
    c.spawn()
}

/// True if a program can be started there.
fn is_folder(path: &[u8]) -> bool {
    let Ok(path) = std::ffi::CString::new([path, b"/."].concat()) else { return false };
    // SAFETY: a string that ends with 0.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn finish(
    mut child: std::process::Child,
    label: String,
    o: &PortOptions,
    owner: u64,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
) -> Option<Arc<Port>> {
    for fd in [&input, &output].into_iter().flatten() {
        set_nonblocking(fd.as_raw_fd());
    }
    let ends = Ends { driver: Box::new(Stream::new(input, output)), os_pid: Some(child.id()) };
    let port = super::start(label, PortKind::Program, o, owner, ends);
    let waiter = port.clone();
    // One sleeping thread a child: reaps it whatever becomes of the port.
    let _ = std::thread::Builder::new().name("child".into()).stack_size(64 << 10).spawn(move || {
        use std::os::unix::process::ExitStatusExt;
        let status = match child.wait() {
            Ok(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            Err(_) => 255,
        };
        if let Some(port) = waiter {
            let _guard = qsbr::guard();
            port.request(move |task, context| task.with::<Stream>(context, |stream, port, _| stream.exited(port, status)));
        }
    });
    port
}

/// Makes a port with this driver that belongs to `owner`: that of a connection which a listening socket accepted, say.
pub fn with_driver(label: &str, driver: Box<dyn Driver>, owner: u64) -> Option<Arc<Port>> {
    let options = super::options::parse(Term::NIL)?;
    begin(label, driver, &options, owner).ok()?
}

fn begin(label: &str, driver: Box<dyn Driver>, o: &PortOptions, owner: u64) -> std::io::Result<Option<Arc<Port>>> {
    super::begin(label.into(), PortKind::Driver, o, owner, Ends { driver, os_pid: None })
}
