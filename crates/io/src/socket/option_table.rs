//! Options of sockets, one row each: `supports`, `setopt` and `getopt` read this table. An option that stock knows and this system (or
//! stock's build for it) does not have is a row without number.

use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_SCTP, IPPROTO_TCP, IPPROTO_UDP, SOL_SOCKET};

/// What a value is: as a term, and for the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    Bool,
    Int,
    /// A text of at most `max_bytes`, which is read with or without the zero at its end.
    Text {
        max_bytes: usize,
        keeps_zero: bool,
    },
    /// `#{onoff, linger}`, or `abort`.
    Linger,
    Domain,
    SocketType,
    Protocol,
    TypeOfService,
    MtuDiscover,
    /// An IPv4 address.
    Interface4,
    /// `#{multiaddr, interface}`
    Membership4,
    Membership6,
    /// `#{multiaddr, interface, sourceaddr}`
    Source4,
    /// `#{multiaddr, interface, mode, slist}`, or `null`.
    Filter4,
    /// 0 to 255, or `default`.
    Hops,
    /// The control messages that came last.
    PacketOptions,
    SctpAssociation,
    SctpEvents,
    SctpStart,
    SctpTimeouts,
}

/// What programs may do with an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Both,
    Get,
    Set,
}

pub struct SocketOption {
    pub name: &'static str,
    /// The system's number and more; None if the option is not there.
    pub known: Option<(i32, ValueKind, Access)>,
}

pub struct Level {
    pub number: i32,
    pub options: &'static [SocketOption],
}

use Access::{Both, Get, Set};
use ValueKind::{
    Bool, Domain, Filter4, Hops, Int, Interface4, Linger, Membership4, Membership6, MtuDiscover, PacketOptions, Protocol, SctpAssociation,
    SctpEvents, SctpStart, SctpTimeouts, SocketType, Source4, Text, TypeOfService,
};

const fn row(name: &'static str, number: i32, kind: ValueKind, access: Access) -> SocketOption {
    SocketOption { name, known: Some((number, kind, access)) }
}

const fn absent(name: &'static str) -> SocketOption {
    SocketOption { name, known: None }
}

// Numbers that the crate libc does not have, from the system's linux/in.h, linux/in6.h and netinet/sctp.h.
const IP_ROUTER_ALERT: i32 = 5;
const IP_RECVOPTS: i32 = 6;
const IP_RETOPTS: i32 = 7;
const IP_PKTOPTIONS: i32 = 9;
const IP_MTU: i32 = 14;
const IP_NODEFRAG: i32 = 22;
const IP_MSFILTER: i32 = 41;
const IP_MULTICAST_ALL: i32 = 49;
const IPV6_AUTHHDR: i32 = 10;
const IPV6_FLOWINFO: i32 = 11;
const SCTP_RTOINFO: i32 = 0;
const SCTP_ASSOCINFO: i32 = 1;
const SCTP_INITMSG: i32 = 2;
const SCTP_NODELAY: i32 = 3;
const SCTP_AUTOCLOSE: i32 = 4;
const SCTP_DISABLE_FRAGMENTS: i32 = 8;
const SCTP_EVENTS: i32 = 11;
const SCTP_MAXSEG: i32 = 13;
const UDP_CORK: i32 = 1;

/// Room for the name of a network interface, without and with a zero more.
const DEVICE: ValueKind = Text { max_bytes: libc::IFNAMSIZ, keeps_zero: true };
/// Longest name of an algorithm of congestion control, and a zero.
const CONGESTION: ValueKind = Text { max_bytes: 257, keeps_zero: false };

