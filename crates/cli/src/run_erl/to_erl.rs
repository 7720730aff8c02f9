//! `to_erl`: the user's terminal becomes that of the program that a `run_erl` runs.

use super::pipes::Pipes;
use crate::erl;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};

const HELP: &str = "\
to_erl, the terminal of a program that run_erl runs

    to_erl [-F] [PIPES]

    PIPES    as of run_erl: a directory, with / at its end (the youngest pipes in it), or what the names of the pipes begin with;
             /tmp/ if there is none
    -F       although another to_erl has the pipes

Ctrl-D leaves, and the program goes on. Ctrl-C is the program's.
";
const DEFAULT_PLACE: &str = "/tmp/";
const END: u8 = 4;
const FORM_FEED: &[u8] = b"\x0c";
/// What a `run_erl` with the protocol's version 1 begins with, and what answers it.
const VERSIONS: &[u8] = b"[run_erl v";
const VERSION: &[u8] = b"\x1b_version=1\x1b\\";

pub fn main(args: &[OsString]) -> ! {
    let mut place = OsStr::new(DEFAULT_PLACE);
    let mut forces = false;
    for arg in args {
        match arg.to_str() {
            Some(option @ ("-h" | "-help" | "--help")) => {
                print!("{HELP}");
                // From OTP's program, which has -h only.
                std::process::exit(i32::from(option == "-h"))
            }
            Some("-F") => forces = true,
            Some(option) if option.starts_with('-') => erl::fail(&format!("Invalid option '{option}'; to_erl -h tells more")),
            _ => place = arg,
        }
    }
    let (pipes, name) = Pipes::find(place).unwrap_or_else(|problem| erl::fail(&format!("to_erl: {problem}")));
    let shown = name.display();
    if pipes.is_in_use() {
        eprintln!("Another to_erl process already attached to pipe {shown}.");
        if !forces {
            std::process::exit(1);
        }
        eprintln!("But we proceed anyway by force (-F).");
    }
    let (reads, writes) = pipes.attach().unwrap_or_else(|error| erl::fail(&format!("No running Erlang on pipe {shown}: {error}")));
    eprintln!("Attaching to {shown} (^D to exit)\n");
    let mode = RawMode::set();
    let ended = pass_on(reads, writes);
    drop(mode);
    match ended {
        Ok(()) => std::process::exit(0),
        Err(problem) => erl::fail(&format!("to_erl: {problem}")),
    }
}

/// Standard input passes on each key as it is typed, if it is a terminal. The drop sets it back.
struct RawMode(Option<libc::termios>);

impl RawMode {
    fn set() -> RawMode {
        // SAFETY: all-zero is a valid value; the destinations have the right type.
        unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(0, &mut before) != 0 {
                return RawMode(None);
            }
            let mut raw = before;
            raw.c_iflag = libc::BRKINT | libc::IGNPAR;
            // The program's terminal has made its lines end with a carriage return.
            raw.c_oflag = libc::OPOST;
            raw.c_lflag = 0;
            (raw.c_cc[libc::VMIN], raw.c_cc[libc::VTIME]) = (1, 0);
            libc::tcsetattr(0, libc::TCSADRAIN, &raw);
            RawMode(Some(before))
        }
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let RawMode(Some(before)) = self {
            // SAFETY: what `tcgetattr` returned.
            unsafe { libc::tcsetattr(0, libc::TCSADRAIN, before) };
        }
    }
}

/// A descriptor that is readable when the window has another size.
fn size_changes() -> Option<File> {
    // SAFETY: a set that is initialised before it is used; the descriptor belongs to this process.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGWINCH);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &set, libc::SFD_CLOEXEC);
        (fd >= 0).then(|| File::from_raw_fd(fd))
    }
}

/// The command that tells the window's size. Empty if standard input is no terminal.
fn size_command() -> Vec<u8> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request fills such a structure.
    match unsafe { libc::ioctl(0, libc::TIOCGWINSZ, &mut size) } {
        0 => format!("\x1b_winsize={},{}\x1b\\", size.ws_col, size.ws_row).into_bytes(),
        _ => Vec::new(),
    }
}

/// Writes all of it to a pipe that does not block.
fn send(mut pipe: &File, mut bytes: &[u8]) -> Result<(), String> {
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut polled = libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                // SAFETY: one valid entry.
                unsafe { libc::poll(&mut polled, 1, -1) };
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("writing to the pipe: {error}")),
        }
    }
    Ok(())
}

fn show(bytes: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| format!("writing to the terminal: {error}"))
}

fn pass_on(mut reads: File, writes: File) -> Result<(), String> {
    let mut changes = size_changes();
    let mut has_begun = false;
    let mut bytes = [0; 8192];
    send(&writes, FORM_FEED)?;
    loop {
        let fds = [0, reads.as_raw_fd(), changes.as_ref().filter(|_| has_begun).map_or(-1, |file| file.as_raw_fd())];
        let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: three valid entries; one with a negative descriptor is skipped.
        if unsafe { libc::poll(polled.as_mut_ptr(), 3, -1) } < 0 {
            continue;
        }
        if polled[2].revents != 0
            && let Some(file) = &mut changes
        {
            let _ = file.read(&mut bytes);
            send(&writes, &size_command())?;
        }
        if polled[0].revents != 0 {
            match std::io::stdin().lock().read(&mut bytes) {
                Ok(0) => return show_end("[EOF]"),
                Ok(n) if bytes[..n].contains(&END) => return show_end("[Quit]"),
                Ok(n) => send(&writes, &bytes[..n])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("reading from the terminal: {error}")),
            }
        }
        if polled[1].revents != 0 {
            let n = match reads.read(&mut bytes) {
                Ok(0) => return show_end("[End]"),
                Ok(n) => n,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => continue,
                Err(error) => return Err(format!("reading from the pipe: {error}")),
            };
            let mut shown = &bytes[..n];
            if !has_begun {
                has_begun = true;
                // An old `run_erl` shows no versions, and knows no commands.
                match shown.iter().position(|&byte| byte == b'\n').filter(|_| shown.starts_with(VERSIONS)) {
                    Some(end) => {
                        shown = &shown[end + 1..];
                        send(&writes, VERSION)?;
                        send(&writes, &size_command())?;
                    }
                    None => changes = None,
                }
            }
            show(shown)?;
        }
    }
}

fn show_end(how: &str) -> Result<(), String> {
    eprint!("{how}\n\r");
    Ok(())
}
