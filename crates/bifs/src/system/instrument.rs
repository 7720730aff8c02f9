//! The natives of the module `instrument`: sizes of blocks, and carriers, of one allocator and instance (see `allocators`).

use super::allocators::{self, Part, instances, is_known, kind, name};
use heddle_memory::{Area, MemoryKind};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{sched, send};
use heddle_term::{Atom, Heap, Term};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "gather_alloc_histograms"/1 => gather_alloc_histograms,
        "gather_carrier_info"/1 => gather_carrier_info,
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

/// A question: `{Allocator, Scheduler, Width, Start, Flags, Ref}`.
struct Gathering {
    kind: Option<MemoryKind>,
    instance: usize,
    width: usize,
    start: usize,
    flags: i64,
    reference: Term,
}

impl Gathering {
    fn of(term: Term) -> Option<Gathering> {
        let &[allocator, instance, width, start, flags, reference] = term.as_tuple()? else { return None };
        let number = |t: Term| usize::try_from(t.as_small()?).ok();
        let instance = number(instance).filter(|&n| n <= sched::options().schedulers)?;
        let (width, start) = (number(width)?, number(start)?);
        if !is_known(allocator.as_atom()?.name()) || !reference.is_reference() || !(1..=32).contains(&width) || start == 0 {
            return None;
        }
        Some(Gathering { kind: kind(allocator), instance, width, start, flags: flags.as_small().filter(|&f| f >= 0)?, reference })
    }

    /// The interval that a block of this size is in.
    fn interval(&self, bytes: usize) -> usize {
        (0..self.width - 1).find(|&i| bytes < self.start << i).unwrap_or(self.width - 1)
    }

    fn areas(&self, kind: MemoryKind) -> Vec<Area> {
        let instance = instances();
        let mut areas = allocators::areas(kind);
        areas.retain(|area| instance(area) == self.instance);
        areas
    }

    fn histogram(&self, heap: &mut Heap, counts: impl Iterator<Item = (usize, usize)>) -> Term {
        let mut sums = vec![0i64; self.width];
        counts.for_each(|(bytes, count)| sums[self.interval(bytes)] += count as i64);
        let sums: Vec<Term> = sums.into_iter().map(Term::small).collect();
        heap.tuple(&sums)
    }
}

fn answer(p: &mut Process, gathering: &Gathering, answer: &[Term]) -> NativeResult {
    let mut message = vec![gathering.reference];
    message.extend(answer);
    let message = p.heap.tuple(&message);
    let me = p.pid_term();
    send::send(p, me, message);
    Ok(Term::small(1))
}

/// Sends `{Ref, Unscanned, [{Origin, Type, Histogram}]}`. Returns the number of answers: none if no blocks are known, or if they
/// are asked for by process, port or function, which is not recorded.
fn gather_alloc_histograms(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(gathering) = Gathering::of(a[0]) else { return Err(p.badarg()) };
    let Some(kind) = gathering.kind.filter(|_| gathering.flags == 0) else { return Ok(Term::small(0)) };
    let areas = gathering.areas(kind);
    p.bump(areas.len() / 10);
    // Stock's words for what blocks hold.
    let holds = match kind {
        MemoryKind::Heap | MemoryKind::Message => "heap",
        MemoryKind::Binary => "binary",
        MemoryKind::Ets => "db_term",
        MemoryKind::Rest => "std_alloc",
    };
    let histogram = gathering.histogram(&mut p.heap, areas.iter().map(|area| (area.block_bytes, area.used_blocks)));
    let row = p.heap.tuple(&[atom("system"), atom(holds), histogram]);
    let rows = if areas.is_empty() { Term::NIL } else { p.heap.list(&[row]) };
    answer(p, &gathering, &[Term::small(0), rows])
}

/// Sends `{Ref, [{Allocator, InPool, Bytes, Unscanned, [{Type, Count, Bytes}], FreeBlocks}]}`.
fn gather_carrier_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(gathering) = Gathering::of(a[0]) else { return Err(p.badarg()) };
    let Some(kind) = gathering.kind else { return Ok(Term::small(0)) };
    let areas = gathering.areas(kind);
    p.bump(areas.len());
    let name = atom(name(kind));
    let rows: Vec<Term> = areas
        .iter()
        .map(|area| {
            let heap = &mut p.heap;
            let used = heap.tuple(&[name, Term::small(area.used_blocks as i64), Term::small(area.used_bytes() as i64)]);
            let used = heap.list(&[used]);
            let free = gathering.histogram(heap, std::iter::once((area.block_bytes, area.blocks - area.used_blocks)));
            let in_pool = Term::bool(Part::of(area) == Part::Pool);
            heap.tuple(&[name, in_pool, Term::small(area.bytes() as i64), Term::small(0), used, free])
        })
        .collect();
    let rows = p.heap.list(&rows);
    answer(p, &gathering, &[rows])
}
