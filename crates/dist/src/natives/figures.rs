//! `heddle_stats:nodes/0`.

use crate::connection::{Connection, Stage};
use crate::figures::Work;
use crate::table;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Heap, Term, am, map};
use std::sync::Arc;
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE: "heddle_stats" => { "nodes"/0 => nodes } }

/// A map per connection, by the names of the nodes.
fn nodes(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut connections: Vec<Arc<Connection>> = table::all().into_iter().filter_map(|node| node.connection()).collect();
    connections.sort_by_key(|connection| connection.id.node.name());
    let maps: Vec<Term> = connections.iter().map(|connection| of(&mut p.heap, connection)).collect();
    Ok(p.heap.list(&maps))
}

fn of(heap: &mut Heap, connection: &Connection) -> Term {
    let figures = &connection.figures;
    let (queued_bytes, large_bytes) = connection.queued();
    let numbers = [
        ("sent_messages", figures.sent_messages.load(Ordering::Relaxed)),
        ("sent_bytes", figures.sent_bytes.load(Ordering::Relaxed)),
        ("sent_packets", connection.sent.load(Ordering::Relaxed)),
        ("received_messages", figures.received_messages.load(Ordering::Relaxed)),
        ("received_bytes", figures.received_bytes.load(Ordering::Relaxed)),
        ("received_packets", connection.received.load(Ordering::Relaxed)),
        ("queued_bytes", queued_bytes as u64),
        ("large_bytes", large_bytes as u64),
        ("stalls", figures.stalls.load(Ordering::Relaxed)),
        ("encode_ns", figures.ns(Work::Encoding)),
        ("decode_ns", figures.ns(Work::Decoding)),
    ];
    let state = match connection.stage() {
        Stage::Pending => "pending",
        Stage::Up => "up",
        Stage::Ended => "ended",
    };
    let kind = if connection.is_visible() { "visible" } else { "hidden" };
    let carrier = connection.carrier_term().unwrap_or(am::UNDEFINED.into());
    let mut pairs: Vec<(Term, Term)> = numbers.iter().map(|&(name, n)| (Atom::new(name).into(), heap.unsigned(n))).collect();
    let about =
        [("node", connection.id.node.into()), ("state", Atom::new(state).into()), ("type", Atom::new(kind).into()), ("carrier", carrier)];
    pairs.extend(about.map(|(name, value)| (Atom::new(name).into(), value)));
    map::from_pairs(heap, &pairs)
}
