//! Network interfaces: their names, addresses and flags.

use super::netns;
use super::reason::{Reason, Reply, last_error};
use super::request::Request;
use libc::{c_ulong, ifaddrs, ifreq, sockaddr};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};

const ADDR: u8 = 1;
const BROADADDR: u8 = 2;
const DSTADDR: u8 = 3;
const MTU: u8 = 4;
const NETMASK: u8 = 5;
const FLAGS: u8 = 6;
const HWADDR: u8 = 7;
/// Bytes of an Ethernet address, which is what the system's request returns.
const HWADDR_BYTES: usize = 6;

/// (the protocol's bit, the system's bit). As in ERTS an interface that is up counts as running.
const BITS: [(u32, i32); 6] = [
    (1, libc::IFF_UP),
    (2, libc::IFF_BROADCAST),
    (4, libc::IFF_LOOPBACK),
    (8, libc::IFF_POINTOPOINT),
    (16, libc::IFF_UP),
    (32, libc::IFF_MULTICAST),
];
/// Flags of a request that clear a bit of the system.
const CLEARED: [(u32, i32); 3] = [(0x0100, libc::IFF_UP), (0x0200, libc::IFF_BROADCAST), (0x0800, libc::IFF_POINTOPOINT)];
const SET: [(u32, i32); 3] = [(1, libc::IFF_UP), (2, libc::IFF_BROADCAST), (8, libc::IFF_POINTOPOINT)];

fn flags(system: i32) -> [u8; 4] {
    BITS.iter().filter(|bit| system & bit.1 != 0).fold(0, |all, bit| all | bit.0).to_be_bytes()
}

/// Adds an address: its family and bytes, or for a hardware address its length and bytes. Returns false where it is none of these.
///
/// # Safety
/// `address` is null or points to an address as long as its family says.
// SAFETY: the callers pass addresses of `getifaddrs` and of requests for an interface, which the system fills in.
unsafe fn put_address(out: &mut Vec<u8>, option: u8, address: *const sockaddr) -> bool {
    // SAFETY: the caller's promise: an address that is there is as long as its family says.
    unsafe {
        match address.as_ref().map(|address| address.sa_family as i32) {
            Some(libc::AF_INET | libc::AF_UNSPEC) => {
                out.extend([option, super::address::INET]);
                out.extend((*address.cast::<libc::sockaddr_in>()).sin_addr.s_addr.to_ne_bytes());
            }
            Some(libc::AF_INET6) => {
                out.extend([option, super::address::INET6]);
                out.extend((*address.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr);
            }
            Some(libc::AF_PACKET) => {
                let address = &*address.cast::<libc::sockaddr_ll>();
                let len = (address.sll_halen as usize).min(address.sll_addr.len());
                out.push(option);
                out.extend((len as u16).to_be_bytes());
                out.extend(&address.sll_addr[..len]);
            }
            _ => return false,
        }
    }
    true
}

/// For each address of each interface: its name as UTF-8, a zero, options with values (the flags first), a zero.
pub fn all(namespace: Option<&[u8]>) -> Reply {
    match namespace {
        Some(path) => netns::within(path, list),
        None => list(),
    }
}

fn list() -> Reply {
    let mut first: *mut ifaddrs = std::ptr::null_mut();
    // SAFETY: room for one pointer.
    if unsafe { libc::getifaddrs(&mut first) } < 0 {
        return Err(last_error());
    }
    let mut out = Vec::new();
    let mut next = first;
    // SAFETY: the list is the system's until it is freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: as above: a string that ends with a zero.
        out.extend(unsafe { CStr::from_ptr(entry.ifa_name) }.to_bytes().iter().map(|&b| b as char).collect::<String>().bytes());
        out.extend([0, FLAGS]);
        out.extend(flags(entry.ifa_flags as i32));
        // SAFETY: as above: addresses of the system.
        unsafe { put_addresses(&mut out, entry) };
        out.push(0);
        next = entry.ifa_next;
    }
    // SAFETY: the list of `getifaddrs`, not used any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(out)
}

