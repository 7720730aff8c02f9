//! Figures of memory, in the form of the figures of stock's allocators (`system_info`, `erlang:memory`, `instrument`).
//!
//! | stock's name | here |
//! |---|---|
//! | `eheap_alloc` | heaps of processes, messages on their way, and the message area |
//! | `binary_alloc` | reference-counted binaries |
//! | `ets_alloc` | objects of ETS tables |
//! | `literal_alloc` | literals of modules and persistent terms |
//! | `fix_alloc` | process structs and timers: how many, by type; their memory counts in `std_alloc` |
//! | `std_alloc` | all else that the VM allocates: tables, code, ports |
//!
//! Stock's other allocators are off. Each scheduler has an instance. Instance 0 has all other threads and the pool: carriers from which no
//! thread allocates now.
//! A carrier is the part of one of the allocator's areas that was ever used. All blocks of an area have one size; an area with room for a
//! single block is a `sbcs`. The highest figures (third and fourth element) are the highest that a caller was told: nothing watches in
//! between. What C libraries allocate (`re`, `zlib`) and the stacks of threads are not counted.

use heddle_memory::{Area, MemoryKind};
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, ProcShared, Process};
use heddle_runtime::{blocks, proctab, sched, send, timer_refs};
use heddle_term::{Atom, Heap, Term, am, literal};
use std::collections::HashMap;
use std::sync::Mutex;

/// The names of stock's allocators.
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
/// The allocators that are on.
const ON: &[&str] = &["std_alloc", "eheap_alloc", "ets_alloc", "fix_alloc", "literal_alloc", "binary_alloc"];

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Kinds of memory that have a name of stock's, each with the kinds that are counted with it.
pub const NAMED: [(MemoryKind, &[MemoryKind]); 4] = [
    (MemoryKind::Rest, &[MemoryKind::Rest]),
    (MemoryKind::Heap, &[MemoryKind::Heap, MemoryKind::Message]),
    (MemoryKind::Binary, &[MemoryKind::Binary]),
    (MemoryKind::Ets, &[MemoryKind::Ets]),
];

fn parts(kind: MemoryKind) -> &'static [MemoryKind] {
    NAMED.iter().find(|(named, _)| *named == kind).map_or(&[], |(_, parts)| parts)
}

/// The areas of a kind and of the kinds that are counted with it.
pub fn areas(kind: MemoryKind) -> Vec<Area> {
    parts(kind).iter().flat_map(|&part| heddle_memory::areas(part)).collect()
}

/// The name of a kind of memory.
pub fn name(kind: MemoryKind) -> &'static str {
    match kind {
        MemoryKind::Rest => "std_alloc",
        MemoryKind::Heap | MemoryKind::Message => "eheap_alloc",
        MemoryKind::Binary => "binary_alloc",
        MemoryKind::Ets => "ets_alloc",
    }
}

pub fn kind(name: Term) -> Option<MemoryKind> {
    NAMED.iter().map(|&(kind, _)| kind).find(|&kind| name.is_atom_of(Atom::new(self::name(kind))))
}

pub fn enabled(p: &mut Process) -> Term {
    let names: Vec<Term> = ON.iter().map(|name| atom(name)).collect();
    p.heap.list(&names)
}

/// `system_info(allocator)`. The allocator is none that stock has a name for. Its features are the names for which there are figures. The
/// settings are those of stock's implementations, which are all off: nothing can be set.
pub fn settings(p: &mut Process) -> Term {
    let off = p.heap.tuple(&[atom("e"), Term::bool(false)]);
    let off = p.heap.list(&[off]);
    let rows: Vec<Term> = NAMES.iter().map(|name| p.heap.tuple(&[atom(name), off])).collect();
    let rows = p.heap.list(&rows);
    let features = enabled(p);
    p.heap.tuple(&[am::UNDEFINED.into(), Term::NIL, features, rows])
}

