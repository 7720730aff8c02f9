//! process_info and the process list. Information on another process is gathered by that process itself, in order with its
//! signals.

use super::flags;
use heddle_natives::args;
use heddle_runtime::activity::Activity;
use heddle_runtime::links::MonitorKind;
use heddle_runtime::mode;
use heddle_runtime::nodes::Target;
use heddle_runtime::process::{
    FLAG_ASYNC_DIST, FLAG_AT_PORT, FLAG_HAS_RESULT, FLAG_HIBERNATES, FLAG_TASK, NativeResult, Process, Stand, Thrown,
};
use heddle_runtime::remote::RemoteRelations;
use heddle_runtime::sched;
use heddle_runtime::send::{self, node_name};
use heddle_runtime::trace::seq;
use heddle_runtime::{Package, activity, code, handle, proctab, spawn, stack, task, undecoded};
use heddle_term::refbin::RefBin;
use heddle_term::{Atom, Heap, Term, am};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "process_info"/1 => process_info_1,
        "process_info"/2 => process_info_2,
        "processes"/0 => processes,
    }
    "erts_internal" => { "process_display"/2 => process_display }
}

/// Keys of process_info/1, in stock's order. `registered_name` leads only when there is one.
const DEFAULT_KEYS: &[&str] = &[
    "current_function",
    "initial_call",
    "status",
    "message_queue_len",
    "links",
    "dictionary",
    "trap_exit",
    "error_handler",
    "priority",
    "group_leader",
    "total_heap_size",
    "heap_size",
    "stack_size",
    "reductions",
    "garbage_collection",
    "suspending",
];

const KEYS: &[&str] = &[
    "registered_name",
    "current_function",
    "current_location",
    "current_stacktrace",
    "initial_call",
    "status",
    "messages",
    "message_queue_len",
    "message_queue_data",
    "links",
    "monitors",
    "monitored_by",
    "dictionary",
    "trap_exit",
    "error_handler",
    "heap_size",
    "total_heap_size",
    "stack_size",
    "memory",
    "garbage_collection",
    "garbage_collection_info",
    "group_leader",
    "priority",
    "reductions",
    "sequential_trace_token",
    "catchlevel",
    "backtrace",
    "last_calls",
    "suspending",
    "min_heap_size",
    "min_bin_vheap_size",
    "max_heap_size",
    "magic_ref",
    "fullsweep_after",
    "binary",
    "trace",
    "label",
    "async_dist",
    "parent",
    "priority_messages",
    // Heddle's own: see `heddle_sched`, `heddle_task`.
    "placement",
    "task",
];

/// The keys that stock has too.
pub fn stock_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().copied().filter(|key| !["placement", "task", "priority_messages"].contains(key))
}

/// A key: an atom of the list above, or {dictionary, Key}.
#[derive(Clone)]
enum Key {
    Name(&'static str),
    Dictionary(Package),
}

fn key(term: Term) -> Option<Key> {
    if let Some(atom) = term.as_atom() {
        let name = atom.name();
        return KEYS.iter().find(|k| **k == name).map(|k| Key::Name(k));
    }
    match term.as_tuple() {
        Some([d, k]) if d.is_atom_of(Atom::new("dictionary")) => Some(Key::Dictionary(Package::new(*k))),
        _ => None,
    }
}

pub fn processes(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut pids = Vec::new();
    proctab::for_each(|q| {
        if !q.state.load().is_exiting() {
            pids.push(q.pid);
        }
    });
    pids.sort_unstable();
    p.bump(pids.len() / 10);
    let pids: Vec<Term> = pids.into_iter().map(Term::local_pid).collect();
    Ok(p.heap.list(&pids))
}

fn process_info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let keys = DEFAULT_KEYS.iter().map(|k| Key::Name(k)).collect();
    ask(p, a[0], keys, Shape::Default)
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// process_info/1: registered_name in front if there is one.
    Default,
    /// A list of keys.
    List,
    /// One key.
    One,
    /// The value of one key, without the key.
    Bare,
}

