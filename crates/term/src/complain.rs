//! Messages on standard error. It may be a pipe without a reader, or a full file: then nothing is said, and that is no failure of its own.

use std::fmt::Arguments;
use std::io::Write;

pub fn write(text: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(text);
}

/// Writes a line and its end, unless standard error does not take it at once, as a pipe whose reader stopped: the caller must not wait. Lines of less
/// than 4,096 bytes are written whole.
pub fn if_taken(line: &str) {
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry, which is there.
    let ready = unsafe { libc::poll(&mut stderr, 1, 0) };
    if ready == 1 && stderr.revents & libc::POLLOUT != 0 {
        // A terminal may be in a mode where a line feed does not return the carriage.
        // SAFETY: a plain system call.
        let end = if unsafe { libc::isatty(libc::STDERR_FILENO) } == 1 { "\r\n" } else { "\n" };
        let _ = std::io::stderr().write_all(format!("{line}{end}").as_bytes());
    }
}

/// As `eprint!`, where that would panic because standard error takes nothing.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => { $crate::complain::write(format_args!($($text)*)) };
}