/// Bytes that are in use for a kind, as they were asked for.
fn bytes(kind: MemoryKind) -> usize {
    match kind {
        MemoryKind::Heap => blocks::used_bytes(),
        kind => heddle_memory::sum(kind),
    }
}

/// Figures of carriers of one sort.
#[derive(Default, Clone, Copy)]
struct Carriers {
    carriers: usize,
    carriers_bytes: usize,
    blocks: usize,
    block_bytes: usize,
}

/// The sort of a carrier: with many blocks, in the pool, with one block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    Many,
    Pool,
    Single,
}
const PARTS: [Part; 3] = [Part::Many, Part::Pool, Part::Single];

impl Part {
    fn name(self) -> &'static str {
        ["mbcs", "mbcs_pool", "sbcs"][self as usize]
    }

    pub fn of(area: &Area) -> Part {
        match (area.is_single, area.thread) {
            (true, _) => Part::Single,
            (_, 0) => Part::Pool,
            _ => Part::Many,
        }
    }
}

/// The number of the instance that an area belongs to.
pub fn instances() -> impl Fn(&Area) -> usize {
    let schedulers = sched::options().schedulers;
    let threads: HashMap<usize, usize> = heddle_memory::rows()
        .filter_map(|row| Some((row.thread(), row.scheduler().filter(|&n| n < schedulers)? + 1)))
        .filter(|&(thread, _)| thread != 0)
        .collect();
    move |area| threads.get(&area.thread).copied().unwrap_or(0)
}

/// The carriers of a kind, for each instance.
fn carriers(kind: MemoryKind) -> Vec<[Carriers; PARTS.len()]> {
    let mut all = vec![[Carriers::default(); PARTS.len()]; sched::options().schedulers + 1];
    let instance = instances();
    for area in areas(kind) {
        let sum = &mut all[instance(&area)][Part::of(&area) as usize];
        sum.carriers += 1;
        sum.carriers_bytes += area.bytes();
        sum.blocks += area.used_blocks;
        sum.block_bytes += area.used_bytes();
    }
    all
}

/// A figure of a kind (as number) and an instance.
type Figure = (usize, usize, Part, &'static str);

/// The figures that were told last, and the highest ones that were ever told.
static TOLD: Mutex<Option<HashMap<Figure, [usize; 2]>>> = Mutex::new(None);

/// Stand for the instance in figures of `fix_alloc` and `literal_alloc`, which are no kinds.
const FIXED: usize = usize::MAX;
const LITERALS: usize = usize::MAX - 1;

struct Teller<'a> {
    heap: &'a mut Heap,
    /// Of the allocator.
    name: &'static str,
    kind: MemoryKind,
    instance: usize,
    part: Part,
}

impl Teller<'_> {
    /// `{Name, Now, HighestSinceLast, Highest}`
    fn figure(&mut self, name: &'static str, now: usize) -> Term {
        let mut told = TOLD.lock().unwrap();
        let entry = told.get_or_insert_default().entry((self.kind as usize, self.instance, self.part, name)).or_default();
        let since = entry[0].max(now);
        *entry = [now, entry[1].max(now)];
        let numbers = [now, since, entry[1]].map(|n| Term::small(n as i64));
        self.heap.tuple(&[atom(name), numbers[0], numbers[1], numbers[2]])
    }

    /// A figure for which stock has one number only.
    fn plain(&mut self, name: &str, now: usize) -> Term {
        self.heap.tuple(&[atom(name), Term::small(now as i64)])
    }

    fn pair(&mut self, name: &str, items: &[Term]) -> Term {
        let items = self.heap.list(items);
        self.heap.tuple(&[atom(name), items])
    }

    fn part(&mut self, c: Carriers, is_long: bool) -> Term {
        let is_pool = self.part == Part::Pool;
        let size = if is_pool { self.plain("size", c.block_bytes) } else { self.figure("size", c.block_bytes) };
        let mut figures = vec![size];
        if is_long {
            figures.insert(0, if is_pool { self.plain("count", c.blocks) } else { self.figure("count", c.blocks) });
        }
        let typed = self.pair(self.name, &figures);
        let blocks = self.pair("blocks", if c.blocks == 0 { &[] } else { std::slice::from_ref(&typed) });
        let mut items = vec![blocks];
        if is_long {
            items.push(if is_pool { self.plain("carriers", c.carriers) } else { self.figure("carriers", c.carriers) });
        }
        let size = if is_pool { self.plain("carriers_size", c.carriers_bytes) } else { self.figure("carriers_size", c.carriers_bytes) };
        items.push(size);
        self.pair(self.part.name(), &items)
    }
}