fn process_info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[1].is_list() {
        let Some(keys) = args::list(a[1]).and_then(|l| l.into_iter().map(key).collect::<Option<Vec<Key>>>()) else {
            return Err(p.badarg());
        };
        return ask(p, a[0], keys, Shape::List);
    }
    // What processes ask most often, of themselves.
    if a[0] == p.pid_term() && a[1].is_atom_of(am::MESSAGE_QUEUE_LEN) {
        if handle::drain(p) == handle::After::Exit {
            return Err(Thrown::ExitNow);
        }
        let count = Term::small(p.messages.len() as i64);
        return Ok(p.heap.tuple(&[am::MESSAGE_QUEUE_LEN.into(), count]));
    }
    match key(a[1]) {
        Some(key) => ask(p, a[0], vec![key], Shape::One),
        None => Err(p.badarg()),
    }
}

/// What a task or port tells of itself; `undefined` if the pid is not one's.
pub fn of_task(p: &mut Process, id: Term) -> NativeResult {
    ask_any(p, id, vec![Key::Name("task")], Shape::Bare)
}

fn ask(p: &mut Process, pid: Term, keys: Vec<Key>, shape: Shape) -> NativeResult {
    if !pid.is_local_pid() {
        return Err(p.badarg());
    }
    ask_any(p, pid, keys, shape)
}

fn ask_any(p: &mut Process, pid: Term, keys: Vec<Key>, shape: Shape) -> NativeResult {
    if pid == p.pid_term() {
        let counts = keys.iter().any(|key| matches!(key, Key::Name("reductions")));
        if counts && p.rare().slice_used.is_none() {
            return Err(Thrown::TellSlice);
        }
        // What the process sent to itself has arrived, and what others did before counts too. That may move terms: the arguments are
        // not looked at again.
        if handle::drain(p) == handle::After::Exit {
            return Err(Thrown::ExitNow);
        }
        let answer = gather(p, &keys, shape, true);
        if counts {
            p.rare().slice_used = None;
        }
        return Ok(answer.unpack(&mut p.heap));
    }
    let (reference, id) = send::fresh_reference(&mut p.heap);
    let me = p.pid();
    send::ask(p, heddle_runtime::process::identity::id_of(pid), move |other| {
        let answer = match other {
            Some(other) => gather(other, &keys, shape, false),
            None => Package::immediate(am::UNDEFINED.into()),
        };
        send::build_message(me, |heap| {
            let reference = heap.reference(id.words());
            let answer = heap.copy(answer.term());
            heap.tuple(&[reference, answer])
        });
    });
    Err(p.await_result(reference))
}

fn gather(q: &mut Process, keys: &[Key], shape: Shape, own: bool) -> Package {
    if keys.iter().any(|key| matches!(key, Key::Name("messages" | "total_heap_size"))) {
        undecoded::decode(q);
    }
    let mut heap = Heap::new();
    let mut items = Vec::new();
    if shape == Shape::Default
        && let Some(name) = registered_name(q)
    {
        items.push(heap.tuple(&[Atom::new("registered_name").into(), name]));
    }
    // Stock counts the messages that it shows if messages are asked for too.
    let hides_messages = q.sensitive && keys.iter().any(|key| matches!(key, Key::Name("messages")));
    for key in keys {
        let item = match key {
            Key::Name("message_queue_len") if hides_messages => heap.tuple(&[Atom::new("message_queue_len").into(), Term::small(0)]),
            Key::Name("registered_name") => match registered_name(q) {
                Some(name) => heap.tuple(&[Atom::new("registered_name").into(), name]),
                // Asked alone, a process without a name answers [].
                None if shape == Shape::One => Term::NIL,
                None => heap.tuple(&[Atom::new("registered_name").into(), Term::NIL]),
            },
            Key::Name(name) => {
                let value = value(q, name, &mut heap, own);
                if shape == Shape::Bare {
                    let package = Package::new(value);
                    heap.clear();
                    return package;
                }
                heap.tuple(&[Atom::new(name).into(), value])
            }
            Key::Dictionary(k) => {
                let found = q.dictionary.get(k.term()).map_or(am::UNDEFINED.into(), |v| heap.copy(v));
                let k = heap.copy(k.term());
                let tag = heap.tuple(&[Atom::new("dictionary").into(), k]);
                heap.tuple(&[tag, found])
            }
        };
        items.push(item);
    }
    let answer = if shape == Shape::One { items[0] } else { heap.list(&items) };
    let package = Package::new(answer);
    heap.clear();
    package
}

