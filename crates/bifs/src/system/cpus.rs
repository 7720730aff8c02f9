//! A topology of processors: as a term (`system_info(cpu_topology)`), as a flag (`+sct`), and the orders in which schedulers are
//! bound to it (`+sbt`).

use heddle_natives::args;
use heddle_term::{Atom, Heap, Term};

/// Where a logical processor is. Identities count within the level above. A node is above processors, or within one (`inner`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpu {
    pub node: Option<u32>,
    pub processor: u32,
    pub inner: Option<u32>,
    pub core: u32,
    pub thread: u32,
    pub logical: u32,
}

/// The largest identity (from ERTS).
const MAX: u32 = 65535;

/// What is wrong with a topology, in stock's words.
pub type Wrong = &'static str;

/// The levels of a topology, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Node,
    Processor,
    Inner,
    Core,
    Thread,
}

impl Cpu {
    const NOWHERE: Cpu = Cpu { node: None, processor: 0, inner: None, core: 0, thread: 0, logical: 0 };

    fn set(&mut self, level: Level, id: u32) {
        match level {
            Level::Node => self.node = Some(id),
            Level::Processor => self.processor = id,
            Level::Inner => self.inner = Some(id),
            Level::Core => self.core = id,
            Level::Thread => self.thread = id,
        }
    }

    /// The identity at the outermost level: a node, or a processor that is in none.
    fn top(&self) -> u32 {
        self.node.unwrap_or(self.processor)
    }

    /// All identities but the logical one.
    fn place(&self) -> (u32, u32, Option<u32>, u32, u32) {
        (self.top(), self.processor, self.inner, self.core, self.thread)
    }
}

/// Checks a topology and sorts it. A level of nodes that has only one node is left out.
fn checked(mut cpus: Vec<Cpu>) -> Result<Vec<Cpu>, Wrong> {
    let mut logical: Vec<u32> = cpus.iter().map(|cpu| cpu.logical).collect();
    logical.sort_unstable();
    if logical.windows(2).any(|w| w[0] == w[1]) {
        return Err("not unique logical identifiers");
    }
    cpus.sort_by_key(Cpu::place);
    if cpus.windows(2).any(|w| w[0].place() == w[1].place()) {
        return Err("not unique entities");
    }
    let in_node = cpus.iter().filter(|cpu| cpu.node.is_some() || cpu.inner.is_some()).count();
    if in_node != 0 && in_node != cpus.len() {
        return Err("invalid hierarchy");
    }
    if cpus.iter().all(|cpu| cpu.node.is_some() && cpu.node == cpus[0].node) {
        cpus.iter_mut().for_each(|cpu| cpu.node = None);
    }
    Ok(cpus)
}

// ---- terms ----

/// The topology that a term describes. None if it describes none.
pub fn from_term(term: Term) -> Option<Vec<Cpu>> {
    let mut cpus = Vec::new();
    entries(term, None, Cpu::NOWHERE, &mut cpus)?;
    checked(cpus).ok()
}

fn entries(list: Term, above: Option<Level>, path: Cpu, out: &mut Vec<Cpu>) -> Option<()> {
    let list = args::list(list).filter(|list| !list.is_empty())?;
    let mut levels = Vec::new();
    for (id, entry) in list.into_iter().enumerate() {
        let (name, inside) = match *entry.as_tuple()? {
            [name, inside] => (name, inside),
            [name, info, inside] if info.is_nil() => (name, inside),
            _ => return None,
        };
        let level = match name.as_atom()?.name() {
            "node" if above == Some(Level::Processor) => Level::Inner,
            "node" => Level::Node,
            "processor" => Level::Processor,
            "core" => Level::Core,
            "thread" => Level::Thread,
            _ => return None,
        };
        if above.is_some_and(|above| level <= above) {
            return None;
        }
        levels.push(level);
        let mut path = path;
        path.set(level, id as u32);
        match args::option(inside) {
            Some((logical, n)) if logical.name() == "logical" => {
                path.logical = args::count(n).and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= MAX)?;
                out.push(path);
            }
            _ => entries(inside, Some(level), path, out)?,
        }
    }
    // Nodes and processors with nodes in them may stand side by side.
    let alike = levels.windows(2).all(|w| w[0] == w[1] || w.iter().all(|level| *level <= Level::Processor));
    alike.then_some(())
}