/// Adds the addresses of an interface: its own, the mask, and that of the other end or for broadcasts.
///
/// # Safety
/// The addresses of `entry` are null or as long as their families say.
// SAFETY: the caller passes an entry of `getifaddrs`, of which the list is not freed yet.
unsafe fn put_addresses(out: &mut Vec<u8>, entry: &ifaddrs) {
    // SAFETY: the caller's promise.
    unsafe {
        match entry.ifa_addr.as_ref().map(|address| address.sa_family as i32) {
            Some(libc::AF_INET | libc::AF_INET6) => {
                put_address(out, ADDR, entry.ifa_addr);
                put_address(out, NETMASK, entry.ifa_netmask);
                // One field, which means either of the two.
                if entry.ifa_flags as i32 & libc::IFF_POINTOPOINT != 0 {
                    put_address(out, DSTADDR, entry.ifa_ifu);
                } else if entry.ifa_flags as i32 & libc::IFF_BROADCAST != 0 {
                    put_address(out, BROADADDR, entry.ifa_ifu);
                }
            }
            // An address of one byte or less is none, as in stock.
            Some(libc::AF_PACKET) if (*entry.ifa_addr.cast::<libc::sockaddr_ll>()).sll_halen > 1 => {
                put_address(out, HWADDR, entry.ifa_addr);
            }
            _ => {}
        }
    }
}

/// Names of the interfaces that have an IPv4 address, each followed by a zero.
pub fn names(fd: &OwnedFd) -> Result<Vec<u8>, Reason> {
    // SAFETY: plain numbers and pointers, for which zeros are valid.
    let empty: ifreq = unsafe { std::mem::zeroed() };
    let mut room = vec![empty; 16];
    loop {
        let bytes = room.len() * size_of::<ifreq>();
        let mut request = libc::ifconf { ifc_len: bytes as i32, ifc_ifcu: libc::__c_anonymous_ifc_ifcu { ifcu_req: room.as_mut_ptr() } };
        // SAFETY: room for `ifc_len` bytes of entries.
        if unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFCONF, &mut request) } < 0 {
            return Err(last_error());
        }
        // Where the room is full there may be more.
        if (request.ifc_len as usize) < bytes {
            room.truncate(request.ifc_len as usize / size_of::<ifreq>());
            return Ok(room.iter().flat_map(name_of_entry).collect());
        }
        room.resize(room.len() * 2, empty);
    }
}

fn name_of_entry(entry: &ifreq) -> Vec<u8> {
    entry.ifr_name.iter().map(|&c| c as u8).take_while(|&b| b != 0).chain([0]).collect()
}

/// The system's request about the interface that the program's request names.
fn request_about(request: &mut Request) -> Option<ifreq> {
    let name = request.name()?;
    // SAFETY: as in `names`.
    let mut about: ifreq = unsafe { std::mem::zeroed() };
    for (to, &from) in about.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name) {
        *to = from as libc::c_char;
    }
    Some(about)
}

fn ask(fd: &OwnedFd, call: c_ulong, about: &mut ifreq) -> bool {
    // SAFETY: all of the calls that are made here read and write one `ifreq`.
    unsafe { libc::ioctl(fd.as_raw_fd(), call, about) == 0 }
}