const SOCKET: &[SocketOption] = &[
    row("acceptconn", libc::SO_ACCEPTCONN, Bool, Both),
    absent("acceptfilter"),
    row("bindtodevice", libc::SO_BINDTODEVICE, DEVICE, Both),
    row("broadcast", libc::SO_BROADCAST, Bool, Both),
    absent("bsp_state"),
    absent("busy_poll"),
    row("debug", libc::SO_DEBUG, Int, Both),
    row("domain", libc::SO_DOMAIN, Domain, Get),
    row("dontroute", libc::SO_DONTROUTE, Bool, Both),
    absent("error"),
    absent("exclusiveaddruse"),
    row("keepalive", libc::SO_KEEPALIVE, Bool, Both),
    row("linger", libc::SO_LINGER, Linger, Both),
    absent("mark"),
    absent("maxdg"),
    absent("max_msg_size"),
    row("oobinline", libc::SO_OOBINLINE, Bool, Both),
    row("passcred", libc::SO_PASSCRED, Bool, Both),
    row("peek_off", libc::SO_PEEK_OFF, Int, Both),
    absent("peercred"),
    row("priority", libc::SO_PRIORITY, Int, Both),
    row("protocol", libc::SO_PROTOCOL, Protocol, Get),
    row("rcvbuf", libc::SO_RCVBUF, Int, Both),
    absent("rcvbufforce"),
    row("rcvlowat", libc::SO_RCVLOWAT, Int, Both),
    absent("rcvtimeo"),
    row("reuseaddr", libc::SO_REUSEADDR, Bool, Both),
    row("reuseport", libc::SO_REUSEPORT, Bool, Both),
    absent("rxq_ovfl"),
    absent("setfib"),
    row("sndbuf", libc::SO_SNDBUF, Int, Both),
    absent("sndbufforce"),
    row("sndlowat", libc::SO_SNDLOWAT, Int, Both),
    absent("sndtimeo"),
    row("timestamp", libc::SO_TIMESTAMP, Bool, Both),
    row("type", libc::SO_TYPE, SocketType, Get),
];

const IP: &[SocketOption] = &[
    row("add_membership", libc::IP_ADD_MEMBERSHIP, Membership4, Set),
    row("add_source_membership", libc::IP_ADD_SOURCE_MEMBERSHIP, Source4, Set),
    row("block_source", libc::IP_BLOCK_SOURCE, Source4, Set),
    absent("dontfrag"),
    row("drop_membership", libc::IP_DROP_MEMBERSHIP, Membership4, Set),
    row("drop_source_membership", libc::IP_DROP_SOURCE_MEMBERSHIP, Source4, Set),
    row("freebind", libc::IP_FREEBIND, Bool, Both),
    row("hdrincl", libc::IP_HDRINCL, Bool, Both),
    row("minttl", libc::IP_MINTTL, Int, Both),
    row("msfilter", IP_MSFILTER, Filter4, Set),
    row("mtu", IP_MTU, Int, Get),
    row("mtu_discover", libc::IP_MTU_DISCOVER, MtuDiscover, Both),
    row("multicast_all", IP_MULTICAST_ALL, Bool, Both),
    row("multicast_if", libc::IP_MULTICAST_IF, Interface4, Both),
    row("multicast_loop", libc::IP_MULTICAST_LOOP, Bool, Both),
    row("multicast_ttl", libc::IP_MULTICAST_TTL, Int, Both),
    row("nodefrag", IP_NODEFRAG, Bool, Both),
    absent("options"),
    row("pktinfo", libc::IP_PKTINFO, Bool, Both),
    row("pktoptions", IP_PKTOPTIONS, PacketOptions, Get),
    absent("recvdstaddr"),
    row("recverr", libc::IP_RECVERR, Bool, Both),
    absent("recvif"),
    row("recvopts", IP_RECVOPTS, Bool, Both),
    row("recvorigdstaddr", libc::IP_RECVORIGDSTADDR, Bool, Both),
    row("recvtos", libc::IP_RECVTOS, Bool, Both),
    row("recvttl", libc::IP_RECVTTL, Bool, Both),
    row("retopts", IP_RETOPTS, Bool, Both),
    row("router_alert", IP_ROUTER_ALERT, Int, Both),
    absent("sendsrcaddr"),
    row("tos", libc::IP_TOS, TypeOfService, Both),
    row("transparent", libc::IP_TRANSPARENT, Bool, Both),
    row("ttl", libc::IP_TTL, Int, Both),
    row("unblock_source", libc::IP_UNBLOCK_SOURCE, Source4, Set),
];

