//! Values of options: as terms, and as the system has them.

use super::address::{self, name_of, number_of};
use super::answer::{atom, field, int, map_of, unsigned};
use super::control::{self, named_or_number};
use super::option_table::ValueKind;
use heddle_natives::args;
use heddle_term::{Heap, Term, list};

pub const TYPES_OF_SERVICE: &[(&str, i32)] = &[
    ("lowdelay", libc::IPTOS_LOWDELAY as i32),
    ("throughput", libc::IPTOS_THROUGHPUT as i32),
    ("reliability", libc::IPTOS_RELIABILITY as i32),
    ("mincost", libc::IPTOS_MINCOST as i32),
];
/// IP_PMTUDISC_ in the system's linux/in.h. IPv6 has the same numbers.
const MTU_DISCOVERY: &[(&str, i32)] = &[("dont", 0), ("want", 1), ("do", 2), ("probe", 3)];
/// MCAST_ in the system's linux/in.h.
const FILTER_MODES: &[(&str, i32)] = &[("exclude", 0), ("include", 1)];
/// Events of SCTP, in the order of the bytes of `struct sctp_event_subscribe`.
const SCTP_EVENTS: [&str; 10] = [
    "data_io",
    "association",
    "address",
    "send_failure",
    "peer_error",
    "shutdown",
    "partial_delivery",
    "adaptation_layer",
    "authentication",
    "sender_dry",
];

/// A type of service: a name or a number.
pub fn type_of_service(term: Term) -> Option<i32> {
    named_or_number(TYPES_OF_SERVICE, term)
}

/// Returns the bytes that the system call `setsockopt` gets for the value of an option of this kind, or None if the value is wrong for it.
pub fn encode(kind: ValueKind, value: Term) -> Option<Vec<u8>> {
    let number = |n: i32| Some(n.to_ne_bytes().to_vec());
    match kind {
        ValueKind::Bool => number(args::boolean(value)?.into()),
        ValueKind::Int => number(int(value)?),
        ValueKind::Text { max_bytes, .. } => text(value, max_bytes),
        ValueKind::Linger => linger(value),
        ValueKind::Domain => number(address::domain(value)?.number()),
        ValueKind::TypeOfService => number(type_of_service(value)?),
        ValueKind::MtuDiscover => number(named_or_number(MTU_DISCOVERY, value)?),
        ValueKind::Interface4 => Some(address::v4(value)?.to_vec()),
        ValueKind::Hops => match int(value) {
            Some(hops) => number(Some(hops).filter(|hops| (0..=255).contains(hops))?),
            None => number(if value == atom("default") { -1 } else { return None }),
        },
        ValueKind::Membership4 => Some([address4(value, "multiaddr")?, address4(value, "interface")?].concat()),
        ValueKind::Source4 => Some([address4(value, "multiaddr")?, address4(value, "interface")?, address4(value, "sourceaddr")?].concat()),
        ValueKind::Membership6 => {
            let (group, interface) = (address::v6(field(value, "multiaddr")?)?, unsigned(field(value, "interface")?)?);
            Some([&group[..], &interface.to_ne_bytes()].concat())
        }
        ValueKind::Filter4 => filter(value),
        ValueKind::SctpAssociation => {
            let (association, retries) = (int(field(value, "assoc_id")?)?, short(value, "asocmaxrxt")?);
            let destinations = short(value, "number_peer_destinations")?;
            let windows = ["peer_rwnd", "local_rwnd", "cookie_life"].map(|name| word(value, name));
            let mut out = [&association.to_ne_bytes()[..], &retries, &destinations].concat();
            windows.into_iter().try_for_each(|window| window.map(|window| out.extend(window)))?;
            Some(out)
        }
        ValueKind::SctpEvents => SCTP_EVENTS.iter().map(|name| Some(args::boolean(field(value, name)?)?.into())).collect(),
        ValueKind::SctpStart => {
            let names = ["num_outstreams", "max_instreams", "max_attempts", "max_init_timeo"];
            Some(names.into_iter().map(|name| short(value, name)).collect::<Option<Vec<_>>>()?.concat())
        }
        ValueKind::SctpTimeouts => {
            let association = int(field(value, "assoc_id")?)?;
            let times = ["initial", "max", "min"].into_iter().map(|name| word(value, name)).collect::<Option<Vec<_>>>()?;
            Some([&association.to_ne_bytes()[..], &times.concat()].concat())
        }
        ValueKind::SocketType | ValueKind::Protocol | ValueKind::PacketOptions => None,
    }
}

fn address4(value: Term, name: &str) -> Option<[u8; 4]> {
    address::v4(field(value, name)?)
}

/// A number of which 16 bits count, as in stock.
fn short(value: Term, name: &str) -> Option<[u8; 2]> {
    Some((unsigned(field(value, name)?)? as u16).to_ne_bytes())
}

fn word(value: Term, name: &str) -> Option<[u8; 4]> {
    Some(unsigned(field(value, name)?)?.to_ne_bytes())
}

