//! Requests of `ioctl` for network interfaces, and flags of interfaces.

/// What a request takes and returns besides the name of an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// Takes nothing and returns a number or a truth value.
    GetNumber,
    GetTruth,
    /// Takes nothing: all interfaces with addresses.
    GetAll,
    /// Takes the number of an interface.
    GetName,
    GetValue(FieldKind),
    SetValue(FieldKind),
}

/// What a field of the system's `struct ifreq` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    Number,
    Flags,
    Address,
    Hardware,
    /// The memory and interrupts of a device.
    Device,
}

pub struct Request {
    pub name: &'static str,
    pub number: u64,
    pub kind: RequestKind,
}

use FieldKind::{Address, Device, Flags, Hardware, Number};
use RequestKind::{GetAll, GetName, GetNumber, GetTruth, GetValue, SetValue};

const fn row(name: &'static str, number: u64, kind: RequestKind) -> Request {
    Request { name, number, kind }
}

pub const REQUESTS: &[Request] = &[
    row("gifconf", libc::SIOCGIFCONF, GetAll),
    row("nread", libc::FIONREAD, GetNumber),
    // SIOCATMARK of the system's linux/sockios.h.
    row("atmark", 0x8905, GetTruth),
    row("gifname", libc::SIOCGIFNAME, GetName),
    row("gifindex", libc::SIOCGIFINDEX, GetValue(Number)),
    row("gifflags", libc::SIOCGIFFLAGS, GetValue(Flags)),
    row("gifaddr", libc::SIOCGIFADDR, GetValue(Address)),
    row("gifdstaddr", libc::SIOCGIFDSTADDR, GetValue(Address)),
    row("gifbrdaddr", libc::SIOCGIFBRDADDR, GetValue(Address)),
    row("gifnetmask", libc::SIOCGIFNETMASK, GetValue(Address)),
    row("gifmtu", libc::SIOCGIFMTU, GetValue(Number)),
    row("gifhwaddr", libc::SIOCGIFHWADDR, GetValue(Hardware)),
    row("gifmap", libc::SIOCGIFMAP, GetValue(Device)),
    row("giftxqlen", libc::SIOCGIFTXQLEN, GetValue(Number)),
    row("sifflags", libc::SIOCSIFFLAGS, SetValue(Flags)),
    row("sifaddr", libc::SIOCSIFADDR, SetValue(Address)),
    row("sifdstaddr", libc::SIOCSIFDSTADDR, SetValue(Address)),
    row("sifbrdaddr", libc::SIOCSIFBRDADDR, SetValue(Address)),
    row("sifmtu", libc::SIOCSIFMTU, SetValue(Number)),
    row("siftxqlen", libc::SIOCSIFTXQLEN, SetValue(Number)),
];

/// Requests that have no name for programs, which may use the number.
pub const UNNAMED: &[Request] =
    &[row("sifnetmask", libc::SIOCSIFNETMASK, SetValue(Address)), row("sifhwaddr", libc::SIOCSIFHWADDR, SetValue(Hardware))];

/// Flags of interfaces by name, in the order in which stock looks for them; 0: this system does not have it.
pub const FLAGS: &[(&str, i32)] = &[
    ("up", libc::IFF_UP),
    ("broadcast", libc::IFF_BROADCAST),
    ("debug", libc::IFF_DEBUG),
    ("loopback", libc::IFF_LOOPBACK),
    ("pointopoint", libc::IFF_POINTOPOINT),
    ("notrailers", libc::IFF_NOTRAILERS),
    ("knowsepoch", 0),
    ("running", libc::IFF_RUNNING),
    ("noarp", libc::IFF_NOARP),
    ("promisc", libc::IFF_PROMISC),
    ("allmulti", libc::IFF_ALLMULTI),
    ("master", libc::IFF_MASTER),
    ("oactive", 0),
    ("slave", libc::IFF_SLAVE),
    ("simplex", 0),
    ("multicast", libc::IFF_MULTICAST),
    ("link0", 0),
    ("link1", 0),
    ("link2", 0),
    ("portsel", libc::IFF_PORTSEL),
    ("automedia", libc::IFF_AUTOMEDIA),
    ("dynamic", libc::IFF_DYNAMIC),
    ("cantconfig", 0),
    ("lower_up", libc::IFF_LOWER_UP),
    ("ppromisc", 0),
    ("dormant", libc::IFF_DORMANT),
    ("monitor", 0),
    ("echo", libc::IFF_ECHO),
    ("staticarp", 0),
    ("dying", 0),
    ("renaming", 0),
    ("nogroup", 0),
    ("dhcprunning", 0),
    ("private", 0),
];

pub fn find(number: u64) -> Option<RequestKind> {
    REQUESTS.iter().chain(UNNAMED).find(|row| row.number == number).map(|row| row.kind)
}
