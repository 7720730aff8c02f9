//! The natives of `prim_net`, on which the module `net` stands: names of hosts, services and interfaces. What asks the resolver or the
//! system's tables of services runs on a dirty thread, so no scheduler waits for a name server.

pub mod interfaces;
pub mod names;
pub mod services;

use heddle_term::{Term, list};
use std::ffi::CString;

/// The text of a string of at most `max_bytes` Latin-1 characters, up to the first zero.
fn text(term: Term, max_bytes: usize) -> Option<CString> {
    let mut bytes = list::latin1_bytes(term).filter(|bytes| bytes.len() <= max_bytes)?;
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    CString::new(bytes).ok()
}
