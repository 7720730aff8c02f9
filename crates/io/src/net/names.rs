//! Names and addresses of hosts, from the system's resolver.

use super::text;
use crate::files::file::{blocking, wait};
use crate::inet::address::Address;
use crate::socket::address;
use crate::socket::answer::{atom, errno, error, field, last_errno, map_of, ok, ok_with, raise_invalid};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Heap, Term, am};
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

heddle_runtime::natives! { TABLE:
    "prim_net" => {
        "nif_info"/0 => info,
        "nif_command"/1 => command,
        "nif_gethostname"/0 => hostname,
        "nif_getnameinfo"/2 => getnameinfo,
        "nif_getaddrinfo"/3 => getaddrinfo,
        "nif_get_adapters_addresses"/1 => only_on_windows,
        "nif_get_if_entry"/1 => only_on_windows,
        "nif_get_interface_info"/1 => only_on_windows,
        "nif_get_ip_address_table"/1 => only_on_windows,
    }
}

/// As in stock, all that can be asked of this is what was set. Relaxed, all uses: it orders nothing.
static IS_DEBUGGED: AtomicBool = AtomicBool::new(false);

fn info(p: &mut Process, _: &[Term]) -> NativeResult {
    let debug = Term::bool(IS_DEBUGGED.load(Ordering::Relaxed));
    Ok(map_of(&mut p.heap, &[("debug", debug)]))
}

/// #{command := debug, data := boolean()}
fn command(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(command), Some(data)) = (field(a[0], "command"), field(a[0], "data")) else { return Err(p.badarg()) };
    let (name, wrong) = if command == atom("debug") { ("data", data) } else { ("command", command) };
    match args::boolean(data).filter(|_| name == "data") {
        Some(debug) => {
            IS_DEBUGGED.store(debug, Ordering::Relaxed);
            Ok(ok())
        }
        None => {
            let what = p.heap.tuple(&[atom(name), wrong]);
            Err(raise_invalid(p, what))
        }
    }
}

fn only_on_windows(p: &mut Process, _: &[Term]) -> NativeResult {
    Err(p.error(am::NOTSUP))
}

fn hostname(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut name = [0u8; 256];
    // SAFETY: the room is as large as said, and the last byte stays zero.
    if unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } != 0 {
        let code = last_errno();
        return Ok(errno(&mut p.heap, code));
    }
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    let name = p.heap.byte_list(&name[..len]);
    Ok(ok_with(&mut p.heap, name))
}

/// What `undefined`, or a string, stands for.
fn optional(term: Term) -> Option<Option<CString>> {
    if term.is_atom_of(am::UNDEFINED) { Some(None) } else { text(term, usize::MAX).map(Some) }
}

/// (Host, Service, Hints): hints are not looked at, as in stock.
fn getaddrinfo(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(host), Some(service)) = (optional(a[0]), optional(a[1])) else { return Err(p.badarg()) };
    if host.is_none() && service.is_none() {
        return Err(p.badarg());
    }
    blocking()?;
    match wait(p, || look_up(host.as_deref(), service.as_deref())) {
        Ok(found) => {
            let found: Vec<Term> = found.iter().map(|entry| entry.term(&mut p.heap)).collect();
            let found = p.heap.list(&found);
            Ok(ok_with(&mut p.heap, found))
        }
        Err(code) => Ok(error(&mut p.heap, atom(address_error(code)))),
    }
}

/// One way to reach a service at a host.
struct Entry {
    family: c_int,
    kind: c_int,
    protocol: c_int,
    /// Family and data of the address.
    address: Vec<u8>,
}

impl Entry {
    fn term(&self, heap: &mut Heap) -> Term {
        let address = address::encode(heap, &self.address);
        let kind = if self.kind == 0 { atom("any") } else { address::kind_term(self.kind) };
        let fields = [
            ("family", address::domain_term(self.family)),
            ("socktype", kind),
            ("protocol", Term::small(self.protocol.into())),
            ("addr", address),
        ];
        map_of(heap, &fields)
    }
}

fn look_up(host: Option<&CStr>, service: Option<&CStr>) -> Result<Vec<Entry>, c_int> {
    let pointer = |text: Option<&CStr>| text.map_or(null(), CStr::as_ptr);
    let mut first = null_mut();
    // SAFETY: the texts live; what is found is freed below.
    let code = unsafe { libc::getaddrinfo(pointer(host), pointer(service), null(), &raw mut first) };
    if code != 0 {
        return Err(code);
    }
    let (mut found, mut next) = (Vec::new(), first);
    // SAFETY: a list that the system made, each entry with an address of the length that it says.
    unsafe {
        while let Some(info) = next.as_ref() {
            let address = std::slice::from_raw_parts(info.ai_addr.cast::<u8>(), info.ai_addrlen as usize).to_vec();
            found.push(Entry { family: info.ai_family, kind: info.ai_socktype, protocol: info.ai_protocol, address });
            next = info.ai_next;
        }
        libc::freeaddrinfo(first);
    }
    Ok(found)
}

