//! Names, numbers and addresses of network interfaces.

use super::text;
use crate::files::file::{blocking, wait};
use crate::inet::netns;
use crate::socket::address;
use crate::socket::answer::{atom, errno, error, field, last_errno, last_error, map_of, ok_with, unsigned};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Heap, Term};
use std::ffi::CStr;
use std::ptr::null_mut;

heddle_runtime::natives! { TABLE:
    "prim_net" => {
        "nif_getifaddrs"/1 => getifaddrs,
        "nif_if_name2index"/1 => name_to_index,
        "nif_if_index2name"/1 => index_to_name,
        "nif_if_names"/0 => names,
    }
}

fn name_to_index(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(name) = text(a[0], libc::IF_NAMESIZE) else { return Ok(errno(&mut p.heap, libc::EINVAL)) };
    // SAFETY: the text lives.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Ok(last_error(&mut p.heap)),
        index => Ok(ok_with(&mut p.heap, Term::small(index.into()))),
    }
}

fn index_to_name(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(index) = unsigned(a[0]) else { return Err(p.badarg()) };
    let mut name = [0; libc::IF_NAMESIZE + 1];
    // SAFETY: room for any name of an interface.
    if unsafe { libc::if_indextoname(index, name.as_mut_ptr()) }.is_null() {
        return Ok(errno(&mut p.heap, libc::ENXIO));
    }
    // SAFETY: it was filled in, with a zero at the end.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    let name = p.heap.byte_list(name.to_bytes());
    Ok(ok_with(&mut p.heap, name))
}

/// `{ok, [{Index, Name}]}`
fn names(p: &mut Process, _: &[Term]) -> NativeResult {
    // SAFETY: a plain call; the list is freed below.
    let list = unsafe { libc::if_nameindex() };
    if list.is_null() {
        return Ok(last_error(&mut p.heap));
    }
    let mut found = Vec::new();
    // SAFETY: the list ends with an entry that has no name.
    unsafe {
        for i in 0.. {
            let entry = &*list.add(i);
            if entry.if_name.is_null() {
                break;
            }
            found.push((entry.if_index, CStr::from_ptr(entry.if_name).to_bytes().to_vec()));
        }
        libc::if_freenameindex(list);
    }
    let mut pairs = Vec::new();
    for (index, name) in found {
        let name = p.heap.byte_list(&name);
        pairs.push(p.heap.tuple(&[Term::small(index.into()), name]));
    }
    let pairs = p.heap.list(&pairs);
    Ok(ok_with(&mut p.heap, pairs))
}

/// One address of an interface. Addresses are bytes: family and data.
struct Interface {
    name: Vec<u8>,
    flags: i32,
    address: Option<Vec<u8>>,
    netmask: Option<Vec<u8>>,
    /// The broadcast address, or that of the other end.
    other: Option<Vec<u8>>,
}

/// Flags of interfaces (IFF_ in the system's net/if.h), in the order in which stock lists them.
const FLAGS: &[(&str, i32)] = &[
    ("up", libc::IFF_UP),
    ("broadcast", libc::IFF_BROADCAST),
    ("debug", libc::IFF_DEBUG),
    ("loopback", libc::IFF_LOOPBACK),
    ("pointopoint", libc::IFF_POINTOPOINT),
    ("notrailers", libc::IFF_NOTRAILERS),
    ("running", libc::IFF_RUNNING),
    ("noarp", libc::IFF_NOARP),
    ("promisc", libc::IFF_PROMISC),
    ("master", libc::IFF_MASTER),
    ("slave", libc::IFF_SLAVE),
    ("multicast", libc::IFF_MULTICAST),
    ("portsel", libc::IFF_PORTSEL),
    ("automedia", libc::IFF_AUTOMEDIA),
    ("dynamic", libc::IFF_DYNAMIC),
];

impl Interface {
    fn term(&self, heap: &mut Heap) -> Term {
        let flags: Vec<Term> = FLAGS.iter().filter(|flag| self.flags & flag.1 != 0).map(|flag| atom(flag.0)).collect();
        let mut fields = vec![("name", heap.byte_list(&self.name)), ("flags", heap.list(&flags))];
        let other = if self.flags & libc::IFF_POINTOPOINT != 0 { "dstaddr" } else { "broadaddr" };
        for (key, bytes) in [("addr", &self.address), ("netmask", &self.netmask), (other, &self.other)] {
            if let Some(bytes) = bytes {
                fields.push((key, address::encode(heap, bytes)));
            }
        }
        map_of(heap, &fields)
    }
}

/// (#{netns => String}): `{ok, [Map]}`
fn getifaddrs(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_map() {
        return Err(p.badarg());
    }
    let namespace = match field(a[0], "netns") {
        None => None,
        Some(path) => match text(path, usize::MAX) {
            Some(path) => Some(path),
            None => return Err(p.badarg()),
        },
    };
    blocking()?;
    let found = wait(p, || match &namespace {
        Some(path) => netns::within(path.as_bytes(), interfaces),
        None => interfaces(),
    });
    match found {
        Ok(found) => {
            let found: Vec<Term> = found.iter().map(|interface| interface.term(&mut p.heap)).collect();
            let found = p.heap.list(&found);
            Ok(ok_with(&mut p.heap, found))
        }
        Err(reason) => Ok(error(&mut p.heap, atom(reason))),
    }
}

/// Family and data of an address of the system. None for null.
///
/// # Safety
/// `address` is null, or an address as `getifaddrs` makes them: of the size of its family.
// SAFETY: `interfaces` calls it with addresses of `getifaddrs`, before it frees the list.
unsafe fn bytes(address: *const libc::sockaddr) -> Option<Vec<u8>> {
    // SAFETY: by contract.
    let family = unsafe { address.as_ref() }?.sa_family;
    let len = match family as i32 {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        libc::AF_PACKET => size_of::<libc::sockaddr_ll>(),
        _ => size_of::<libc::sa_family_t>(),
    };
    // SAFETY: by contract.
    Some(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), len) }.to_vec())
}

fn interfaces() -> Result<Vec<Interface>, &'static str> {
    let mut first = null_mut();
    // SAFETY: the list is freed below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(crate::errno::name(last_errno()));
    }
    let (mut found, mut next) = (Vec::new(), first);
    // SAFETY: a list that the system made: names are texts, and addresses have the size of their family or are null.
    unsafe {
        while let Some(entry) = next.as_ref() {
            let flags = entry.ifa_flags as i32;
            let has_other = flags & (libc::IFF_POINTOPOINT | libc::IFF_BROADCAST) != 0;
            found.push(Interface {
                name: CStr::from_ptr(entry.ifa_name).to_bytes().to_vec(),
                flags,
                address: bytes(entry.ifa_addr),
                netmask: bytes(entry.ifa_netmask),
                other: bytes(entry.ifa_ifu).filter(|_| has_other),
            });
            next = entry.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(found)
}