fn tagged(heap: &mut Heap, tag: &str, value: Term) -> Term {
    heap.tuple(&[Atom::new(tag).into(), value])
}

/// Entries named `tag`, one for each run of processors that are equal in `key`.
fn level<K: PartialEq>(heap: &mut Heap, cpus: &[Cpu], tag: &str, key: fn(&Cpu) -> K, inside: fn(&mut Heap, &[Cpu]) -> Term) -> Term {
    let groups = cpus.chunk_by(|a, b| key(a) == key(b));
    let entries: Vec<Term> = groups
        .map(|group| {
            let inside = inside(heap, group);
            tagged(heap, tag, inside)
        })
        .collect();
    heap.list(&entries)
}

fn threads(heap: &mut Heap, cpus: &[Cpu]) -> Term {
    let logical = |heap: &mut Heap, cpus: &[Cpu]| tagged(heap, "logical", Term::small(cpus[0].logical as i64));
    if cpus.len() == 1 { logical(heap, cpus) } else { level(heap, cpus, "thread", |cpu| cpu.thread, logical) }
}

fn cores(heap: &mut Heap, cpus: &[Cpu]) -> Term {
    if cpus.iter().all(|cpu| cpu.core == cpus[0].core) { threads(heap, cpus) } else { level(heap, cpus, "core", |cpu| cpu.core, threads) }
}

fn processor(heap: &mut Heap, cpus: &[Cpu]) -> Term {
    if cpus[0].inner.is_some() { level(heap, cpus, "node", |cpu| cpu.inner, cores) } else { cores(heap, cpus) }
}

pub fn term(heap: &mut Heap, cpus: &[Cpu]) -> Term {
    let processors = |heap: &mut Heap, cpus: &[Cpu]| level(heap, cpus, "processor", |cpu| cpu.processor, processor);
    let top: Vec<Term> = cpus
        .chunk_by(|a, b| (a.node, a.top()) == (b.node, b.top()))
        .map(|group| {
            if group[0].node.is_some() {
                let inside = processors(heap, group);
                tagged(heap, "node", inside)
            } else {
                let inside = processor(heap, group);
                tagged(heap, "processor", inside)
            }
        })
        .collect();
    heap.list(&top)
}

// ---- +sct ----

/// `L0-3t0-1,0-1c0,0,1,1p0:...`: for each group logical identities, then those of threads, cores, processors and nodes.
pub fn from_flag(text: &str) -> Result<Vec<Cpu>, Wrong> {
    let mut cpus = Vec::new();
    for group in text.split(':').filter(|group| !group.is_empty()) {
        cpus.append(&mut from_group(group)?);
    }
    if cpus.is_empty() { Err("missing logical identifier") } else { checked(cpus) }
}

fn from_group(group: &str) -> Result<Vec<Cpu>, Wrong> {
    let mut parts = Vec::new();
    let mut rest = group;
    while let Some(letter) = rest.chars().next() {
        let kind = letter.to_ascii_lowercase();
        if !"ltcpn".contains(kind) {
            return Err("invalid identifier type");
        }
        let after = &rest[1..];
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '-' && c != ',').unwrap_or(after.len());
        parts.push((kind, identifiers(&after[..end])?));
        rest = &after[end..];
    }
    let Some((_, logical)) = parts.iter().find(|(kind, _)| *kind == 'l') else { return Err("missing logical identifier") };
    let mut cpus: Vec<Cpu> = logical.iter().map(|&logical| Cpu { logical, ..Cpu::NOWHERE }).collect();
    let mut kinds = String::new();
    for (kind, ids) in &parts {
        kinds.push(*kind);
        if *kind == 'l' {
            continue;
        }
        let level = match kind {
            't' => Level::Thread,
            'c' => Level::Core,
            'p' => Level::Processor,
            // A node that is named before its processor is within it.
            _ if kinds.contains('p') => Level::Node,
            _ if parts.iter().any(|(kind, _)| *kind == 'p') => Level::Inner,
            _ => Level::Node,
        };
        if ids.len() != 1 && ids.len() != cpus.len() {
            return Err("invalid identifier range");
        }
        for (i, cpu) in cpus.iter_mut().enumerate() {
            cpu.set(level, ids[i % ids.len()]);
        }
    }
    // The levels must be some of these, in this order.
    let is_part = |order: &str| {
        let mut order = order.chars();
        kinds.chars().all(|kind| order.any(|c| c == kind))
    };
    if is_part("ltcpn") || is_part("ltcnp") { Ok(cpus) } else { Err("invalid hierarchy") }
}