/// EAI_ADDRFAMILY of the system's netdb.h.
const EAI_ADDRFAMILY: c_int = -9;

fn address_error(code: c_int) -> &'static str {
    match code {
        EAI_ADDRFAMILY => "eaddrfamily",
        libc::EAI_AGAIN => "eagain",
        libc::EAI_BADFLAGS => "ebadflags",
        libc::EAI_FAIL => "efail",
        libc::EAI_FAMILY => "efamily",
        libc::EAI_MEMORY => "emem",
        libc::EAI_NODATA => "enodata",
        libc::EAI_NONAME => "enoname",
        libc::EAI_SERVICE => "eservice",
        libc::EAI_SOCKTYPE => "esocktype",
        libc::EAI_SYSTEM => "esystem",
        _ => "einval",
    }
}

/// Flags of `getnameinfo`, as the system's netdb.h has them.
const FLAGS: &[(&str, i32)] = &[
    ("namereqd", libc::NI_NAMEREQD),
    ("dgram", libc::NI_DGRAM),
    ("nofqdn", libc::NI_NOFQDN),
    ("numerichost", libc::NI_NUMERICHOST),
    ("numericserv", libc::NI_NUMERICSERV),
    ("idn", 32),
];

fn flags(term: Term) -> Option<c_int> {
    if term.is_atom_of(am::UNDEFINED) {
        return Some(0);
    }
    args::list(term)?.into_iter().try_fold(0, |all, flag| Some(all | address::number_of(FLAGS, flag)?))
}

/// (SockAddr, Flags)
fn getnameinfo(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(address) = address::decode(a[0]) else { return Ok(errno(&mut p.heap, libc::EINVAL)) };
    let Some(flags) = flags(a[1]) else { return Err(p.badarg()) };
    blocking()?;
    match wait(p, || names_of(&address, flags)) {
        Ok((host, service)) => {
            let (host, service) = (p.heap.byte_list(host.as_bytes()), p.heap.byte_list(service.as_bytes()));
            let names = map_of(&mut p.heap, &[("host", host), ("service", service)]);
            Ok(ok_with(&mut p.heap, names))
        }
        Err(reason) => Ok(error(&mut p.heap, atom(reason))),
    }
}

fn names_of(address: &Address, flags: c_int) -> Result<(CString, CString), &'static str> {
    let (pointer, len) = address.pointer();
    let (mut host, mut service) = ([0 as c_char; 1025], [0 as c_char; 256]);
    // SAFETY: an address as long as said, and room for names as large as said.
    let code = unsafe {
        let (host_bytes, service_bytes) = (host.len() as libc::socklen_t, service.len() as libc::socklen_t);
        libc::getnameinfo(pointer, len, host.as_mut_ptr(), host_bytes, service.as_mut_ptr(), service_bytes, flags)
    };
    match code {
        // SAFETY: both were filled in, with a zero at the end.
        0 => unsafe { Ok((CStr::from_ptr(host.as_ptr()).to_owned(), CStr::from_ptr(service.as_ptr()).to_owned())) },
        libc::EAI_SYSTEM => Err(crate::errno::name(last_errno())),
        libc::EAI_OVERFLOW => Err("eoverflow"),
        libc::EAI_AGAIN | libc::EAI_BADFLAGS | libc::EAI_FAIL | libc::EAI_FAMILY | libc::EAI_MEMORY | libc::EAI_NONAME => {
            Err(address_error(code))
        }
        _ => Err("einval"),
    }
}

#[cfg(test)]
mod tests {
    use super::{look_up, names_of};
    use crate::inet::address::Address;

    #[test]
    fn a_number_is_a_name_of_itself() {
        let found = look_up(Some(c"127.0.0.1"), Some(c"80")).ok().unwrap();
        assert_eq!(found[0].address[..8], [2, 0, 0, 80, 127, 0, 0, 1]);
        assert!(look_up(Some(c"no such name"), None).is_err());
        let (host, service) = names_of(&Address::v4([127, 0, 0, 1], 80), libc::NI_NUMERICHOST | libc::NI_NUMERICSERV).unwrap();
        assert_eq!((host.as_c_str(), service.as_c_str()), (c"127.0.0.1", c"80"));
    }
}
