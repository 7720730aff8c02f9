//! Writing to standard output directly, without an I/O server.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Atom, Term, am, list, text};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "display"/1 => display,
        "display_string"/2 => display_string,
    }
    "erts_internal" => { "term_to_string"/2 => term_to_string }
}

fn display(_: &mut Process, a: &[Term]) -> NativeResult {
    let mut line = text::display::display(a[0]);
    line.extend_from_slice(b"\r\n");
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(&line);
    let _ = out.flush();
    Ok(Term::bool(true))
}

/// (stdin | stdout | stderr, String | Binary)
fn display_string(p: &mut Process, a: &[Term]) -> NativeResult {
    // A terminal that is not there is noticed before a text that is none.
    let terminal = match a[0].as_atom().map(|d| d.name()) {
        Some("stdin") => Some(File::open("/dev/tty").map_err(|error| device_error(p, &error))?),
        _ => None,
    };
    let bytes = if a[1].is_list() {
        match list::unicode_string(a[1]) {
            Some(text) => text.into_bytes(),
            None => return Err(p.badarg()),
        }
    } else {
        match args::binary(a[1]) {
            Some(bytes) => bytes,
            None => return Err(p.badarg()),
        }
    };
    if let Some(terminal) = terminal {
        type_in(&terminal, &bytes).map_err(|error| device_error(p, &error))?;
        return Ok(Term::bool(true));
    }
    match a[0].as_atom().map(|d| d.name()) {
        Some("stdout") => {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(&bytes);
            let _ = out.flush();
        }
        Some("stderr") => {
            let _ = std::io::stderr().write_all(&bytes);
        }
        _ => return Err(p.badarg()),
    }
    Ok(Term::bool(true))
}

fn device_error(p: &mut Process, error: &std::io::Error) -> Thrown {
    p.badarg_cause(Atom::new(heddle_io::errno::name(error.raw_os_error().unwrap_or(libc::EIO))))
}

/// The terminal takes the bytes as if a user typed them.
fn type_in(terminal: &File, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        // SAFETY: TIOCSTI reads one byte at the address.
        if unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSTI, byte as *const u8) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// (Term, MaxLength | undefined): the text as a list.
fn term_to_string(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut bytes = text::display::display(a[0]);
    if a[1].is_atom_of(am::UNDEFINED) {
    } else if let Some(max) = args::count(a[1]) {
        bytes.truncate(max);
    } else {
        return Err(p.badarg());
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(p.heap.string(text)),
        Err(_) => Ok(p.heap.byte_list(&bytes)),
    }
}