fn registered_name(q: &Process) -> Option<Term> {
    match q.shared().name.load(Ordering::Acquire) {
        0 => None,
        n => Some(Atom::from_index(n - 1).into()),
    }
}

fn mfa_term(heap: &mut Heap, mfa: heddle_term::Mfa) -> Term {
    heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64)])
}

/// The native that the process runs on a dirty thread, or is about to run.
fn native_at(q: &Process) -> Option<heddle_term::Mfa> {
    if q.shared().state.load().is_dirty() { sched::engine().native_of(q) } else { None }
}

fn value(q: &mut Process, name: &str, heap: &mut Heap, own: bool) -> Term {
    let small = |n: usize| Term::small(n as i64);
    match name {
        "current_function" if q.flags & FLAG_HIBERNATES != 0 && !own => {
            heap.tuple(&[am::ERLANG.into(), am::HIBERNATE.into(), Term::small(3)])
        }
        "current_function" if q.flags & FLAG_HAS_RESULT != 0 && !own => {
            heap.tuple(&[am::ERLANG.into(), Atom::new("bif_return_trap").into(), Term::small(2)])
        }
        // `!` is an instruction, but a sender that waits for a port stands in stock's function.
        "current_function" if q.flags & FLAG_AT_PORT != 0 && !own && current(q).is_some_and(|l| l.mfa.module != am::ERLANG) => {
            heap.tuple(&[am::ERLANG.into(), am::SEND.into(), Term::small(2)])
        }
        "current_function" => match native_at(q).or_else(|| current(q).map(|l| l.mfa)) {
            Some(mfa) => mfa_term(heap, mfa),
            // The process has not run yet, or it is a task, which has no functions.
            None if q.stand == Stand::Starting || q.flags & FLAG_TASK != 0 => mfa_term(heap, q.first_call()),
            // A process that called `hibernate/3` and has been woken has not called its function yet.
            None if spawn::ENTRY_POINTS.get().is_some_and(|entry| q.ip == entry.apply) => {
                heap.tuple(&[am::ERLANG.into(), am::HIBERNATE.into(), Term::small(3)])
            }
            None => am::UNDEFINED.into(),
        },
        "current_location" => match current(q) {
            Some(l) => {
                let location = location(heap, &l);
                heap.tuple(&[l.mfa.module.into(), l.mfa.function.into(), small(l.mfa.arity as usize), location])
            }
            None => am::UNDEFINED.into(),
        },
        "current_stacktrace" => stacktrace(q, heap),
        "initial_call" => mfa_term(heap, q.initial_call),
        "status" => Atom::new(match activity::of(q) {
            _ if own => "running",
            // Stock's word for a process that waits for a busy port.
            Activity::Waiting if q.flags & FLAG_AT_PORT != 0 => "suspended",
            Activity::Running => "running",
            Activity::Runnable => "runnable",
            Activity::Waiting => "waiting",
            Activity::Suspended => "suspended",
        })
        .into(),
        "messages" if q.sensitive => Term::NIL,
        "messages" => {
            let messages: Vec<Term> = q.messages.terms().map(|t| heap.copy(t)).collect();
            heap.list(&messages)
        }
        "message_queue_len" => small(q.messages.len()),
        "message_queue_data" => Atom::new(if q.off_heap_messages { "off_heap" } else { "on_heap" }).into(),
        "links" => {
            let mut links: Vec<Term> =
                q.relations.get().map_or(Vec::new(), |i| i.links.iter().filter(|(_, l)| l.active).map(|(&t, _)| t).collect());
            if let Some(remote) = remote(q) {
                links.extend(remote.links.iter().filter(|(_, link)| link.active).map(|(other, _)| other.to_term(heap)));
            }
            heap.list(&links)
        }
        "monitors" => {
            let mut out = Vec::new();
            if let Some(inner) = q.relations.get() {
                for m in inner.monitoring.values() {
                    if m.kind == MonitorKind::TimeOffset {
                        out.push(heap.tuple(&[Atom::new("time_offset").into(), am::CLOCK_SERVICE.into()]));
                        continue;
                    }
                    let kind = Atom::new(match m.kind {
                        MonitorKind::Process => "process",
                        MonitorKind::Port => "port",
                        MonitorKind::TimeOffset => continue,
                    });
                    let object = match m.name {
                        Some(name) => heap.tuple(&[name.into(), node_name().into()]),
                        None => m.target,
                    };
                    out.push(heap.tuple(&[kind.into(), object]));
                }
            }
            for monitoring in remote(q).iter().flat_map(|remote| remote.monitoring.values()) {
                let object = match monitoring.target {
                    Target::Pid(pid) => pid.to_term(heap),
                    Target::Name(name) => heap.tuple(&[name.into(), monitoring.connection.node.into()]),
                };
                out.push(heap.tuple(&[am::PROCESS.into(), object]));
            }
            heap.list(&out)
        }
        "monitored_by" => {
            let mut watchers: Vec<Term> = q.relations.get().map_or(Vec::new(), |all| all.monitored_by(heap));
            watchers.extend(remote(q).iter().flat_map(|remote| remote.watchers.values()).map(|watcher| watcher.watcher.to_term(heap)));
            watchers.extend(heddle_io::socket::watchers(heap, q.pid()));
            heap.list(&watchers)
        }
        "dictionary" => {
            if q.sensitive {
                return Term::NIL;
            }
            let pairs: Vec<Term> = q
                .dictionary
                .entries()
                .iter()
                .map(|&(k, v)| {
                    let (k, v) = (heap.copy(k), heap.copy(v));
                    heap.tuple(&[k, v])
                })
                .collect();
            heap.list(&pairs)
        }
        "trap_exit" => Term::bool(q.trap_exit),
        "task" => match task::info(q) {
            Some(info) => heap.copy(info.package().term()),
            None => am::UNDEFINED.into(),
        },
        "placement" => super::placement::place(heap, q.shared()),
        "error_handler" => q.error_handler.into(),
        "heap_size" => small(q.heap_words()),
        "total_heap_size" => small(q.total_heap_words()),
        "stack_size" => small(q.stack_words()),
        "memory" => small(q.total_heap_words() * 8 + size_of::<heddle_runtime::process::ProcShared>()),
        "garbage_collection_info" => {
            let rows = q.heap_figures().map(|(name, words)| heap.tuple(&[Atom::new(name).into(), small(words)]));
            heap.list(&rows)
        }
        "garbage_collection" => {
            let max = max_heap_map(heap, q.max_heap());
            let pairs = [
                ("max_heap_size", max),
                ("min_bin_vheap_size", small(q.min_vheap_words())),
                ("min_heap_size", small(q.min_heap_words)),
                ("fullsweep_after", small(q.fullsweep_after as usize)),
                ("minor_gcs", small(q.minor_count as usize)),
            ];
            let list: Vec<Term> = pairs.iter().map(|(k, v)| heap.tuple(&[Atom::new(k).into(), *v])).collect();
            heap.list(&list)
        }
        "group_leader" => heap.copy(q.group_leader),
        "priority" => flags::priority_atom(q.priority).into(),
        "reductions" => {
            let slice = if own { q.rare().slice_used.unwrap_or(0) } else { 0 };
            heap.unsigned(q.reductions + slice)
        }
        "sequential_trace_token" => seq::token(q).cloned().map_or(Term::NIL, |token| token.term(heap)),
        "catchlevel" => small(catch_level(q)),
        "backtrace" => heap.binary(super::dump::stack(q).as_bytes()),
        "last_calls" => Term::bool(false),
        "suspending" => {
            let list: Vec<Term> = q
                .rare_if_any()
                .iter()
                .flat_map(|r| &r.suspending)
                .map(|s| {
                    // Those that the other process has handled, and those that it has not.
                    let (active, outstanding) = if s.is_done() { (s.count, 0) } else { (0, s.count) };
                    heap.tuple(&[Term::local_pid(s.pid), small(active as usize), small(outstanding as usize)])
                })
                .collect();
            heap.list(&list)
        }
        "binary" => binaries(q, heap),
        "min_heap_size" => small(q.min_heap_words),
        "min_bin_vheap_size" => small(q.min_vheap_words()),
        "max_heap_size" => max_heap_map(heap, q.max_heap()),
        "fullsweep_after" => small(q.fullsweep_after as usize),
        "trace" => Term::small(0),
        "label" => {
            // `proc_lib:set_label/1` keeps it there.
            q.dictionary.get(Atom::new("$process_label").into()).map_or(am::UNDEFINED.into(), |label| heap.copy(label))
        }
        "async_dist" => Term::bool(q.flags & FLAG_ASYNC_DIST != 0),
        "parent" => {
            if q.parent != q.pid() {
                Term::local_pid(q.parent)
            } else {
                remote(q).and_then(|remote| remote.parent).map_or(am::UNDEFINED.into(), |parent| parent.to_term(heap))
            }
        }
        _ => Term::NIL,
    }
}

