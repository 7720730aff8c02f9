//! Figures of memory in the form in which stock's allocators give theirs. There is one allocator here (mimalloc); what the
//! figures are told apart by is what memory is used for.

use crate::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{sched, send, timer_refs};
use heddle_term::{Atom, Term, am};

const NAMES: &[&str] = &[
    "sys_alloc",
    "temp_alloc",
    "sl_alloc",
    "std_alloc",
    "ll_alloc",
    "eheap_alloc",
    "ets_alloc",
    "fix_alloc",
    "literal_alloc",
    "binary_alloc",
    "driver_alloc",
    "test_alloc",
    "mseg_alloc",
];

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// `system_info(allocator)`: the library's own cannot be identified by stock's words, and stock's are all off.
pub fn settings(p: &mut Process) -> Term {
    let off = p.heap.tuple(&[atom("e"), Term::bool(false)]);
    let off = p.heap.list(&[off]);
    let rows: Vec<Term> = NAMES.iter().map(|name| p.heap.tuple(&[atom(name), off])).collect();
    let rows = p.heap.list(&rows);
    p.heap.tuple(&[am::UNDEFINED.into(), Term::NIL, Term::NIL, rows])
}

/// Of memory in pieces of one size only that of timers is counted: `{fix_alloc, 0, [{fix_types, [{bif_timer, Allocated, Used}]}]}`.
fn fixed_sizes(p: &mut Process, name: Term) -> Term {
    let bytes = Term::small((timer_refs::count() * timer_refs::BYTES) as i64);
    let timers = p.heap.tuple(&[atom("bif_timer"), bytes, bytes]);
    let types = p.heap.list(&[timers]);
    let types = p.heap.tuple(&[atom("fix_types"), types]);
    let types = p.heap.list(&[types]);
    p.heap.tuple(&[name, Term::small(0), types])
}

/// Bytes in blocks, by what they are for. The figures are the machine's; they are not kept by thread.
fn block_bytes() -> [(&'static str, usize); 4] {
    let processes = heddle_runtime::blocks::used_bytes();
    let binary = heddle_memory::sum(heddle_memory::Kind::Binary);
    let ets = crate::ets::memory_words() * 8;
    let rest = resident_bytes().saturating_sub(processes + binary + ets);
    [("eheap_alloc", processes), ("binary_alloc", binary), ("ets_alloc", ets), ("ll_alloc", rest)]
}

/// `{allocator_sizes, Ref, Names}` and `{memory_internal, Ref, Names}`: one message per auxiliary thread but one. The first carries
/// the figures, the others are empty. Sizes come without the highest they were, which nobody counts.
pub fn sizes(p: &mut Process, reference: Term, allocators: Term) -> NativeResult {
    let Some(names) = args::list(allocators) else { return Err(p.badarg()) };
    let figures = block_bytes();
    let known = |name: &Term| figures.iter().find(|(known, _)| name.is_atom_of(Atom::new(known)));
    if !reference.is_reference() || !names.iter().all(|name| name.as_atom().is_some_and(|n| n.name().ends_with("_alloc"))) {
        return Err(p.badarg());
    }
    let mut rows = Vec::new();
    for &name in &names {
        if name.is_atom_of(Atom::new("fix_alloc")) {
            rows.push(fixed_sizes(p, name));
            continue;
        }
        // One that is not used here is off.
        let Some(&(_, bytes)) = known(&name) else {
            rows.push(p.heap.tuple(&[name, Term::bool(false)]));
            continue;
        };
        let size = p.heap.tuple(&[atom("size"), Term::small(bytes as i64)]);
        let sizes = p.heap.list(&[size]);
        let block = p.heap.tuple(&[name, sizes]);
        let block = p.heap.list(&[block]);
        let carriers = [("mbcs", block), ("sbcs", Term::NIL)].map(|(kind, blocks)| {
            let blocks = p.heap.tuple(&[atom("blocks"), blocks]);
            let blocks = p.heap.list(&[blocks]);
            p.heap.tuple(&[atom(kind), blocks])
        });
        let carriers = p.heap.list(&carriers);
        rows.push(p.heap.tuple(&[name, Term::small(0), carriers]));
    }
    let data = p.heap.list(&rows);
    let me = p.pid_term();
    for i in 0..sched::options().schedulers {
        let data = if i == 0 { data } else { Term::NIL };
        let message = p.heap.tuple(&[reference, Term::small(i as i64), data]);
        send::send(p, me, message);
    }
    Ok(Term::bool(true))
}

/// Bytes of memory the machine occupies now.
fn resident_bytes() -> usize {
    std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|s| s.split_whitespace().nth(1)?.parse::<usize>().ok())
        .map_or(0, |pages| pages * 4096)
}
