//! `run_erl` runs a command, mostly an emulator, in a terminal of its own, and writes what that terminal shows to log files. `to_erl` connects
//! the user's terminal to it, over two named pipes. Both speak with OTP's C programs of these names, and use the same files.
//!
//! Heddle has its own for the same reason as its `epmd`: those of a package may want a newer C library than the computer has.

mod log;
mod pipes;
mod pty;
mod session;
pub mod to_erl;

use crate::erl;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

const HELP: &str = "\
run_erl, a terminal and logs for a program that runs in the background

    run_erl [-daemon] PIPES LOGS COMMAND

    -daemon    go to the background
    PIPES      a directory, with / at its end, in which two pipes erlang.pipe.N are made; or what their names begin with
    LOGS       a directory for erlang.log.1, erlang.log.2, ... and run_erl.log, which has the errors of run_erl -daemon
    COMMAND    what /bin/sh runs, in one argument: \"exec erl -sname a\"

    to_erl PIPES   is a terminal of it

Variables: RUN_ERL_LOG_GENERATIONS (5 files), RUN_ERL_LOG_MAXSIZE (100000 bytes each), RUN_ERL_LOG_ALIVE_MINUTES (15: a line with the time
after as many without output), RUN_ERL_LOG_ACTIVITY_MINUTES (5: one before output that comes after as many), RUN_ERL_LOG_ALIVE_FORMAT (as of
strftime), RUN_ERL_LOG_ALIVE_IN_UTC, RUN_ERL_DISABLE_FLOWCNTRL (^S and ^Q are passed on).
";

pub fn main(args: &[OsString]) -> ! {
    let is_daemon = args.first().is_some_and(|arg| arg == "-daemon");
    let [pipes, logs, command] = &args[usize::from(is_daemon)..] else {
        print!("{HELP}");
        std::process::exit(if args.iter().any(|arg| arg == "-h" || arg == "--help" || arg == "-help") { 0 } else { 1 })
    };
    let ready = is_daemon.then(|| go_to_background(Path::new(logs)));
    match run(pipes, Path::new(logs), command, ready) {
        Ok(()) => std::process::exit(0),
        Err(problem) => erl::fail(&format!("run_erl: {problem}")),
    }
}

/// `ready` is dropped when a `to_erl` can come.
fn run(pipes: &OsStr, logs: &Path, command: &OsStr, ready: Option<OwnedFd>) -> Result<(), String> {
    let limits = log::Limits::of_environment()?;
    let log = log::Log::open(logs, limits)?;
    let pipes = pipes::Pipes::make(pipes)?;
    let terminal = pty::Terminal::start(command).inspect_err(|_| pipes.remove())?;
    let session = session::Session::new(pipes, terminal, log)?;
    drop(ready);
    session.run()
}

/// Errors go to run_erl.log from now on. The parent ends, so its caller goes on, when the descriptor that this returns is dropped.
fn go_to_background(logs: &Path) -> OwnedFd {
    let file = std::fs::File::create(logs.join("run_erl.log"));
    let errors = file.unwrap_or_else(|error| erl::fail(&format!("run_erl: {}: {error}", logs.join("run_erl.log").display())));
    // SAFETY: there is one thread, and no call here needs more than that.
    unsafe {
        let mut ends = [-1; 2];
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            erl::fail("run_erl: no descriptor is left");
        }
        let [waits, ready] = ends;
        for is_first in [true, false] {
            if libc::fork() != 0 {
                libc::close(ready);
                // Returns when no process has the other end any more.
                if is_first {
                    libc::read(waits, [0u8].as_mut_ptr().cast(), 1);
                }
                libc::_exit(0);
            }
            // The second time the process leads a session, and stays in it.
            libc::setsid();
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
        }
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(nothing, 0);
        libc::dup2(nothing, 1);
        libc::dup2(errors.as_raw_fd(), 2);
        if nothing > 2 {
            libc::close(nothing);
        }
        libc::close(waits);
        OwnedFd::from_raw_fd(ready)
    }
}