fn max_heap_map(heap: &mut Heap, m: heddle_runtime::process::MaxHeap) -> Term {
    let pairs = [
        (am::ERROR_LOGGER.into(), Term::bool(m.error_logger)),
        (am::INCLUDE_SHARED_BINARIES.into(), Term::bool(m.include_shared_binaries)),
        (am::KILL.into(), Term::bool(m.kill)),
        (am::SIZE.into(), Term::small(m.size_words as i64)),
    ];
    heddle_term::map::from_pairs(heap, &pairs)
}

/// `{Address, Bytes, References}` of the binaries outside the heap that the process refers to, each reference once.
fn binaries(q: &mut Process, heap: &mut Heap) -> Term {
    let mut rows = Vec::new();
    let mut row = |heap: &mut Heap, object: Term| {
        let block = object.word(2) as *const RefBin;
        // SAFETY: the process holds a reference to it.
        let (bytes, references) = unsafe { (RefBin::size_bytes(block), RefBin::refcount(block)) };
        let address = heap.unsigned(block as u64);
        rows.push(heap.tuple(&[address, Term::small(bytes as i64), Term::small(references as i64)]));
    };
    mode::for_each_off_heap_object(q, |object| {
        if object.is_kind(heddle_term::Kind::BinRef) {
            row(heap, object);
        }
    });
    heap.list(&rows)
}

