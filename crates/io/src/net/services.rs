//! Names and numbers of services, from the system's tables.

use super::text;
use crate::files::file::{blocking, wait};
use crate::inet::services;
use crate::socket::answer::{errno, ok_with, unsigned};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;
use std::ffi::CStr;

heddle_runtime::natives! { TABLE:
    "prim_net" => {
        "nif_getservbyname"/2 => getservbyname,
        "nif_getservbyport"/2 => getservbyport,
    }
}

/// Longest name of a service or protocol.
const MAX_NAME_BYTES: usize = 255;

/// A protocol by name; `any` is none.
fn protocol(text: &CStr) -> Option<&CStr> {
    (text != c"any").then_some(text)
}

/// (Name, Protocol): strings
fn getservbyname(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(name), Some(kind)) = (text(a[0], MAX_NAME_BYTES), text(a[1], MAX_NAME_BYTES)) else {
        return Ok(errno(&mut p.heap, libc::EINVAL));
    };
    blocking()?;
    match wait(p, || services::port(&name, protocol(&kind))) {
        // As in stock, a port above 32767 comes out negative.
        Some(port) => Ok(ok_with(&mut p.heap, Term::small((port as i16).into()))),
        None => Ok(errno(&mut p.heap, libc::EINVAL)),
    }
}

/// (Port, Protocol)
fn getservbyport(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(port), Some(kind)) = (unsigned(a[0]), text(a[1], MAX_NAME_BYTES)) else { return Ok(errno(&mut p.heap, libc::EINVAL)) };
    blocking()?;
    match wait(p, || services::name(port as u16, protocol(&kind))) {
        Some(name) => {
            let name = p.heap.byte_list(&name);
            Ok(ok_with(&mut p.heap, name))
        }
        None => Ok(errno(&mut p.heap, libc::EINVAL)),
    }
}
