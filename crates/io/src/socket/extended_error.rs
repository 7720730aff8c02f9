//! What the system's queue of errors says of a packet that did not arrive (`struct sock_extended_err`, the control message `recverr`).

use super::address::{self, name_of};
use super::answer::{atom, map_of};
use heddle_term::{Heap, Term};

/// Where an error comes from (SO_EE_ORIGIN_ in the system's linux/errqueue.h).
const ORIGINS: &[(&str, i32)] =
    &[("none", 0), ("local", 1), ("icmp", ICMP), ("icmp6", ICMP6), ("txstatus", 4), ("zerocopy", 5), ("txtime", 6)];
const ICMP: i32 = 2;
const ICMP6: i32 = 3;

const UNREACHABLE: i32 = 3;
const UNREACHABLE6: i32 = 1;
/// Types and codes of ICMP (linux/icmp.h, linux/icmpv6.h).
const TYPES: &[(&str, i32)] = &[("dest_unreach", UNREACHABLE), ("time_exceeded", 11)];
const CODES: &[(&str, i32)] =
    &[("net_unreach", 0), ("host_unreach", 1), ("port_unreach", 3), ("frag_needed", 4), ("net_unknown", 6), ("host_unknown", 7)];
const TYPES6: &[(&str, i32)] = &[("dest_unreach", UNREACHABLE6), ("pkt_toobig", 2), ("time_exceeded", 3)];
const CODES6: &[(&str, i32)] = &[
    ("noroute", 0),
    ("adm_prohibited", 1),
    ("not_neighbour", 2),
    ("addr_unreach", 3),
    ("port_unreach", 4),
    ("policy_fail", 5),
    ("reject_route", 6),
];

/// Bytes before the address of what sent the error.
const HEADER_BYTES: usize = 16;

/// `#{error, origin, type, code, info, data, offender}`; None if that is too short.
pub fn decode(heap: &mut Heap, data: &[u8]) -> Option<Term> {
    let (header, offender) = data.split_at_checked(HEADER_BYTES)?;
    let word = |at: usize| i32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (origin, kind, code) = (header[4].into(), header[5].into(), header[6].into());
    let name = |table, number: i32| name_of(table, number).map_or(Term::small(number.into()), atom);
    let (types, codes) = match origin {
        ICMP => (TYPES, if kind == UNREACHABLE { CODES } else { &[][..] }),
        ICMP6 => (TYPES6, if kind == UNREACHABLE6 { CODES6 } else { &[][..] }),
        _ => (&[][..], &[][..]),
    };
    let mut fields = vec![
        ("error", atom(crate::errno::name(word(0)))),
        ("origin", name(ORIGINS, origin)),
        ("type", name(types, kind)),
        ("code", name(codes, code)),
        ("info", Term::small(word(8).into())),
        ("data", Term::small(word(12).into())),
    ];
    if !offender.is_empty() {
        fields.push(("offender", address::encode(heap, offender)));
    }
    Some(map_of(heap, &fields))
}
