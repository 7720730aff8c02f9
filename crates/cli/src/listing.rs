//! What commands list on standard output. Where that takes no more, as a full file system, a sentence says so and the status is 1. (A reader
//! that goes away ends the program as the system does, see `main`.)

use std::fmt::Arguments;
use std::io::Write;

pub fn write(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_fmt(text).and_then(|()| out.flush()) {
        crate::erl::fail(&format!("heddle: cannot write to standard output: {error}"));
    }
}

/// As `println!`, which would panic.
macro_rules! list {
    () => { $crate::listing::write(format_args!("\n")) };
    ($($text:tt)*) => { $crate::listing::write(format_args!("{}\n", format_args!($($text)*))) };
}
/// As `print!`, which would panic.
macro_rules! list_part {
    ($($text:tt)*) => { $crate::listing::write(format_args!($($text)*)) };
}
pub(crate) use {list, list_part};