const IPV6: &[SocketOption] = &[
    row("addrform", libc::IPV6_ADDRFORM, Domain, Set),
    row("add_membership", libc::IPV6_ADD_MEMBERSHIP, Membership6, Set),
    row("authhdr", IPV6_AUTHHDR, Bool, Both),
    absent("auth_level"),
    absent("checksum"),
    row("drop_membership", libc::IPV6_DROP_MEMBERSHIP, Membership6, Set),
    row("dstopts", libc::IPV6_DSTOPTS, Bool, Both),
    absent("esp_network_level"),
    absent("esp_trans_level"),
    absent("faith"),
    row("flowinfo", IPV6_FLOWINFO, Bool, Both),
    row("hoplimit", libc::IPV6_HOPLIMIT, Bool, Both),
    row("hopopts", libc::IPV6_HOPOPTS, Bool, Both),
    absent("ipcomp_level"),
    absent("join_group"),
    absent("leave_group"),
    row("mtu", libc::IPV6_MTU, Int, Both),
    row("mtu_discover", libc::IPV6_MTU_DISCOVER, MtuDiscover, Both),
    row("multicast_hops", libc::IPV6_MULTICAST_HOPS, Hops, Both),
    row("multicast_if", libc::IPV6_MULTICAST_IF, Int, Both),
    row("multicast_loop", libc::IPV6_MULTICAST_LOOP, Bool, Both),
    absent("pktoptions"),
    absent("portrange"),
    row("recverr", libc::IPV6_RECVERR, Bool, Both),
    row("recvhoplimit", libc::IPV6_RECVHOPLIMIT, Bool, Both),
    row("recvpktinfo", libc::IPV6_RECVPKTINFO, Bool, Both),
    row("recvtclass", libc::IPV6_RECVTCLASS, Bool, Both),
    row("router_alert", libc::IPV6_ROUTER_ALERT, Int, Both),
    row("rthdr", libc::IPV6_RTHDR, Bool, Both),
    row("tclass", libc::IPV6_TCLASS, Int, Both),
    row("unicast_hops", libc::IPV6_UNICAST_HOPS, Hops, Both),
    absent("use_min_mtu"),
    row("v6only", libc::IPV6_V6ONLY, Bool, Both),
];

const SCTP: &[SocketOption] = &[
    absent("adaption_layer"),
    row("associnfo", SCTP_ASSOCINFO, SctpAssociation, Both),
    absent("auth_active_key"),
    absent("auth_chunk"),
    absent("auth_delete_key"),
    absent("auth_key"),
    row("autoclose", SCTP_AUTOCLOSE, Int, Both),
    absent("context"),
    absent("default_send_params"),
    absent("delayed_ack_time"),
    row("disable_fragments", SCTP_DISABLE_FRAGMENTS, Bool, Both),
    absent("hmac_ident"),
    row("events", SCTP_EVENTS, SctpEvents, Set),
    absent("explicit_eor"),
    absent("fragment_interleave"),
    absent("get_peer_addr_info"),
    row("initmsg", SCTP_INITMSG, SctpStart, Both),
    absent("i_want_mapped_v4_addr"),
    absent("local_auth_chunks"),
    row("maxseg", SCTP_MAXSEG, Int, Both),
    absent("maxburst"),
    row("nodelay", SCTP_NODELAY, Bool, Both),
    absent("partial_delivery_point"),
    absent("peer_addr_params"),
    absent("peer_auth_chunks"),
    absent("primary_addr"),
    absent("reset_streams"),
    row("rtoinfo", SCTP_RTOINFO, SctpTimeouts, Both),
    absent("set_peer_primary_addr"),
    absent("status"),
    absent("use_ext_recvinfo"),
];

const TCP: &[SocketOption] = &[
    row("congestion", libc::TCP_CONGESTION, CONGESTION, Both),
    row("cork", libc::TCP_CORK, Bool, Both),
    absent("info"),
    row("keepcnt", libc::TCP_KEEPCNT, Int, Both),
    row("keepidle", libc::TCP_KEEPIDLE, Int, Both),
    row("keepintvl", libc::TCP_KEEPINTVL, Int, Both),
    row("maxseg", libc::TCP_MAXSEG, Int, Both),
    absent("md5sig"),
    row("nodelay", libc::TCP_NODELAY, Bool, Both),
    absent("noopt"),
    absent("nopush"),
    absent("syncnt"),
    absent("user_timeout"),
];

const UDP: &[SocketOption] = &[row("cork", UDP_CORK, Bool, Both)];

pub const LEVELS: &[Level] = &[
    Level { number: SOL_SOCKET, options: SOCKET },
    Level { number: IPPROTO_IP, options: IP },
    Level { number: IPPROTO_IPV6, options: IPV6 },
    Level { number: IPPROTO_SCTP, options: SCTP },
    Level { number: IPPROTO_UDP, options: UDP },
    Level { number: IPPROTO_TCP, options: TCP },
];

/// The row of an option that is there.
pub fn find(level: i32, number: i32) -> Option<(ValueKind, Access)> {
    let level = LEVELS.iter().find(|row| row.number == level)?;
    let (_, kind, access) = level.options.iter().filter_map(|row| row.known).find(|known| known.0 == number)?;
    Some((kind, access))
}
