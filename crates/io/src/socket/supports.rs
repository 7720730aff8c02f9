//! What the system supports: protocols, options, flags of messages, and requests and flags of `ioctl`. `prim_socket` reads these tables at
//! the boot.

use super::answer::atom;
use super::{ioctl_table, option_table};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Heap, Term};

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_supports"/0 => supports,
        "nif_supports"/1 => supports_of,
    }
}

/// Flags of messages, in the order in which stock lists those of a message that came.
pub const MESSAGE_FLAGS: &[(&str, i32)] = &[
    ("cmsg_cloexec", libc::MSG_CMSG_CLOEXEC),
    ("confirm", libc::MSG_CONFIRM),
    ("ctrunc", libc::MSG_CTRUNC),
    ("dontroute", libc::MSG_DONTROUTE),
    ("eor", libc::MSG_EOR),
    ("errqueue", libc::MSG_ERRQUEUE),
    ("more", libc::MSG_MORE),
    ("nosignal", libc::MSG_NOSIGNAL),
    ("oob", libc::MSG_OOB),
    ("peek", libc::MSG_PEEK),
    ("trunc", libc::MSG_TRUNC),
];

/// Protocols that are there whatever the system's table says.
const PROTOCOLS: &[(&str, i32)] = &[
    ("ip", libc::IPPROTO_IP),
    ("ipv6", libc::IPPROTO_IPV6),
    ("tcp", libc::IPPROTO_TCP),
    ("udp", libc::IPPROTO_UDP),
    ("sctp", libc::IPPROTO_SCTP),
    ("igmp", libc::IPPROTO_IGMP),
];

/// `socket`, or the number of a protocol.
pub fn level_term(number: i32) -> Term {
    if number == libc::SOL_SOCKET { atom("socket") } else { Term::small(number.into()) }
}

fn supports(p: &mut Process, _: &[Term]) -> NativeResult {
    let all = ["sctp", "ipv6", "local", "netns", "sendfile"].map(|name| p.heap.tuple(&[atom(name), Term::bool(true)]));
    Ok(p.heap.list(&all))
}

fn supports_of(p: &mut Process, a: &[Term]) -> NativeResult {
    let heap = &mut p.heap;
    let rows = match a[0].as_atom().map(|name| name.name()) {
        Some("msg_flags") => pairs(heap, MESSAGE_FLAGS),
        Some("protocols") => protocols(heap),
        Some("ioctl_requests") => ioctl_table::REQUESTS.iter().map(|row| pair(heap, atom(row.name), row.number as i64)).collect(),
        Some("ioctl_flags") => pairs(heap, ioctl_table::FLAGS),
        Some("options") => options(heap),
        _ => Vec::new(),
    };
    Ok(p.heap.list(&rows))
}

fn pair(heap: &mut Heap, name: Term, number: i64) -> Term {
    heap.tuple(&[name, Term::small(number)])
}

fn pairs(heap: &mut Heap, table: &[(&str, i32)]) -> Vec<Term> {
    table.iter().map(|&(name, number)| pair(heap, atom(name), number.into())).collect()
}

/// `{Names, Number}`, names of one protocol and its aliases. The last of several with one name counts.
fn protocols(heap: &mut Heap) -> Vec<Term> {
    let rows = PROTOCOLS.iter().rev().map(|&(name, number)| (vec![name.to_owned()], number));
    let rows = rows.chain(database().into_iter().rev());
    rows.map(|(names, number)| {
        let names: Vec<Term> = names.iter().map(|name| atom(name)).collect();
        let names = heap.list(&names);
        pair(heap, names, number.into())
    })
    .collect()
}

/// The system's table of protocols: names and number of each. Stock lists aliases from the last to the first.
fn database() -> Vec<(Vec<String>, i32)> {
    let text = std::fs::read_to_string("/etc/protocols").unwrap_or_default();
    text.lines().filter_map(parse_protocol).collect()
}

fn parse_protocol(line: &str) -> Option<(Vec<String>, i32)> {
    let mut words = line.split('#').next()?.split_ascii_whitespace();
    let (name, number) = (words.next()?, words.next()?.parse().ok()?);
    let mut names: Vec<String> = words.rev().map(str::to_owned).collect();
    names.insert(0, name.to_owned());
    // No name of an atom is longer than 255 characters.
    names.retain(|name| name.chars().count() <= 255);
    Some((names, number))
}

/// `{Level, [{Name, Number} | Name]}`: names alone are options that are not there.
fn options(heap: &mut Heap) -> Vec<Term> {
    let mut levels = Vec::new();
    for level in option_table::LEVELS {
        let options: Vec<Term> = level
            .options
            .iter()
            .map(|row| match row.known {
                Some((number, ..)) => pair(heap, atom(row.name), number.into()),
                None => atom(row.name),
            })
            .collect();
        let options = heap.list(&options);
        levels.push(heap.tuple(&[level_term(level.number), options]));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::parse_protocol;

    #[test]
    fn a_row_of_the_table_of_protocols_has_a_name_a_number_and_aliases() {
        assert_eq!(parse_protocol("rspf\t73\tRSPF CPHB\t# Radio"), Some((vec!["rspf".into(), "CPHB".into(), "RSPF".into()], 73)));
        assert_eq!(parse_protocol("# comment"), None);
        assert_eq!(parse_protocol("name x"), None);
        assert_eq!(parse_protocol(""), None);
    }
}