fn catch_level(q: &Process) -> usize {
    stack::words(q).filter(|(_, word)| word.is_catch_marker()).count()
}

/// Where the process is. For the calling process that is the caller of `process_info`.
fn current(q: &Process) -> Option<code::Location> {
    code::locate(q.ip).or_else(|| stack::callers(q).find_map(|address| code::locate(address.wrapping_sub(1))))
}

fn location(heap: &mut Heap, l: &code::Location) -> Term {
    let Some((file, line)) = l.instance.line_at(l.offset) else { return Term::NIL };
    let file = heap.string(file);
    let file = heap.tuple(&[am::FILE.into(), file]);
    let line = heap.tuple(&[am::LINE.into(), Term::small(line as i64)]);
    heap.list(&[file, line])
}

/// The stack, as deep as stack traces are. A recursion shows as one frame.
fn stacktrace(q: &Process, heap: &mut Heap) -> Term {
    let mut addresses = vec![q.ip];
    addresses.extend(stack::callers(q).map(|address| address.wrapping_sub(1)));
    addresses.dedup();
    let mut frames = Vec::new();
    for l in addresses.into_iter().filter_map(code::locate).take(stack::BACKTRACE_DEPTH.load(Ordering::Relaxed)) {
        let location = location(heap, &l);
        frames.push(heap.tuple(&[l.mfa.module.into(), l.mfa.function.into(), Term::small(l.mfa.arity as i64), location]));
    }
    heap.list(&frames)
}

fn process_display(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() || !a[1].is_atom_of(Atom::new("backtrace")) {
        return Ok(am::BADARG.into());
    }
    Ok(send::ask_for(p, a[0].payload(), |other| {
        let Some(q) = other else { return am::BADARG.into() };
        heddle_term::complain!("{}", super::dump::stack(q));
        Term::bool(true)
    }))
}

/// Its relations to processes of other nodes.
fn remote(q: &Process) -> Option<&RemoteRelations> {
    q.relations.get()?.remote.as_deref()
}
