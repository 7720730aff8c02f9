//! Text of C: Latin-1 and UTF-8, as atoms and strings.

use crate::env::{Env, NO_TERM};
use heddle_term::{Atom, Heap, Term, am, text::display};
use libc::{c_char, c_int, c_uint, size_t};
use std::ffi::CStr;

const LATIN1: c_int = 1;
const UTF8: c_int = 2;

/// The characters of text in one of the encodings of `ErlNifCharEncoding`; None if it is malformed.
pub fn decode(bytes: &[u8], encoding: c_int) -> Option<String> {
    match encoding {
        LATIN1 => Some(bytes.iter().map(|&b| b as char).collect()),
        UTF8 => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

/// The bytes of a string of C, without the zero byte at its end.
///
/// # Safety
/// `text` ends with a zero byte, and lives as long as the result.
// SAFETY: functions of the interface call it with a string that the library passes.
unsafe fn c_bytes<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the library passes a string that ends with a zero byte.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// An array of bytes as a slice. The pointer may be null if the array is empty.
///
/// # Safety
/// There are `length` bytes.
// SAFETY: functions of the interface call it with text and its length, which the library passes.
unsafe fn sized<'a>(text: *const c_char, length: size_t) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the library passes that many bytes.
    unsafe { std::slice::from_raw_parts(text.cast(), length) }
}

/// Stores the atom with this text and returns 1, or returns 0 if the text is malformed or too long.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it with the place that the library passes for the result.
unsafe fn new_atom(bytes: &[u8], encoding: c_int, to: *mut Term) -> c_int {
    let atom = decode(bytes, encoding).and_then(|name| match Atom::try_new(&name) {
        Err(heddle_term::atom::AtomError::TableFull) => heddle_term::atom::table_full(),
        made => made.ok(),
    });
    // SAFETY: `to` comes from the library, for the result.
    unsafe { found(atom, to) }
}

/// Stores an atom and returns 1, or returns 0 if there is none.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it with the place that the library passes for the result.
unsafe fn found(atom: Option<Atom>, to: *mut Term) -> c_int {
    let Some(atom) = atom else { return 0 };
    // SAFETY: the caller passes a writable place.
    unsafe { *to = atom.into() };
    1
}

/// The atom with this text. If it is too long, raises `badarg` in the environment.
///
/// # Safety
/// `env` is a live environment of the library.
// SAFETY: `enif_make_atom` and `enif_make_atom_len` call it with the environment that the library passes.
unsafe fn latin1_atom(env: *mut Env, bytes: &[u8]) -> Term {
    let mut atom = NO_TERM;
    // SAFETY: a place of our own; the environment is the library's.
    unsafe {
        if new_atom(bytes, LATIN1, &mut atom) == 0 {
            return (*env).raise(am::BADARG.into());
        }
    }
    atom
}

/// The bytes of an atom's name, if it can be encoded so.
fn encoded(name: &str, encoding: c_int) -> Option<Vec<u8>> {
    match encoding {
        LATIN1 => name.chars().map(|c| u8::try_from(c as u32).ok()).collect(),
        UTF8 => Some(name.as_bytes().to_vec()),
        _ => None,
    }
}

fn string(heap: &mut Heap, bytes: &[u8], encoding: c_int) -> Term {
    match encoding {
        LATIN1 => heap.byte_list(bytes),
        UTF8 => match std::str::from_utf8(bytes) {
            Ok(text) => heap.string(text),
            Err(_) => NO_TERM,
        },
        _ => NO_TERM,
    }
}

/// The character of an element of a string.
fn character(element: Term, encoding: c_int) -> Option<char> {
    let code = u32::try_from(element.as_small()?).ok()?;
    match encoding {
        LATIN1 => u8::try_from(code).ok().map(|b| b as char),
        _ => char::from_u32(code),
    }
}

fn length(character: char, encoding: c_int) -> usize {
    if encoding == LATIN1 { 1 } else { character.len_utf8() }
}

api! { FUNCTIONS:
    fn enif_make_atom(env: *mut Env, name: *const c_char) -> Term {
        latin1_atom(env, c_bytes(name))
    }
    fn enif_make_atom_len(env: *mut Env, name: *const c_char, length: size_t) -> Term {
        latin1_atom(env, sized(name, length))
    }
    fn enif_make_new_atom(_env: *mut Env, name: *const c_char, to: *mut Term, encoding: c_int) -> c_int {
        new_atom(c_bytes(name), encoding, to)
    }
    fn enif_make_new_atom_len(_env: *mut Env, name: *const c_char, length: size_t, to: *mut Term, encoding: c_int) -> c_int {
        new_atom(sized(name, length), encoding, to)
    }
    fn enif_make_existing_atom(_env: *mut Env, name: *const c_char, to: *mut Term, encoding: c_int) -> c_int {
        found(decode(c_bytes(name), encoding).and_then(|name| Atom::existing(&name)), to)
    }
    fn enif_make_existing_atom_len(_env: *mut Env, name: *const c_char, length: size_t, to: *mut Term, encoding: c_int) -> c_int {
        found(decode(sized(name, length), encoding).and_then(|name| Atom::existing(&name)), to)
    }
    fn enif_get_atom(_env: *mut Env, atom: Term, to: *mut c_char, size: c_uint, encoding: c_int) -> c_int {
        let Some(bytes) = atom.as_atom().and_then(|a| encoded(a.name(), encoding)) else { return 0 };
        if bytes.len() >= size as usize {
            return 0;
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len());
        *to.add(bytes.len()) = 0;
        bytes.len() as c_int + 1
    }
    fn enif_get_atom_length(_env: *mut Env, atom: Term, to: *mut c_uint, encoding: c_int) -> c_int {
        let Some(bytes) = atom.as_atom().and_then(|a| encoded(a.name(), encoding)) else { return 0 };
        *to = bytes.len() as c_uint;
        1
    }
    fn enif_make_string(env: *mut Env, text: *const c_char, encoding: c_int) -> Term {
        match string(&mut *(*env).heap, c_bytes(text), encoding) {
            made if made.is_none() => (*env).raise(am::BADARG.into()),
            made => made,
        }
    }
    fn enif_make_string_len(env: *mut Env, text: *const c_char, length: size_t, encoding: c_int) -> Term {
        match string(&mut *(*env).heap, sized(text, length), encoding) {
            made if made.is_none() => (*env).raise(am::BADARG.into()),
            made => made,
        }
    }
    fn enif_get_string(_env: *mut Env, list: Term, to: *mut c_char, size: c_uint, encoding: c_int) -> c_int {
        let size = size as usize;
        if size == 0 || (encoding != LATIN1 && encoding != UTF8) {
            return 0;
        }
        let (mut rest, mut used) = (list, 0);
        while rest.is_cons() {
            let Some(next) = character(rest.head(), encoding) else { break };
            if encoding == UTF8 && used + next.len_utf8() >= size {
                *to.add(used) = 0;
                return -(used as c_int + 1);
            }
            match encoding {
                LATIN1 => *to.add(used) = next as u8 as c_char,
                _ => _ = next.encode_utf8(std::slice::from_raw_parts_mut(to.add(used).cast(), next.len_utf8())),
            }
            used += length(next, encoding);
            if used >= size {
                *to.add(size - 1) = 0;
                return -(size as c_int);
            }
            rest = rest.tail();
        }
        if !rest.is_nil() {
            *to.add(if encoding == LATIN1 { used } else { 0 }) = 0;
            return 0;
        }
        *to.add(used) = 0;
        used as c_int + 1
    }
    fn enif_get_string_length(_env: *mut Env, list: Term, to: *mut c_uint, encoding: c_int) -> c_int {
        let (mut rest, mut bytes) = (list, 0);
        while rest.is_cons() {
            let Some(next) = character(rest.head(), encoding) else { return 0 };
            bytes += length(next, encoding);
            rest = rest.tail();
        }
        if !rest.is_nil() {
            return 0;
        }
        *to = bytes as c_uint;
        1
    }
    // For the formats of `variadic.c`.
    fn heddle_nif_text(term: Term, to: *mut u8, size: size_t) -> size_t {
        let text = if term.is_none() { b"<the non-value>".to_vec() } else { display::display(term) };
        std::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len().min(size));
        text.len()
    }
}
