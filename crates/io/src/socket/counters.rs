//! Figures of a socket, and of all sockets.

use super::answer::map_of;
use heddle_term::{Heap, Term};
use std::sync::Mutex;

/// A figure, which begins again at 0 after its largest value.
#[derive(Default, Clone, Copy)]
pub struct Counter(pub u64);

impl Counter {
    /// Returns true if it began again.
    #[must_use]
    pub fn add(&mut self, n: u64) -> bool {
        let (sum, is_over) = self.0.overflowing_add(n);
        self.0 = sum;
        is_over
    }
}

/// What was transferred in one direction. A package is what one operation transferred, and its size is in bytes.
#[derive(Default)]
pub struct Traffic {
    pub bytes: Counter,
    pub fails: Counter,
    pub packages: Counter,
    pub largest: u64,
    /// Bytes of the package that is not whole yet.
    pub begun: u64,
    pub tries: Counter,
    pub waits: Counter,
}

impl Traffic {
    /// A package is whole.
    pub fn whole(&mut self, bytes: u64) {
        self.begun += bytes;
        self.largest = self.largest.max(std::mem::take(&mut self.begun));
    }
}

#[derive(Default)]
pub struct Accepts {
    pub success: Counter,
    pub fails: Counter,
    pub tries: Counter,
    pub waits: Counter,
}

#[derive(Default)]
pub struct SendfileFigures {
    pub calls: u64,
    pub bytes: u64,
    pub fails: u64,
    pub largest: u64,
    pub begun: u64,
    pub packages: u64,
    pub largest_package: u64,
    pub tries: u64,
    pub waits: u64,
}

/// Sockets that are open, by sort.
#[derive(Default)]
struct Open {
    all: u64,
    by_domain: [u64; DOMAINS.len()],
    by_type: [u64; TYPES.len()],
    by_protocol: [u64; PROTOCOLS.len()],
}

const DOMAINS: [(&str, i32); 3] = [("num_dlocal", libc::AF_UNIX), ("num_dinet", libc::AF_INET), ("num_dinet6", libc::AF_INET6)];
const TYPES: [(&str, i32); 3] =
    [("num_tdgrams", libc::SOCK_DGRAM), ("num_tstreams", libc::SOCK_STREAM), ("num_tseqpkgs", libc::SOCK_SEQPACKET)];
const PROTOCOLS: [(&str, i32); 4] =
    [("num_pip", libc::IPPROTO_IP), ("num_ptcp", libc::IPPROTO_TCP), ("num_pudp", libc::IPPROTO_UDP), ("num_psctp", libc::IPPROTO_SCTP)];

static OPEN: Mutex<Open> =
    Mutex::new(Open { all: 0, by_domain: [0; DOMAINS.len()], by_type: [0; TYPES.len()], by_protocol: [0; PROTOCOLS.len()] });

/// Domain, type and protocol of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sort {
    pub domain: i32,
    pub kind: i32,
    pub protocol: i32,
}

/// Counts a socket that was opened (1) or closed (-1).
pub fn count(sort: Sort, change: i64) {
    let mut open = OPEN.lock().unwrap();
    let add = |figure: &mut u64| *figure = figure.saturating_add_signed(change);
    add(&mut open.all);
    let at = |table: &[(&str, i32)], number| table.iter().position(|row| row.1 == number);
    if let Some(i) = at(&DOMAINS, sort.domain) {
        add(&mut open.by_domain[i]);
    }
    if let Some(i) = at(&TYPES, sort.kind) {
        add(&mut open.by_type[i]);
    }
    if let Some(i) = at(&PROTOCOLS, sort.protocol) {
        add(&mut open.by_protocol[i]);
    }
}

/// The map of figures of all sockets.
pub fn all(heap: &mut Heap) -> Term {
    let open = OPEN.lock().unwrap();
    let mut rows = vec![("num_cnt_bits", u64::BITS.into()), ("num_sockets", open.all)];
    let mut add = |table: &[(&'static str, i32)], figures: &[u64]| {
        rows.extend(table.iter().zip(figures).map(|(row, &figure)| (row.0, figure)));
    };
    add(&DOMAINS, &open.by_domain);
    add(&TYPES, &open.by_type);
    add(&PROTOCOLS, &open.by_protocol);
    figures(heap, &rows)
}

pub fn figures(heap: &mut Heap, rows: &[(&str, u64)]) -> Term {
    let pairs: Vec<(&str, Term)> = rows.iter().map(|&(name, value)| (name, heap.unsigned(value))).collect();
    map_of(heap, &pairs)
}

#[cfg(test)]
mod tests {
    use super::Counter;

    #[test]
    fn a_counter_says_when_it_begins_again() {
        let mut counter = Counter(u64::MAX - 1);
        assert!(!counter.add(1));
        assert!(counter.add(3));
        assert_eq!(counter.0, 2);
    }
}
