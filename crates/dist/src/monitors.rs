//! Processes that hear of all nodes that come and go: `process_flag(monitor_nodes | {monitor_nodes, Options}, true)`.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{Package, send};
use heddle_term::{Atom, Heap, Term, map};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a process wants to hear of, and what it is told. After ERTS: without options the message has two elements, else three.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Options {
    is_map: bool,
    connection_id: bool,
    visible: bool,
    hidden: bool,
    reason: bool,
}

struct Subscription {
    pid: u64,
    options: Options,
    /// How often the process asked: as many messages come.
    times: usize,
}

static SUBSCRIPTIONS: Mutex<Vec<Subscription>> = Mutex::new(Vec::new());

fn subscriptions() -> MutexGuard<'static, Vec<Subscription>> {
    SUBSCRIPTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Options {
    /// The options of a map, or of `[]`, which stands for none.
    fn parse(term: Term) -> Option<Options> {
        if term.is_nil() {
            return Some(Options::default());
        }
        if !term.is_map() {
            return None;
        }
        let mut options = Options { is_map: true, ..Options::default() };
        for (key, value) in map::MapIter::new(term) {
            match key.as_atom()?.name() {
                "list" if value.is_atom_of(Atom::new("true")) => options.is_map = false,
                "connection_id" => options.connection_id = args::boolean(value)?,
                "nodedown_reason" => options.reason = args::boolean(value)?,
                "node_type" => {
                    (options.visible, options.hidden) = match value.as_atom()?.name() {
                        "visible" => (true, false),
                        "hidden" => (false, true),
                        "all" => (true, true),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(options)
    }

    /// True if the process hears of nodes of this kind.
    fn wants(self, is_visible: bool) -> bool {
        if is_visible { self.visible || !self.hidden } else { self.hidden }
    }
}

/// Returns how often the process had asked for the same before.
pub fn set(p: &mut Process, options: Term, value: Term) -> NativeResult {
    let (Some(on), Some(options)) = (args::boolean(value), Options::parse(options)) else { return Err(p.badarg()) };
    let mut all = subscriptions();
    let known = all.iter().position(|known| known.pid == p.pid() && known.options == options);
    let times = known.map_or(0, |known| all[known].times);
    match (on, known) {
        (true, Some(known)) => all[known].times += 1,
        (true, None) => all.push(Subscription { pid: p.pid(), options, times: 1 }),
        (false, Some(known)) => _ = all.remove(known),
        (false, None) => {}
    }
    Ok(Term::small(times as i64))
}

/// `[{Pid, Options}]`, the latest first, as often as each process asked (`erts_debug:get_internal_state(monitoring_nodes)`).
pub fn all(heap: &mut Heap) -> Term {
    let atom = |name: &str| -> Term { Atom::new(name).into() };
    let mut rows = Vec::new();
    for known in subscriptions().iter().rev().filter(|known| heddle_runtime::proctab::lookup(known.pid).is_some()) {
        let mut options = Vec::new();
        if known.options.reason {
            options.push(atom("nodedown_reason"));
        }
        let kind = match (known.options.visible, known.options.hidden) {
            (true, true) => Some("all"),
            (true, false) => Some("visible"),
            (false, true) => Some("hidden"),
            (false, false) => None,
        };
        options.extend(kind.map(|kind| heap.tuple(&[atom("node_type"), atom(kind)])));
        let options = heap.list(&options);
        rows.extend((0..known.times).map(|_| heap.tuple(&[Term::local_pid(known.pid), options])));
    }
    heap.list(&rows)
}

/// A change of a node that processes hear of.
pub struct Change<'a> {
    pub node: Atom,
    /// The number of the connection; None: the node is this one.
    pub connection: Option<u32>,
    pub is_visible: bool,
    /// Why it is down; None: it is up.
    pub down: Option<&'a Package>,
}

/// Tells all processes that want to hear of the change.
pub fn tell(change: &Change<'_>) {
    let wanted: Vec<(u64, Options, usize)> = {
        let mut all = subscriptions();
        all.retain(|known| heddle_runtime::proctab::lookup(known.pid).is_some());
        all.iter().filter(|known| known.options.wants(change.is_visible)).map(|known| (known.pid, known.options, known.times)).collect()
    };
    for (pid, options, times) in wanted {
        for _ in 0..times {
            send::build_message(pid, |heap| message(heap, change, options));
        }
    }
}

fn message(heap: &mut Heap, change: &Change<'_>, options: Options) -> Term {
    let what = Atom::new(if change.down.is_some() { "nodedown" } else { "nodeup" });
    if options == Options::default() {
        return heap.tuple(&[what.into(), change.node.into()]);
    }
    let mut pairs: Vec<(Term, Term)> = Vec::new();
    if options.connection_id {
        let number = change.connection.map_or(Atom::new("undefined").into(), |number| Term::small(number as i64));
        pairs.push((Atom::new("connection_id").into(), number));
    }
    if let Some(reason) = change.down.filter(|_| options.reason) {
        let reason = heap.copy(reason.term());
        pairs.push((Atom::new("nodedown_reason").into(), reason));
    }
    if options.visible || options.hidden {
        pairs.push((Atom::new("node_type").into(), Atom::new(if change.is_visible { "visible" } else { "hidden" }).into()));
    }
    let info = if options.is_map {
        map::from_pairs(heap, &pairs)
    } else {
        let pairs: Vec<Term> = pairs.into_iter().map(|(key, value)| heap.tuple(&[key, value])).collect();
        heap.list(&pairs)
    };
    heap.tuple(&[what.into(), change.node.into(), info])
}