/// `[Length, Name, Option, ...]`; the reply has the options that the interface has, with their values.
pub fn get(fd: &OwnedFd, request: &mut Request) -> Option<Vec<u8>> {
    let mut about = request_about(request)?;
    let mut out = Vec::new();
    while let Some(option) = request.byte() {
        let address = match option {
            ADDR => libc::SIOCGIFADDR,
            BROADADDR => libc::SIOCGIFBRDADDR,
            DSTADDR => libc::SIOCGIFDSTADDR,
            NETMASK => libc::SIOCGIFNETMASK,
            HWADDR => {
                if ask(fd, libc::SIOCGIFHWADDR, &mut about) {
                    out.push(HWADDR);
                    out.extend((HWADDR_BYTES as u16).to_be_bytes());
                    // SAFETY: the system filled this field in.
                    out.extend(unsafe { about.ifr_ifru.ifru_hwaddr.sa_data }[..HWADDR_BYTES].iter().map(|&c| c as u8));
                }
                continue;
            }
            MTU => {
                if ask(fd, libc::SIOCGIFMTU, &mut about) {
                    out.push(MTU);
                    // SAFETY: as above.
                    out.extend(unsafe { about.ifr_ifru.ifru_mtu }.to_be_bytes());
                }
                continue;
            }
            FLAGS => {
                out.push(FLAGS);
                out.extend(flags(system_flags(fd, &mut about)));
                continue;
            }
            _ => return None,
        };
        if ask(fd, address, &mut about) {
            // SAFETY: the system filled an address in.
            unsafe { put_address(&mut out, option, &raw const about.ifr_ifru.ifru_addr) };
        }
    }
    Some(out)
}

/// The flags of an interface; 0 if there is no such interface.
fn system_flags(fd: &OwnedFd, about: &mut ifreq) -> i32 {
    // SAFETY: the system filled this field in.
    if ask(fd, libc::SIOCGIFFLAGS, about) { unsafe { about.ifr_ifru.ifru_flags as u16 as i32 } } else { 0 }
}

/// `[Length, Name, Option, Value, ...]`. As in stock, what the system refuses is skipped.
pub fn set(fd: &OwnedFd, request: &mut Request) -> Option<Vec<u8>> {
    let mut about = request_about(request)?;
    while let Some(option) = request.byte() {
        match option {
            ADDR | BROADADDR | DSTADDR | NETMASK => {
                about.ifr_ifru.ifru_addr = address_of(request)?;
                let call = match option {
                    ADDR => libc::SIOCSIFADDR,
                    BROADADDR => libc::SIOCSIFBRDADDR,
                    DSTADDR => libc::SIOCSIFDSTADDR,
                    _ => libc::SIOCSIFNETMASK,
                };
                ask(fd, call, &mut about);
            }
            HWADDR => {
                let len = request.short()? as usize;
                let bytes = request.bytes(len)?;
                ask(fd, libc::SIOCGIFHWADDR, &mut about);
                // SAFETY: a field of plain numbers.
                let mut address = unsafe { about.ifr_ifru.ifru_hwaddr };
                address.sa_data = [0; 14];
                for (to, &from) in address.sa_data.iter_mut().zip(bytes) {
                    *to = from as libc::c_char;
                }
                about.ifr_ifru.ifru_hwaddr = address;
                ask(fd, libc::SIOCSIFHWADDR, &mut about);
            }
            MTU => {
                about.ifr_ifru.ifru_mtu = request.number()? as i32;
                ask(fd, libc::SIOCSIFMTU, &mut about);
            }
            FLAGS => {
                let wanted = request.number()?;
                let old = system_flags(fd, &mut about);
                let set = SET.iter().filter(|bit| wanted & bit.0 != 0).fold(old, |all, bit| all | bit.1);
                let new = CLEARED.iter().filter(|bit| wanted & bit.0 != 0).fold(set, |all, bit| all & !bit.1);
                if new != old {
                    about.ifr_ifru.ifru_flags = new as libc::c_short;
                    ask(fd, libc::SIOCSIFFLAGS, &mut about);
                }
            }
            _ => return None,
        }
    }
    Some(Vec::new())
}

/// `[Family, Bytes]`. An IPv6 address does not fit into the system's request, which then refuses it.
fn address_of(request: &mut Request) -> Option<sockaddr> {
    // SAFETY: plain numbers.
    let mut address: sockaddr = unsafe { std::mem::zeroed() };
    let bytes = match request.byte()? {
        super::address::INET => {
            address.sa_family = libc::AF_INET as libc::sa_family_t;
            request.bytes(4)?
        }
        super::address::INET6 => {
            address.sa_family = libc::AF_INET6 as libc::sa_family_t;
            request.bytes(16)?
        }
        _ => return None,
    };
    // The address comes after the port, which has two bytes.
    for (to, &from) in address.sa_data[2..].iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    Some(address)
}
