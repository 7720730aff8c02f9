//! Messages on standard error. It may be a pipe without a reader, or a full file: then nothing is said, and that is no failure of its own.

use std::fmt::Arguments;
use std::io::Write;

pub fn write(text: Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(text);
}

/// As `eprint!`, where that would panic because standard error takes nothing.
#[macro_export]
macro_rules! complain {
    ($($text:tt)*) => { $crate::complain::write(format_args!($($text)*)) };
}
