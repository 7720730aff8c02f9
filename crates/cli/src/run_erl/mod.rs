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
use std::os::fd::AsRawFd;
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
    match run(pipes, Path::new(logs), command, is_daemon) {
        Ok(()) => std::process::exit(0),
        Err(problem) => erl::fail(&format!("run_erl: {problem}")),
    }
}

fn run(pipes: &OsStr, logs: &Path, command: &OsStr, is_daemon: bool) -> Result<(), String> {
    let limits = log::Limits::of_environment()?;
    let log = log::Log::open(logs, limits)?;
    let pipes = pipes::Pipes::make(pipes)?;
    // From here on a `to_erl` can come, also before the command starts.
    let input = pipes.open_input()?;
    if is_daemon {
        go_to_background(&logs.join("run_erl.log"))?;
    }
    let terminal = pty::Terminal::start(command).inspect_err(|_| pipes.remove())?;
    session::Session::new(pipes, terminal, log, input).run()
}

/// Errors go to a file from now on. What is wrong with the arguments was told before.
fn go_to_background(errors: &Path) -> Result<(), String> {
    let file = std::fs::File::create(errors).map_err(|error| format!("{}: {error}", errors.display()))?;
    erl::detach();
    // SAFETY: plain system calls, with an open descriptor.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::dup2(file.as_raw_fd(), 2);
    }
    Ok(())
}
