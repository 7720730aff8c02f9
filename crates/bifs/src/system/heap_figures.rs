//! `heddle_stats:pauses/0,1` and `heaps/0`: how long collections took, and what the heaps of all processes hold. Shapes and units are
//! in docs/statistics.md.

use super::heddle_stats::{figures_map, row};
use heddle_runtime::figures::{self, Figures};
use heddle_runtime::mode;
use heddle_runtime::pauses::{Histogram, Pauses, Summary};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::refs::RefId;
use heddle_runtime::{blocks, proctab, send};
use heddle_term::{Atom, Heap, Term, am, map};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

heddle_runtime::natives! { TABLE:
    "heddle_stats" => {
        "pauses"/0 => pauses,
        "pauses"/1 => pauses_of,
        "heaps"/0 => heaps,
    }
}

fn pauses(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(all_kinds(p, figures::all()))
}

fn pauses_of(p: &mut Process, a: &[Term]) -> NativeResult {
    let rows = row(p, a[0])?;
    Ok(all_kinds(p, rows))
}

fn all_kinds(p: &mut Process, rows: &[Figures]) -> Term {
    let mut kind = |name: &str, which: fn(&Pauses) -> &Histogram| {
        let sum = Summary::of(rows.iter().filter_map(Figures::pauses).map(which));
        p.bump(rows.len());
        (Atom::new(name).into(), summary(&mut p.heap, &sum))
    };
    let pairs = [
        kind("minor", |pauses| &pauses.minor),
        kind("major", |pauses| &pauses.major),
        kind("own", |pauses| &pauses.own),
        kind("stopping", |pauses| &pauses.stopping),
    ];
    map::from_pairs(&mut p.heap, &pairs)
}

fn summary(heap: &mut Heap, sum: &Summary) -> Term {
    let classes: Vec<Term> = sum
        .classes()
        .map(|(from_ns, count)| {
            let class = [heap.unsigned(from_ns), heap.unsigned(count)];
            heap.tuple(&class)
        })
        .collect();
    let mut pairs = vec![
        (Atom::new("count").into(), heap.unsigned(sum.count)),
        (Atom::new("max_ns").into(), heap.unsigned(sum.longest_ns)),
        (Atom::new("histogram").into(), heap.list(&classes)),
    ];
    for (name, permille) in [("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990), ("p999_ns", 999)] {
        let ns = sum.permille(permille).map_or(am::UNDEFINED.into(), |ns| heap.unsigned(ns));
        pairs.push((Atom::new(name).into(), ns));
    }
    map::from_pairs(heap, &pairs)
}

/// The sums to which each process adds.
#[derive(Default)]
struct Figure(AtomicU64);

/// The sum over all processes, the process that asked, and how many have not answered.
struct Asked {
    asker: u64,
    reference: RefId,
    left: AtomicUsize,
    processes: Figure,
    used_words: Figure,
    allocated_words: Figure,
    live_words: Figure,
    stack_words: Figure,
    fragment_words: Figure,
    queued_words: Figure,
}

impl Figure {
    fn add(&self, more: usize) {
        // Relaxed: the last one to answer sees it by `left`.
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }
}

/// Asks every process, as `process_info` does: each adds its figures, in order with its other signals, and the last one answers.
fn heaps(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut pids = Vec::with_capacity(proctab::count());
    proctab::for_each(|process| pids.push(process.pid));
    pids.retain(|&pid| pid != p.pid());
    p.bump(pids.len());
    let (term, reference) = send::fresh_reference(&mut p.heap);
    let asked = Arc::new(Asked::new(p.pid(), reference, pids.len() + 1));
    for pid in pids {
        let asked = asked.clone();
        send::ask(p, pid, move |other| asked.answer(other));
    }
    asked.answer(Some(p));
    Err(p.await_result(term))
}

impl Asked {
    fn new(asker: u64, reference: RefId, left: usize) -> Asked {
        Asked {
            asker,
            reference,
            left: AtomicUsize::new(left),
            processes: Figure::default(),
            used_words: Figure::default(),
            allocated_words: Figure::default(),
            live_words: Figure::default(),
            stack_words: Figure::default(),
            fragment_words: Figure::default(),
            queued_words: Figure::default(),
        }
    }

    /// Called by each process, or (None) for a process that is gone.
    fn answer(&self, process: Option<&mut Process>) {
        if let Some(q) = process {
            let old = mode::survivors(q);
            self.processes.add(1);
            self.used_words.add(q.used_words() + old.used_words + q.heap.fragment_words);
            self.allocated_words.add(q.heap_words() + old.allocated_words + q.heap.fragment_words);
            self.live_words.add(old.live_words);
            self.stack_words.add(q.stack_words());
            self.fragment_words.add(q.heap.fragment_words);
            self.queued_words.add(q.messages.words());
        }
        // Acquire and release: the last one sees what all others added.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            send::build_message(self.asker, |heap| {
                let figures = self.map(heap);
                let reference = heap.reference(self.reference.words());
                heap.tuple(&[reference, figures])
            });
        }
    }

    fn map(&self, heap: &mut Heap) -> Term {
        let (used, allocated) = mode::common_old_words();
        self.used_words.add(used);
        self.live_words.add(used);
        self.allocated_words.add(allocated);
        let figures = [
            ("processes", &self.processes),
            ("used_words", &self.used_words),
            ("allocated_words", &self.allocated_words),
            ("live_words", &self.live_words),
            ("stack_words", &self.stack_words),
            ("fragment_words", &self.fragment_words),
            ("queued_words", &self.queued_words),
        ];
        let told = figures.iter().map(|&(name, figure)| (name, figure.0.load(Ordering::Relaxed)));
        let blocks = blocks::used_bytes() as u64 / 8;
        figures_map(heap, &told.chain([("message_words", mode::message_words() as u64), ("block_words", blocks)]).collect::<Vec<_>>())
    }
}
