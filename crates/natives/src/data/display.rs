//! Printing terms without any process: `erlang:display/1` and its like.

use crate::args;
use super::bytes;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::text::display;
use heddle_term::{Atom, Term, am, list};
use std::io::Write;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "display"/1 => display_1,
        "display_string"/1 => display_string_1,
        "display_string"/2 => display_string_2,
    }
    "erts_internal" => { "term_to_string"/2 => term_to_string }
    "io" => { "printable_range"/0 => printable_range }
}

fn display_1(_: &mut Process, a: &[Term]) -> NativeResult {
    let mut text = display::display(a[0]);
    text.extend_from_slice(b"\r\n");
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(&text).and_then(|()| out.flush());
    Ok(Term::bool(true))
}

/// UTF-8 of a list of characters, or the bytes of a binary.
fn text(term: Term) -> Option<Vec<u8>> {
    match bytes::view(term) {
        Some(view) => Some(view.to_vec()),
        None => Some(list::unicode_string(term)?.into_bytes()),
    }
}

fn display_string_1(p: &mut Process, a: &[Term]) -> NativeResult {
    display_string_2(p, &[Atom::new("stderr").into(), a[0]])
}

/// Stream `stdin` means the terminal.
fn display_string_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(stream), Some(text)) = (a[0].as_atom(), text(a[1])) else { return Err(p.badarg()) };
    let written = match stream.name() {
        "stdout" => {
            let mut out = std::io::stdout().lock();
            out.write_all(&text).and_then(|()| out.flush())
        }
        "stderr" => std::io::stderr().write_all(&text),
        "stdin" => std::fs::OpenOptions::new().write(true).open("/dev/tty").and_then(|mut tty| tty.write_all(&text)),
        _ => return Err(p.badarg()),
    };
    match written {
        Ok(()) => Ok(Term::bool(true)),
        Err(error) => {
            let name = if error.raw_os_error() == Some(libc::ENXIO) { "enxio" } else { "eio" };
            Err(p.badarg_cause(Atom::new(name)))
        }
    }
}

/// The text as a list; a limit cuts it off after about so many pieces.
fn term_to_string(p: &mut Process, a: &[Term]) -> NativeResult {
    let text = if a[1].is_atom_of(am::UNDEFINED) {
        display::to_string(a[0])
    } else {
        match args::count(a[1]) {
            Some(limit) if limit > 1 => display::to_string_limited(a[0], limit),
            _ => return Err(p.badarg()),
        }
    };
    Ok(p.heap.string(&text))
}

/// `latin1` or `unicode`, as flag `+pc` says.
fn printable_range(_: &mut Process, _: &[Term]) -> NativeResult {
    let unicode = PRINTABLE_UNICODE.load(std::sync::atomic::Ordering::Relaxed);
    Ok(Atom::new(if unicode { "unicode" } else { "latin1" }).into())
}

/// Set from the command line (`+pc unicode`).
pub static PRINTABLE_UNICODE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