/// What the caller asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// `{memory_internal, Ref, Names}`, for `erlang:memory`: only the bytes that are in use, as they were asked for.
    Memory,
    /// `{allocator_sizes, Ref, Names}`
    Sizes,
    /// `{allocator, Ref, Names}`
    All,
}

/// One message per auxiliary thread but one. The first carries the figures, the others are empty.
pub fn sizes(p: &mut Process, question: Question, reference: Term, allocators: Term) -> NativeResult {
    let Some(names) = args::list(allocators) else { return Err(p.badarg()) };
    let is_name = |name: &Term| name.as_atom().is_some_and(|n| is_known(n.name()));
    if !reference.is_reference() || !names.iter().all(is_name) {
        return Err(p.badarg());
    }
    let mut rows = Vec::new();
    for &name in &names {
        let is_on = ON.iter().any(|on| name.is_atom_of(Atom::new(on)));
        if !is_on {
            rows.push(p.heap.tuple(&[name, Term::bool(false)]));
        } else if let Some(kind) = kind(name) {
            of_kind(p, question, name, kind, &mut rows);
        } else {
            let data = if name.is_atom_of(Atom::new("fix_alloc")) { fixed(p, question == Question::All) } else { literals(p, question) };
            rows.push(p.heap.tuple(&[name, Term::small(0), data]));
        }
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

/// A row `{Name, Instance, Data}` for each instance.
fn of_kind(p: &mut Process, question: Question, name: Term, kind: MemoryKind, rows: &mut Vec<Term>) {
    if question == Question::Memory {
        let data = in_use(&mut p.heap, self::name(kind), bytes(kind));
        rows.push(p.heap.tuple(&[name, Term::small(0), data]));
        return;
    }
    let is_long = question == Question::All;
    for (instance, parts) in carriers(kind).into_iter().enumerate() {
        let mut items = Vec::new();
        if is_long {
            // Threads have instances of their own. Stock's other settings mean nothing here.
            let threads = p.heap.tuple(&[atom("t"), Term::bool(true)]);
            let options = p.heap.list(&[threads]);
            items.push(p.heap.tuple(&[atom("options"), options]));
        }
        for part in PARTS {
            // The pool belongs to all instances, and is shown in instance 0.
            if part != Part::Pool || instance == 0 {
                items.push(Teller { heap: &mut p.heap, name: self::name(kind), kind, instance, part }.part(parts[part as usize], is_long));
            }
        }
        if is_long {
            items.push(calls(&mut p.heap, kind, instance));
        }
        let data = p.heap.list(&items);
        rows.push(p.heap.tuple(&[name, Term::small(instance as i64), data]));
    }
}

/// `{calls, [{eheap_alloc, Billions, Rest}, ..]}`. A resized block counts as freed and allocated.
fn calls(heap: &mut Heap, kind: MemoryKind, instance: usize) -> Term {
    let schedulers = sched::options().schedulers;
    let mut sums = [0u64; 2];
    for row in heddle_memory::rows() {
        let owner = row.scheduler().filter(|&n| n < schedulers).map_or(0, |n| n + 1);
        if owner == instance {
            for counts in parts(kind).iter().map(|&part| row.counts(part)) {
                sums[0] += counts.blocks_allocated;
                sums[1] += counts.blocks_freed;
            }
        }
    }
    let short = name(kind).strip_suffix("_alloc").expect("name of an allocator");
    let rows = [("alloc", sums[0]), ("free", sums[1])].map(|(what, n)| {
        let (billions, rest) = (n / 1_000_000_000, n % 1_000_000_000);
        heap.tuple(&[atom(&format!("{short}_{what}")), Term::small(billions as i64), Term::small(rest as i64)])
    });
    let rows = heap.list(&rows);
    heap.tuple(&[atom("calls"), rows])
}

/// `[{mbcs, [{blocks, [{Name, [{size, Bytes}]}]}]}, {sbcs, [{blocks, []}]}]`
fn in_use(heap: &mut Heap, name: &str, bytes: usize) -> Term {
    let size = heap.tuple(&[atom("size"), Term::small(bytes as i64)]);
    let size = heap.list(&[size]);
    let typed = heap.tuple(&[atom(name), size]);
    let typed = heap.list(&[typed]);
    let parts = [("mbcs", typed), ("sbcs", Term::NIL)].map(|(part, blocks)| {
        let blocks = heap.tuple(&[atom("blocks"), blocks]);
        let blocks = heap.list(&[blocks]);
        heap.tuple(&[atom(part), blocks])
    });
    heap.list(&parts)
}

/// For pieces of one size the number is known: `[{fix_types, [{Type, Allocated, Used}]}, {mbcs, ..}, {sbcs, ..}]`, without
/// blocks, which are those of `std_alloc`.
fn fixed(p: &mut Process, is_long: bool) -> Term {
    let sizes = [("proc", proctab::count() * size_of::<ProcShared>()), ("bif_timer", timer_refs::count() * timer_refs::BYTES)];
    let types = sizes.map(|(name, bytes)| {
        let bytes = Term::small(bytes as i64);
        p.heap.tuple(&[atom(name), bytes, bytes])
    });
    let types = p.heap.list(&types);
    let types = p.heap.tuple(&[atom("fix_types"), types]);
    let parts = [Part::Many, Part::Single].map(|part| {
        Teller { heap: &mut p.heap, name: "fix_alloc", kind: MemoryKind::Rest, instance: FIXED, part }.part(Carriers::default(), is_long)
    });
    p.heap.list(&[types, parts[0], parts[1]])
}

/// The figures of literals: one carrier with one block, which is the part of their address range that was ever used.
fn literals(p: &mut Process, question: Question) -> Term {
    let name = "literal_alloc";
    if question == Question::Memory {
        return in_use(&mut p.heap, name, literal::used_bytes());
    }
    let all = Carriers { carriers: 1, carriers_bytes: literal::extent_bytes(), blocks: 1, block_bytes: literal::used_bytes() };
    let parts = [(Part::Many, all), (Part::Single, Carriers::default())].map(|(part, carriers)| {
        let mut teller = Teller { heap: &mut p.heap, name, kind: MemoryKind::Rest, instance: LITERALS, part };
        teller.part(carriers, question == Question::All)
    });
    p.heap.list(&parts)
}

/// `system_info(allocated_areas)`, in bytes. `atom_space` and the rest lie in `std_alloc`.
pub fn allocated_areas(p: &mut Process) -> Term {
    let names = heddle_term::atom::name_bytes();
    let code: usize = heddle_runtime::code::with_all(|all| {
        all.values().flat_map(|m| m.current.iter().chain(m.old.iter())).map(|i| i.code.len() * 8).sum()
    });
    let areas = [
        ("atom_table", heddle_term::atom::entry_bytes()),
        ("loaded_code", code),
        ("process_table", proctab::limit() * size_of::<usize>()),
        ("ets_misc", heddle_ets::own_words() * 8),
    ];
    let mut rows = vec![p.heap.tuple(&[atom("atom_space"), Term::small(names as i64), Term::small(names as i64)])];
    rows.extend(areas.map(|(name, bytes)| p.heap.tuple(&[atom(name), Term::small(bytes as i64)])));
    p.heap.list(&rows)
}