/// `0-3,7`
fn identifiers(text: &str) -> Result<Vec<u32>, Wrong> {
    let number = |text: &str| text.parse().ok().filter(|n| *n <= MAX).ok_or("invalid identifier");
    let mut out = Vec::new();
    for range in text.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u32, u32) = (number(from)?, number(to)?);
        if from <= to { out.extend(from..=to) } else { out.extend((to..=from).rev()) }
    }
    Ok(out)
}

// ---- binding ----

/// The names of bind types, and their letters in the flag.
pub const TYPES: &[(&str, &str)] = &[
    ("unbound", "u"),
    ("no_spread", "ns"),
    ("thread_spread", "ts"),
    ("processor_spread", "ps"),
    ("spread", "s"),
    ("no_node_thread_spread", "nnts"),
    ("no_node_processor_spread", "nnps"),
    ("thread_no_node_processor_spread", "tnnps"),
];

/// Logical processors in the order in which schedulers are bound to them; None: they are bound to none.
pub fn order(cpus: &[Cpu], kind: &str) -> Option<Vec<u32>> {
    // A processor is placed by how many of its kind come before it within the level above, not by its identity.
    let mut keyed: Vec<([usize; 5], u32)> = cpus.iter().map(|cpu| (ranks(cpus, cpu), cpu.logical)).collect();
    let key: fn(&[usize; 5]) -> [usize; 5] = match kind {
        "no_spread" => |&[top, processor, node, core, thread]| [top, processor, node, core, thread],
        "thread_spread" => |&[top, processor, node, core, thread]| [thread, top, processor, node, core],
        "processor_spread" => |&[top, processor, node, core, thread]| [thread, node, core, top, processor],
        "spread" => |&[top, processor, node, core, thread]| [thread, core, node, processor, top],
        "no_node_thread_spread" => |&[top, processor, node, core, thread]| [top, node, thread, processor, core],
        "no_node_processor_spread" => |&[top, processor, node, core, thread]| [top, node, thread, core, processor],
        "thread_no_node_processor_spread" => |&[top, processor, node, core, thread]| [thread, top, node, core, processor],
        _ => return None,
    };
    keyed.sort_by_key(|(ranks, _)| key(ranks));
    Some(keyed.into_iter().map(|(_, logical)| logical).collect())
}

/// The ranks: node (all processors without one count as one), processor, node within it, core, thread.
fn ranks(cpus: &[Cpu], cpu: &Cpu) -> [usize; 5] {
    let top = |cpu: &Cpu| if cpu.node.is_none() && cpu.inner.is_none() { 0 } else { cpu.top() };
    let processor = |cpu: &Cpu| (top(cpu), cpu.processor);
    let node = |cpu: &Cpu| (processor(cpu), cpu.inner);
    let core = |cpu: &Cpu| (node(cpu), cpu.core);
    [
        rank(cpus, cpu, |_| (), top),
        rank(cpus, cpu, top, |cpu| cpu.processor),
        rank(cpus, cpu, processor, |cpu| cpu.inner),
        rank(cpus, cpu, node, |cpu| cpu.core),
        rank(cpus, cpu, core, |cpu| cpu.thread),
    ]
}

