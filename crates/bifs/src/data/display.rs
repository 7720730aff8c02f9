//! `erlang:display_string/1`, and what the module `io` asks of the VM.

use super::bytes;
use heddle_abi::settings::SETTINGS;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, list};
use std::io::Write;

heddle_runtime::natives! { TABLE:
    "erlang" => { "display_string"/1 => display_string }
    "io" => { "printable_range"/0 => printable_range }
}

/// Writes a list of characters or a binary to standard error.
fn display_string(p: &mut Process, a: &[Term]) -> NativeResult {
    let text = match bytes::view(a[0]) {
        Some(view) => Some(view.to_vec()),
        None => list::unicode_string(a[0]).map(String::into_bytes),
    };
    let Some(text) = text else { return Err(p.badarg()) };
    let _ = std::io::stderr().write_all(&text);
    Ok(Term::bool(true))
}

/// `unicode` or `latin1`, as the flag `+pc` says.
fn printable_range(_: &mut Process, _: &[Term]) -> NativeResult {
    let unicode = SETTINGS.printable_unicode.is_on();
    Ok(Atom::new(if unicode { "unicode" } else { "latin1" }).into())
}
