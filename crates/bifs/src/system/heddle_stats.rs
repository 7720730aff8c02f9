//! Module `heddle_stats`: what the VM counts of itself. Shapes and units are in docs/statistics.md.

use super::allocators;
use heddle_memory::{Area, Counts, KINDS, Row};
use heddle_runtime::figures::{self, Figures};
use heddle_runtime::messages::Sent;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::record::{self, RecordedEvent};
use heddle_runtime::{cycles, locks, sched};
use heddle_term::{Atom, Heap, Term, am, map};
use std::sync::atomic::{AtomicU64, Ordering};

heddle_runtime::natives! { TABLE:
    "heddle_stats" => {
        "schedulers"/0 => schedulers,
        "gc"/0 => gc,
        "gc"/1 => gc_of,
        "messages"/0 => messages,
        "messages"/1 => messages_of,
        "locks"/0 => waits,
        "memory"/0 => memory,
        "memory"/1 => memory_of,
        "record"/1 => switch_record,
        "events"/0 => events,
    }
}

pub fn figures_map(heap: &mut Heap, figures: &[(&str, u64)]) -> Term {
    let pairs: Vec<(Term, Term)> = figures.iter().map(|&(name, n)| (Atom::new(name).into(), heap.unsigned(n))).collect();
    map::from_pairs(heap, &pairs)
}

/// A map per normal scheduler, in their order.
fn schedulers(p: &mut Process, _: &[Term]) -> NativeResult {
    let lengths = sched::queue_lengths();
    let maps: Vec<Term> = lengths
        .into_iter()
        .enumerate()
        .map(|(index, run_queue)| {
            let [switches, reductions, steals] = sched::counts(index);
            let f = figures::of(index);
            let figures = [
                ("id", index as u64 + 1),
                ("run_queue", run_queue as u64),
                ("context_switches", switches),
                ("reductions", reductions),
                ("steals", steals),
                ("migrations", f.migrations.get()),
                ("wake_ups", f.wake_ups.get()),
                ("parks", f.parks.get()),
                ("searches", f.searches.get()),
                ("claims", f.claims.get()),
                ("lock_waits", f.lock_waits()),
                ("lock_wait_ns", f.lock_wait_ns()),
            ];
            figures_map(&mut p.heap, &figures)
        })
        .collect();
    Ok(p.heap.list(&maps))
}

/// The row of the scheduler thread with this number, as in `statistics(scheduler_wall_time_all)`.
pub fn row(p: &mut Process, id: Term) -> Result<&'static [Figures], heddle_runtime::Thrown> {
    let (all, Some(id)) = (figures::all(), id.as_small()) else { return Err(p.badarg()) };
    match usize::try_from(id) {
        Ok(id) if (1..all.len()).contains(&id) => Ok(&all[id - 1..id]),
        _ => Err(p.badarg()),
    }
}

fn sum(rows: &[Figures], figure: impl Fn(&Figures) -> u64) -> u64 {
    rows.iter().map(figure).sum()
}

fn gc(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(collections(p, figures::all()))
}

fn gc_of(p: &mut Process, a: &[Term]) -> NativeResult {
    let rows = row(p, a[0])?;
    Ok(collections(p, rows))
}

fn collections(p: &mut Process, rows: &[Figures]) -> Term {
    let [minor_words, major_words] = [sum(rows, |f| f.minor_words.get()), sum(rows, |f| f.major_words.get())];
    let [minor_ns, major_ns] = [sum(rows, |f| f.minor_time.get()), sum(rows, |f| f.major_time.get())].map(cycles::to_ns);
    let figures = [
        ("minor", sum(rows, |f| f.minor_collections.get())),
        ("major", sum(rows, |f| f.major_collections.get())),
        ("minor_words", minor_words),
        ("major_words", major_words),
        ("words_copied", minor_words + major_words),
        ("words_reclaimed", sum(rows, |f| f.words_reclaimed.get())),
        ("last_live_words", sum(rows, |f| f.last_live_words.get())),
        ("minor_ns", minor_ns),
        ("major_ns", major_ns),
        ("time_ns", minor_ns + major_ns),
    ];
    figures_map(&mut p.heap, &figures)
}

fn messages(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(sent(p, &Sent::by_all()))
}

fn messages_of(p: &mut Process, a: &[Term]) -> NativeResult {
    let number = row(p, a[0])?[0].number();
    Ok(sent(p, &Sent::by_scheduler(number)))
}

fn sent(p: &mut Process, sent: &Sent) -> Term {
    let sizes: Vec<(Term, Term)> = sent
        .sizes
        .iter()
        .enumerate()
        .filter(|&(_, &count)| count > 0)
        .map(|(size, &count)| (Term::small(if size == 0 { 0 } else { 1 << (size - 1) }), p.heap.unsigned(count)))
        .collect();
    let sizes = map::from_pairs(&mut p.heap, &sizes);
    let figures = [
        ("messages", sent.to_self + sent.to_same_scheduler + sent.to_other_scheduler),
        ("words", sent.words),
        ("copying_ns", sent.copying_ns),
        ("by_reference", sent.by_reference),
        ("partly_by_reference", sent.partly_by_reference),
        ("words_by_reference", sent.words_by_reference),
        ("words_foreseen", sent.words_foreseen),
        ("to_self", sent.to_self),
        ("to_same_scheduler", sent.to_same_scheduler),
        ("to_other_scheduler", sent.to_other_scheduler),
    ];
    let all = figures_map(&mut p.heap, &figures);
    map::put(&mut p.heap, all, Atom::new("sizes").into(), sizes)
}