/// How many different ones come before it that have the same levels above them.
fn rank<A: PartialEq, K: Ord>(cpus: &[Cpu], cpu: &Cpu, above: impl Fn(&Cpu) -> A, key: impl Fn(&Cpu) -> K) -> usize {
    let mut before: Vec<K> = cpus.iter().filter(|other| above(other) == above(cpu)).map(&key).filter(|k| *k < key(cpu)).collect();
    before.sort_unstable();
    before.dedup();
    before.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::text::display;

    fn shown(cpus: &[Cpu]) -> String {
        let mut heap = Heap::new();
        let text = display::to_string(term(&mut heap, cpus));
        assert_eq!(from_term(term(&mut heap, cpus)).map(|again| again.len()), Some(cpus.len()), "{text}");
        heap.clear();
        text
    }

    fn flag(text: &str) -> String {
        from_flag(text).map_or_else(String::from, |cpus| shown(&cpus))
    }

    /// The expected texts are what stock prints.
    #[test]
    fn flags() {
        assert_eq!(flag("L0-1c0-1"), "[{processor,[{core,{logical,0}},{core,{logical,1}}]}]");
        assert_eq!(flag("L1-0c0-1"), "[{processor,[{core,{logical,1}},{core,{logical,0}}]}]");
        assert_eq!(flag("L0"), "[{processor,{logical,0}}]");
        assert_eq!(flag("L0-1p0-1:L2p2"), "[{processor,{logical,0}},{processor,{logical,1}},{processor,{logical,2}}]");
        assert_eq!(flag("L0-1N0P0-1"), "[{processor,[{node,{logical,0}}]},{processor,[{node,{logical,1}}]}]");
        assert_eq!(
            flag("L0-1t0-1c0p0n0:L2-3t0-1c1p0n0:L4-5t0-1c0p1n1"),
            "[{node,[{processor,[{core,[{thread,{logical,0}},{thread,{logical,1}}]},{core,[{thread,{logical,2}},{thread,{logical,3}}]}]}]},\
             {node,[{processor,[{thread,{logical,4}},{thread,{logical,5}}]}]}]"
        );
        let wrong = [
            ("L0-1c0", "not unique entities"),
            ("L0,1-0", "not unique logical identifiers"),
            ("L0c0t0p0n0", "invalid hierarchy"),
            ("C0", "missing logical identifier"),
            ("foo", "invalid identifier type"),
            ("L0-7c0-3p0", "invalid identifier range"),
        ];
        for (text, what) in wrong {
            assert_eq!(flag(text), what);
        }
    }

    /// From stock (`fake_scheduler_bindings`): a computer with both kinds of nodes, one of plain processors, one of nodes in them.
    #[test]
    fn orders() {
        let check = |text: &str, expected: &[(&str, &[u32])]| {
            let cpus = from_flag(text).unwrap();
            for (kind, order_there) in expected {
                assert_eq!(order(&cpus, kind).as_deref(), Some(*order_there), "{text} {kind}");
            }
        };
        let mixed = "L0-1t0-1c0p0n0:L2-3t0-1c1p0n0:L4-5t0-1c0p1n0:L6-7t0-1c1p1n0:L8-9t0-1c0n1p2:L10-11t0-1c1n1p2:L12-13t0-1c2n2p2\
                     :L14-15t0-1c3n2p2";
        check(
            mixed,
            &[
                ("no_spread", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
                ("thread_spread", &[0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15]),
                ("processor_spread", &[0, 4, 8, 2, 6, 10, 12, 14, 1, 5, 9, 3, 7, 11, 13, 15]),
                ("spread", &[0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]),
                ("no_node_thread_spread", &[0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15]),
                ("no_node_processor_spread", &[0, 4, 2, 6, 1, 5, 3, 7, 8, 10, 9, 11, 12, 14, 13, 15]),
                ("thread_no_node_processor_spread", &[0, 4, 2, 6, 8, 10, 12, 14, 1, 5, 3, 7, 9, 11, 13, 15]),
            ],
        );
        check(
            "L0-7t0-1,0-1,0-1,0-1c0,0,1,1,0,0,1,1p0,0,0,0,1,1,1,1",
            &[
                ("thread_spread", &[0, 2, 4, 6, 1, 3, 5, 7]),
                ("processor_spread", &[0, 4, 2, 6, 1, 5, 3, 7]),
                ("no_node_thread_spread", &[0, 2, 4, 6, 1, 3, 5, 7]),
                ("no_node_processor_spread", &[0, 4, 2, 6, 1, 5, 3, 7]),
                ("thread_no_node_processor_spread", &[0, 4, 2, 6, 1, 5, 3, 7]),
            ],
        );
        check(
            "L0-1t0-1c0n0p0:L2-3t0-1c1n0p0:L4-5t0-1c2n1p0:L6-7t0-1c3n1p0:L8-9t0-1c0n2p1:L10-11t0-1c1n2p1:L12-13t0-1c2n3p1\
             :L14-15t0-1c3n3p1",
            &[
                ("processor_spread", &[0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15]),
                ("spread", &[0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]),
                ("no_node_thread_spread", &[0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15]),
            ],
        );
    }
}
