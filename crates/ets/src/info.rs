//! `ets:info/1,2` and `ets:all/0`.

use super::access::{self, Right};
use super::hash_store::HashStore;
use super::object::Object;
use super::registry;
use super::table::{Store, Table};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{proctab, refs, send};
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "info"/1 => info_1,
        "info"/2 => info_2,
        "internal_request_all"/0 => request_all,
    }
}

/// The items of `info/1`, in its order.
const ITEMS: &[&str] = &[
    "id",
    "decentralized_counters",
    "read_concurrency",
    "write_concurrency",
    "compressed",
    "memory",
    "owner",
    "heir",
    "name",
    "size",
    "node",
    "named_table",
    "type",
    "keypos",
    "protection",
];

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

fn item(p: &mut Process, table: &Table, name: &str) -> Option<Term> {
    Some(match name {
        "id" => table.reference(&mut p.heap),
        "decentralized_counters" => Term::bool(table.decentralized),
        "read_concurrency" => Term::bool(table.read_concurrency),
        "write_concurrency" => match table.locks {
            Some(n) => {
                let parts = [atom("debug_hash_fixed_number_of_locks"), Term::small(n as i64)];
                p.heap.tuple(&parts)
            }
            None => table.write_concurrency.into(),
        },
        "compressed" => Term::bool(table.compressed),
        "memory" => Term::small(table.words() as i64),
        "owner" => Term::local_pid(table.owner()),
        "heir" => {
            let heir = super::owner::heir(table).as_ref().map(|h| h.pid);
            // An heir that has ended inherits nothing.
            heir.filter(|&pid| proctab::lookup(pid).is_some_and(|q| !q.state.load().is_exiting())).map_or(atom("none"), Term::local_pid)
        }
        "name" => table.name().into(),
        "size" => Term::small(table.size() as i64),
        "node" => heddle_term::node::name().into(),
        "named_table" => Term::bool(table.named),
        "type" => atom(table.kind.name()),
        "keypos" => Term::small(table.key_index as i64 + 1),
        "protection" => atom(table.protection().name()),
        "fixed" => Term::bool(table.is_fixed()),
        "safe_fixed" => safe_fixed(p, table, false),
        "safe_fixed_monotonic_time" => safe_fixed(p, table, true),
        "stats" => match &table.store {
            Store::Hash(store) => stats(p, store),
            // Routes between pieces, pieces, and steps from one to the other.
            Store::Tree(store) => match store.pieces() {
                Some((pieces, steps)) => {
                    let figures = [pieces - 1, pieces, steps].map(|n| Term::small(n as i64));
                    p.heap.tuple(&figures)
                }
                None => Term::bool(false),
            },
        },
        "binary" => binaries(p, |f| table.for_each(f)),
        _ => return None,
    })
}

/// `{Address, Bytes, References}` of every binary that the objects refer to.
pub fn binaries(p: &mut Process, each: impl FnOnce(&mut dyn FnMut(&Object))) -> Term {
    let mut found = Vec::new();
    each(&mut |object| object.binaries(|address, bytes, references| found.push([address, bytes, references])));
    let mut list = Term::NIL;
    for figures in found {
        let figures = figures.map(|n| p.heap.unsigned(n as u64));
        let entry = p.heap.tuple(&figures);
        list = p.heap.cons(entry, list);
    }
    list
}

fn safe_fixed(p: &mut Process, table: &Table, monotonic: bool) -> Term {
    let fixations = table.fixations();
    if fixations.by.is_empty() {
        return Term::bool(false);
    }
    let by: Vec<Term> = fixations.by.iter().map(|&(pid, n)| p.heap.tuple(&[Term::local_pid(pid), Term::small(n as i64)])).collect();
    let by = p.heap.list(&by);
    let since = if monotonic {
        p.heap.integer(fixations.since_monotonic_ns)
    } else {
        let us = fixations.since_system_us;
        let parts = [us / 1_000_000_000_000, us / 1_000_000 % 1_000_000, us % 1_000_000].map(Term::small);
        p.heap.tuple(&parts)
    };
    p.heap.tuple(&[since, by])
}

/// Chains, their average length, its deviation and the expected one, the shortest and longest, deleted objects that are kept, locks.
fn stats(p: &mut Process, store: &HashStore) -> Term {
    let mut lengths = store.chain_lengths();
    if lengths.is_empty() {
        lengths.push(0);
    }
    let n = lengths.len() as f64;
    let average = lengths.iter().sum::<usize>() as f64 / n;
    let variance = lengths.iter().map(|&l| (l as f64 - average).powi(2)).sum::<f64>() / n;
    let expected = (average * (1.0 - 1.0 / n)).max(0.0).sqrt();
    let (shortest, longest) = (lengths.iter().min().copied().unwrap_or(0), lengths.iter().max().copied().unwrap_or(0));
    let items = [
        Term::small(lengths.len() as i64),
        p.heap.float(average),
        p.heap.float(variance.sqrt()),
        p.heap.float(expected),
        Term::small(shortest as i64),
        Term::small(longest as i64),
        Term::small(store.kept() as i64),
        Term::small(store.shards() as i64),
    ];
    p.heap.tuple(&items)
}

/// The table, or None if the answer is `undefined`.
fn asked<'a>(p: &mut Process, term: &'a Term) -> Result<Option<&'a Table>, heddle_runtime::Thrown> {
    if !term.is_atom() && !term.is_reference() {
        return Err(access::cause(p, "type"));
    }
    match access::find(term) {
        Some(_) => access::table(p, term, Right::Info).map(Some),
        None if access::is_id(*term) => Ok(None),
        None => Err(access::cause(p, "type")),
    }
}

fn info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(table) = asked(p, &a[0])? else { return Ok(am::UNDEFINED.into()) };
    let mut pairs = Vec::with_capacity(ITEMS.len());
    for name in ITEMS {
        let value = item(p, table, name).unwrap_or(am::UNDEFINED.into());
        pairs.push(p.heap.tuple(&[atom(name), value]));
    }
    Ok(p.heap.list(&pairs))
}

fn info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(table) = asked(p, &a[0])? else { return Ok(am::UNDEFINED.into()) };
    let Some(name) = a[1].as_atom() else { return Err(p.badarg()) };
    item(p, table, name.name()).ok_or_else(|| p.badarg())
}

/// `ets:all/0` waits for one answer per scheduler. The first answer has all tables, the others are empty.
fn request_all(p: &mut Process, _: &[Term]) -> NativeResult {
    let reference = refs::fresh();
    let answers = schedulers().max(1);
    for n in 0..answers {
        send::build_message(p.pid(), |heap| {
            let tables: Vec<Term> =
                if n == 0 { registry::all().iter().filter(|t| t.is_alive()).map(|t| t.public_id(heap)).collect() } else { Vec::new() };
            let list = heap.list(&tables);
            let reference = heap.reference(reference.words());
            heap.tuple(&[reference, list])
        });
    }
    Ok(p.heap.reference(reference.words()))
}

fn schedulers() -> usize {
    heddle_runtime::sched::options().schedulers
}