/// A string or binary, without the zero at its end.
fn text(value: Term, max_bytes: usize) -> Option<Vec<u8>> {
    if let Some(text) = list::latin1_bytes(value) {
        return Some(text).filter(|text| text.len() < max_bytes);
    }
    let mut text = args::binary(value)?;
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    text.truncate(end.min(max_bytes - 1));
    Some(text)
}

fn linger(value: Term) -> Option<Vec<u8>> {
    let (on, seconds) = match (field(value, "onoff"), field(value, "linger")) {
        (Some(on), Some(seconds)) => (args::boolean(on)?, int(seconds).filter(|&seconds| seconds >= 0)?),
        _ if value == atom("abort") => (true, 0),
        _ => return None,
    };
    Some([i32::from(on).to_ne_bytes(), seconds.to_ne_bytes()].concat())
}

/// `struct ip_msfilter`
fn filter(value: Term) -> Option<Vec<u8>> {
    if value == atom("null") {
        return Some(Vec::new());
    }
    let mode = number_of(FILTER_MODES, field(value, "mode")?)?;
    let sources = args::list(field(value, "slist")?)?;
    let mut out = [address4(value, "multiaddr")?, address4(value, "interface")?, mode.to_ne_bytes()].concat();
    out.extend(u32::try_from(sources.len()).ok()?.to_ne_bytes());
    sources.into_iter().try_for_each(|source| address::v4(source).map(|source| out.extend(source)))?;
    Some(out)
}

/// Bytes that `getopt` has room for.
pub fn room_bytes(kind: ValueKind, control_bytes: usize) -> usize {
    match kind {
        // A zero more than may be set, where zeros are shown.
        ValueKind::Text { max_bytes, keeps_zero } => max_bytes + usize::from(keeps_zero),
        ValueKind::Linger | ValueKind::SctpStart => 8,
        ValueKind::SctpAssociation => 20,
        ValueKind::SctpTimeouts => 16,
        ValueKind::PacketOptions => control_bytes,
        _ => 4,
    }
}

/// The term of what the system returned in that room.
pub fn decode(heap: &mut Heap, kind: ValueKind, domain: i32, value: &[u8]) -> Option<Term> {
    let number = || Some(i32::from_ne_bytes(value.get(..4)?.try_into().ok()?));
    let words = |n: usize| Some(u32::from_ne_bytes(value.get(4 * n..4 * n + 4)?.try_into().ok()?).into());
    let shorts = |n: usize| Some(u16::from_ne_bytes(value.get(2 * n..2 * n + 2)?.try_into().ok()?).into());
    Some(match kind {
        ValueKind::Bool => Term::bool(number()? != 0),
        ValueKind::Int | ValueKind::Hops => Term::small(number()?.into()),
        ValueKind::Text { keeps_zero, .. } => {
            let value = if keeps_zero { value } else { value.strip_suffix(&[0]).unwrap_or(value) };
            heap.byte_list(value)
        }
        ValueKind::Linger => map_of(heap, &[("onoff", Term::bool(number()? != 0)), ("linger", Term::small(words(1)?))]),
        ValueKind::Domain => address::domain_term(number()?),
        ValueKind::SocketType => address::kind_term(number()?),
        ValueKind::Protocol => match number()? {
            0 if domain == libc::AF_UNIX => atom("default"),
            number => Term::small(number.into()),
        },
        ValueKind::TypeOfService => control::type_of_service_term(number()?),
        ValueKind::MtuDiscover => name_of(MTU_DISCOVERY, number()?).map_or(Term::small(number()?.into()), atom),
        ValueKind::Interface4 => address::v4_term(heap, value.get(..4)?.try_into().ok()?),
        ValueKind::PacketOptions => control::decode(heap, value),
        ValueKind::SctpAssociation => map_of(
            heap,
            &[
                ("assoc_id", Term::small(number()?.into())),
                ("asocmaxrxt", Term::small(shorts(2)?)),
                ("number_peer_destinations", Term::small(shorts(3)?)),
                ("peer_rwnd", Term::small(words(2)?)),
                ("local_rwnd", Term::small(words(3)?)),
                ("cookie_life", Term::small(words(4)?)),
            ],
        ),
        ValueKind::SctpStart => map_of(
            heap,
            &[
                ("num_outstreams", Term::small(shorts(0)?)),
                ("max_instreams", Term::small(shorts(1)?)),
                ("max_attempts", Term::small(shorts(2)?)),
                ("max_init_timeo", Term::small(shorts(3)?)),
            ],
        ),
        ValueKind::SctpTimeouts => map_of(
            heap,
            &[
                ("assoc_id", Term::small(number()?.into())),
                ("initial", Term::small(words(1)?)),
                ("max", Term::small(words(2)?)),
                ("min", Term::small(words(3)?)),
            ],
        ),
        ValueKind::Membership4 | ValueKind::Membership6 | ValueKind::Source4 | ValueKind::Filter4 | ValueKind::SctpEvents => return None,
    })
}
