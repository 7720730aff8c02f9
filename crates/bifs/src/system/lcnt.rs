//! What OTP's `lcnt` asks of the VM (`erts_debug:lcnt_*`), from the figures of `heddle_runtime::locks`.
//!
//! A lock here is a class of locks as seen by one thread: its identity is the number of the scheduler that waited (0: a thread
//! that is not a scheduler), so that `lcnt:inspect(Name, [{combine, false}])` shows which waited. Counting begins with the first call here: before
//! that only waits are counted, which `heddle_stats:locks/0` shows, and a ratio of the two would say that each try was a collision.

use heddle_natives::args;
use heddle_runtime::locks::{self, CATEGORIES, CLASSES, Waited};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::sched;
use heddle_term::{Atom, Term, am};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erts_debug" => {
        "lcnt_clear"/0 => clear,
        "lcnt_collect"/0 => collect,
        "lcnt_control"/1 => setting,
        "lcnt_control"/2 => set,
    }
}

fn clear(_: &mut Process, _: &[Term]) -> NativeResult {
    locks::clear();
    Ok(am::OK.into())
}

fn seconds(p: &mut Process, ns: u64) -> [Term; 2] {
    [ns / 1_000_000_000, ns % 1_000_000_000].map(|n| p.heap.unsigned(n))
}

fn named(p: &mut Process, name: &str, value: Term) -> Term {
    p.heap.tuple(&[Atom::new(name).into(), value])
}

/// `[{duration, {Seconds, Ns}}, {locks, [{Name, Id, Type, [{{File, Line}, {Tries, Collisions, {Seconds, Ns, Waits}}, Histogram}]}]}]`
fn collect(p: &mut Process, _: &[Term]) -> NativeResult {
    let (ns, threads) = locks::counted();
    let mut list = Vec::new();
    for (class, row) in CLASSES.iter().enumerate().filter(|(_, row)| locks::is_counted(row.category)) {
        for (thread, waited) in threads.iter().enumerate() {
            // Threads that seldom take a lock are only shown if they waited.
            if thread < sched::count() || waited[class].count > 0 {
                let id = if thread + 1 == threads.len() { 0 } else { thread + 1 };
                list.push(lock(p, row, id, &waited[class]));
            }
        }
    }
    p.bump(list.len());
    let duration = seconds(p, ns);
    let duration = p.heap.tuple(&duration);
    let duration = named(p, "duration", duration);
    let list = p.heap.list(&list);
    let list = named(p, "locks", list);
    Ok(p.heap.list(&[duration, list]))
}

fn lock(p: &mut Process, row: &locks::Row, id: usize, waited: &Waited) -> Term {
    let place = p.heap.tuple(&[am::UNDEFINED.into(), Term::small(0)]);
    let [s, ns] = seconds(p, waited.ns);
    let count = p.heap.unsigned(waited.count);
    let time = p.heap.tuple(&[s, ns, count]);
    // A wait that had begun when the counting began is not among the tries.
    let tries = p.heap.unsigned(waited.tries.max(waited.count));
    let counts = p.heap.tuple(&[tries, count, time]);
    let durations = waited.durations.map(|n| p.heap.unsigned(n));
    let histogram = p.heap.tuple(&durations);
    let stats = p.heap.tuple(&[place, counts, histogram]);
    let stats = p.heap.list(&[stats]);
    p.heap.tuple(&[Atom::new(row.name).into(), Term::small(id as i64), Atom::new(row.kind).into(), stats])
}

fn setting(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[0].as_atom().map(|name| name.name()) {
        Some("mask") => {
            let counted: Vec<Term> =
                CATEGORIES.into_iter().filter(|name| locks::is_counted(name)).map(|name| Atom::new(name).into()).collect();
            Ok(p.heap.list(&counted))
        }
        Some("copy_save") => Ok(Term::bool(locks::COPY_SAVE.load(Ordering::Relaxed))),
        _ => Err(p.badarg()),
    }
}

fn set(p: &mut Process, a: &[Term]) -> NativeResult {
    match (a[0].as_atom().map(|name| name.name()), args::boolean(a[1])) {
        (Some("copy_save"), Some(on)) => locks::COPY_SAVE.store(on, Ordering::Relaxed),
        (Some("mask"), _) => {
            let Some(names) = args::list(a[1]) else { return Err(p.badarg()) };
            let is_category = |name: &Term| name.as_atom().is_some_and(|name| CATEGORIES.contains(&name.name()));
            if let Some(&unknown) = names.iter().find(|name| !is_category(name)) {
                return Ok(p.heap.tuple(&[am::ERROR.into(), am::BADARG.into(), unknown]));
            }
            let names: Vec<Atom> = names.iter().filter_map(|name| name.as_atom()).collect();
            locks::set_counted(names.iter().map(|name| name.name())).map_err(|_| p.badarg())?;
        }
        _ => return Err(p.badarg()),
    }
    Ok(am::OK.into())
}