/// For the whole VM: what is in use for each kind of memory, and what was taken from the system.
fn memory(p: &mut Process, _: &[Term]) -> NativeResult {
    let kinds: Vec<(Term, Term)> = allocators::NAMED
        .into_iter()
        .map(|(kind, parts)| {
            let areas = allocators::areas(kind);
            p.bump(areas.len() / 10);
            let sum = |figure: fn(&Area) -> usize| areas.iter().map(figure).sum::<usize>() as u64;
            let figures = [
                ("bytes", parts.iter().map(|&part| heddle_memory::sum(part)).sum::<usize>() as u64),
                ("blocks", sum(|area| area.used_blocks)),
                ("block_bytes", sum(Area::used_bytes)),
                ("areas", areas.len() as u64),
                ("area_bytes", sum(Area::bytes)),
            ];
            (Atom::new(allocators::name(kind)).into(), figures_map(&mut p.heap, &figures))
        })
        .collect();
    let kinds = map::from_pairs(&mut p.heap, &kinds);
    let rows: Vec<&Row> = heddle_memory::rows().collect();
    let system = heddle_memory::system();
    let figures = [
        ("resident_bytes", heddle_memory::resident_bytes() as u64),
        ("reserved_bytes", system.reserved),
        ("given_back_bytes", system.purged),
        ("times_given_back", system.purges),
        ("kept_bytes", heddle_memory::kept_bytes() as u64),
    ];
    let all = figures_map(&mut p.heap, &figures);
    let all = map::put(&mut p.heap, all, Atom::new("kinds").into(), kinds);
    Ok(allocations(p, all, &rows))
}

/// The same for one scheduler thread.
fn memory_of(p: &mut Process, a: &[Term]) -> NativeResult {
    let number = row(p, a[0])?[0].number();
    let rows: Vec<&Row> = heddle_memory::rows().filter(|row| row.scheduler() == Some(number)).collect();
    let kept = rows.iter().map(|row| row.kept_bytes()).sum();
    let all = figures_map(&mut p.heap, &[("kept_bytes", kept)]);
    Ok(allocations(p, all, &rows))
}

/// Adds to `all` what threads allocated and freed, over all kinds.
fn allocations(p: &mut Process, all: Term, rows: &[&Row]) -> Term {
    let counts: Vec<Counts> = rows.iter().flat_map(|row| KINDS.map(|kind| row.counts(kind))).collect();
    let sum = |figure: fn(&Counts) -> u64| counts.iter().map(figure).fold(0u64, u64::wrapping_add);
    let foreign = |figure: fn(&Row) -> &AtomicU64| rows.iter().map(|row| figure(row).load(Ordering::Relaxed)).sum();
    let figures = [
        ("blocks_allocated", sum(|c| c.blocks_allocated)),
        ("bytes_allocated", sum(|c| c.bytes_allocated)),
        ("blocks_freed", sum(|c| c.blocks_freed)),
        ("bytes_freed", sum(|c| c.bytes_freed)),
        ("blocks_freed_for_others", foreign(|row| &row.foreign_blocks)),
        ("bytes_freed_for_others", foreign(|row| &row.foreign_bytes)),
    ];
    figures.into_iter().fold(all, |all, (name, n)| {
        let n = p.heap.unsigned(n);
        map::put(&mut p.heap, all, Atom::new(name).into(), n)
    })
}

/// A map for each class of locks and thread that had to wait. Threads that are no schedulers have the number 0.
fn waits(p: &mut Process, _: &[Term]) -> NativeResult {
    let all = figures::all();
    let mut maps = Vec::new();
    for (class, row) in locks::CLASSES.iter().enumerate() {
        for (thread, f) in all.iter().enumerate().filter(|(_, f)| f.locks[class].count.get() > 0) {
            let waits = &f.locks[class];
            let id = if thread + 1 == all.len() { 0 } else { thread as u64 + 1 };
            let map = figures_map(&mut p.heap, &[("scheduler", id), ("waits", waits.count.get()), ("wait_ns", waits.ns.get())]);
            maps.push(map::put(&mut p.heap, map, Atom::new("class").into(), Atom::new(row.name).into()));
        }
    }
    Ok(p.heap.list(&maps))
}

/// `start` or `stop`.
fn switch_record(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[0].as_atom().map(|what| what.name()) {
        Some("start") => record::start(),
        Some("stop") => record::stop(),
        _ => return Err(p.badarg()),
    }
    Ok(am::OK.into())
}

/// `[{MonotonicNs, Scheduler, Event}]`, oldest first.
fn events(p: &mut Process, _: &[Term]) -> NativeResult {
    let entries = record::events();
    let threads = figures::all().len();
    p.bump(entries.len() / 10);
    let list: Vec<Term> = entries
        .into_iter()
        .map(|entry| {
            let heap = &mut p.heap;
            let with = |heap: &mut Heap, name: &str, numbers: &[usize]| {
                let terms: Vec<Term> =
                    std::iter::once(Atom::new(name).into()).chain(numbers.iter().map(|&n| Term::small(n as i64))).collect();
                heap.tuple(&terms)
            };
            let event = match entry.event {
                RecordedEvent::Busy => Atom::new("busy").into(),
                RecordedEvent::Idle => Atom::new("idle").into(),
                RecordedEvent::Park => Atom::new("park").into(),
                RecordedEvent::Unpark => Atom::new("unpark").into(),
                RecordedEvent::WakeUp(index) => with(heap, "wake_up", &[index + 1]),
                RecordedEvent::Steal(index, count) => with(heap, "steal", &[index + 1, count]),
                RecordedEvent::Migrate(index, count) => with(heap, "migrate", &[index + 1, count]),
            };
            let ns = heap.integer(entry.ns);
            let id = if entry.thread + 1 == threads { 0 } else { entry.thread as i64 + 1 };
            heap.tuple(&[ns, Term::small(id), event])
        })
        .collect();
    Ok(p.heap.list(&list))
}
