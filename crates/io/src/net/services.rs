//! Names and numbers of services, from the system's tables.

use super::text;
use crate::files::file::{blocking, wait};
use crate::socket::answer::{errno, ok_with, unsigned};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;
use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::zeroed;
use std::ptr::{null, null_mut};

heddle_runtime::natives! { TABLE:
    "prim_net" => {
        "nif_getservbyname"/2 => getservbyname,
        "nif_getservbyport"/2 => getservbyport,
    }
}

// SAFETY: declared as in the system's netdb.h.
unsafe extern "C" {
    fn getservbyname_r(
        name: *const c_char,
        protocol: *const c_char,
        result: *mut libc::servent,
        buffer: *mut c_char,
        bytes: usize,
        found: *mut *mut libc::servent,
    ) -> c_int;
    fn getservbyport_r(
        port: c_int,
        protocol: *const c_char,
        result: *mut libc::servent,
        buffer: *mut c_char,
        bytes: usize,
        found: *mut *mut libc::servent,
    ) -> c_int;
}

/// Room for one row of a table.
const BUFFER_BYTES: usize = 4096;
/// Longest name of a service or protocol.
const MAX_NAME_BYTES: usize = 255;

/// A protocol by name; `any` is null for the system.
fn protocol(text: &CStr) -> *const c_char {
    if text == c"any" { null() } else { text.as_ptr() }
}

/// Calls one of the functions above. Returns name and port.
fn entry(call: impl FnOnce(*mut libc::servent, *mut c_char, usize, *mut *mut libc::servent) -> c_int) -> Option<(CString, u16)> {
    let (mut buffer, mut found) = (vec![0 as c_char; BUFFER_BYTES], null_mut());
    // SAFETY: plain numbers and pointers, for which zeros are valid.
    let mut result: libc::servent = unsafe { zeroed() };
    if call(&raw mut result, buffer.as_mut_ptr(), buffer.len(), &raw mut found) != 0 || found.is_null() {
        return None;
    }
    // SAFETY: it was filled in; the name is a text in `buffer`.
    let name = unsafe { CStr::from_ptr(result.s_name) }.to_owned();
    Some((name, u16::from_be(result.s_port as u16)))
}

/// (Name, Protocol): strings
fn getservbyname(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(name), Some(kind)) = (text(a[0], MAX_NAME_BYTES), text(a[1], MAX_NAME_BYTES)) else {
        return Ok(errno(&mut p.heap, libc::EINVAL));
    };
    blocking()?;
    let found = wait(p, || {
        // SAFETY: the texts live; the rest is room for the answer.
        entry(|result, buffer, bytes, found| unsafe { getservbyname_r(name.as_ptr(), protocol(&kind), result, buffer, bytes, found) })
    });
    match found {
        // As in stock, a port above 32767 comes out negative.
        Some((_, port)) => Ok(ok_with(&mut p.heap, Term::small((port as i16).into()))),
        None => Ok(errno(&mut p.heap, libc::EINVAL)),
    }
}

/// (Port, Protocol)
fn getservbyport(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(port), Some(kind)) = (unsigned(a[0]), text(a[1], MAX_NAME_BYTES)) else { return Ok(errno(&mut p.heap, libc::EINVAL)) };
    blocking()?;
    let found = wait(p, || {
        let port = (port as u16).to_be().into();
        // SAFETY: the text lives; the rest is room for the answer.
        entry(|result, buffer, bytes, found| unsafe { getservbyport_r(port, protocol(&kind), result, buffer, bytes, found) })
    });
    match found {
        Some((name, _)) => {
            let name = p.heap.byte_list(name.as_bytes());
            Ok(ok_with(&mut p.heap, name))
        }
        None => Ok(errno(&mut p.heap, libc::EINVAL)),
    }
}
