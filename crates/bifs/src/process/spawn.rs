//! `spawn` and its options.

use super::spawn_request::{self, Reply};
use heddle_abi::settings::{Number, SETTINGS};
use heddle_natives::args;
use heddle_runtime::links::{AliasMode, Link, MonitorKind, Monitoring};
use heddle_runtime::place::Place;
use heddle_runtime::placement;
use heddle_runtime::process::{NativeResult, Process, SpawnOptions};
use heddle_runtime::spawn;
use heddle_runtime::trace::token::Token;
use heddle_runtime::trace::{events, flags, seq, sessions};
use heddle_runtime::{Package, ProcRef, RefId, private_threads, refs, sched, sizes};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Term, am};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "spawn"/3 => spawn_3,
        "spawn_link"/3 => spawn_link_3,
        "spawn_opt"/4 => spawn_opt_4,
    }
    "erts_internal" => {
        "spawn_system_process"/3 => spawn_system_process,
    }
}

/// The options of a `spawn_opt`.
#[derive(Default)]
pub struct SpawnRequest {
    pub options: SpawnOptions,
    pub link: bool,
    /// Options of the monitor, if one is wanted.
    pub monitor: Option<MonitorOptions>,
    pub reply: Reply,
    /// The process gets a thread of its own.
    pub private: bool,
}

#[derive(Default)]
pub struct MonitorOptions {
    pub alias: Option<AliasMode>,
    pub tag: Option<Term>,
}

/// A process that was started.
pub struct Created {
    pub pid: Term,
    /// The reference of the caller's monitor.
    pub reference: Option<Term>,
    /// The token of sequential tracing that the answer to a request carries.
    pub token: Option<Box<Token>>,
}

pub fn mfa_of(m: Term, f: Term, a: Term) -> Option<(Mfa, Term)> {
    let (module, function) = (m.as_atom()?, f.as_atom()?);
    let n = args::length(a)?;
    Some((Mfa { module, function, arity: n.min(255) as u8 }, a))
}

fn spawn_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, &SpawnRequest::default())
}

fn spawn_link_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, &SpawnRequest { link: true, ..SpawnRequest::default() })
}

fn spawn_opt_4(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(request) = parse_options(a[3], false) else {
        return Err(p.badarg_cause(Atom::new("badopt")));
    };
    start(p, a, &request)
}

fn spawn_system_process(p: &mut Process, a: &[Term]) -> NativeResult {
    let request = SpawnRequest::default();
    start(p, a, &request)
}

/// Makes a process, sets up its relations and starts it. Returns the pid, or {Pid, Reference} with a monitor.
fn start(p: &mut Process, a: &[Term], request: &SpawnRequest) -> NativeResult {
    let Some((mfa, arguments)) = mfa_of(a[0], a[1], a[2]) else { return Err(p.badarg()) };
    let Some(created) = create(p, mfa, arguments, request, a.get(3).copied(), None) else { return Err(p.system_limit()) };
    p.bump(20);
    match created.reference {
        Some(reference) => Ok(p.heap.tuple(&[created.pid, reference])),
        None => Ok(created.pid),
    }
}

/// Makes a process and starts it. Its relations are set up on both sides before it runs.
///
/// `asked`: the list of options, if there was one.
pub fn create(
    p: &mut Process,
    mfa: Mfa,
    arguments: Term,
    request: &SpawnRequest,
    asked: Option<Term>,
    reference: Option<RefId>,
) -> Option<Created> {
    start_made(p, (mfa, arguments), request, asked, reference, |p| spawn::create(mfa, arguments, Some(p), &request.options))
}

/// The same for the process or task that `make` makes, which no other thread can see yet.
pub fn start_made(
    p: &mut Process,
    (mfa, arguments): (Mfa, Term),
    request: &SpawnRequest,
    asked: Option<Term>,
    reference: Option<RefId>,
    make: impl FnOnce(&mut Process) -> Option<ProcRef>,
) -> Option<Created> {
    let thread = if request.private { Some(private_threads::start().ok()?) } else { None };
    let child = make(p);
    if let Some(index) = thread {
        match child {
            Some(child) => placement::change(&child, Place::Private(index)),
            None => private_threads::end(index),
        }
    }
    let child = child?;
    // SAFETY: not published yet: the creator is its owner.
    let local = unsafe { child.local() };
    let me = p.pid_term();
    let pid = child.pid_term();
    if request.link {
        p.relations.make().links.insert(pid, Link { active: true, unlinking: 0 });
        local.relations.make().links.insert(me, Link { active: true, unlinking: 0 });
    }
    let mut monitor_reference = None;
    if let Some(options) = &request.monitor {
        let id = reference.unwrap_or_else(refs::fresh);
        let alias = options.alias.unwrap_or(AliasMode::None);
        let tag = options.tag.map(Package::new);
        let inner = p.relations.make();
        inner.monitoring.insert(id, Monitoring { target: pid, name: None, alias, tag, kind: MonitorKind::Process });
        if alias != AliasMode::None {
            inner.aliases.insert(id, alias);
        }
        local.relations.make().watch(id, me, None);
        monitor_reference = Some(super::relations::reference_term(p, id, alias));
    }
    let mut token = None;
    if seq::has_token(p) {
        let message = request_message(p, (mfa, arguments), request, asked, reference, monitor_reference);
        seq::spawned(p, &child, local, message);
        let parts = message.as_tuple().expect("just made");
        let reply = p.heap.tuple(&[parts[6], parts[1], am::OK.into(), pid]);
        token = seq::spawn_answered(p, local, reply, reference.is_none());
    }
    // Relaxed: flags that are set meanwhile count from some event on.
    if p.shared().trace.load(Ordering::Relaxed) & !flags::TIMED != 0 || sessions::ANY_NEW.load(Ordering::Relaxed) {
        events::spawn(p, &child, mfa, arguments, request.link);
    }
    sched::start_process(child);
    Some(Created { pid, reference: monitor_reference, token })
}

/// A spawn as the message that sequential tracing takes it for.
#[cold]
fn request_message(
    p: &mut Process,
    (mfa, arguments): (Mfa, Term),
    request: &SpawnRequest,
    asked: Option<Term>,
    id: Option<RefId>,
    monitor: Option<Term>,
) -> Term {
    let id = monitor.unwrap_or_else(|| p.heap.reference(id.unwrap_or_else(refs::fresh).words()));
    let link = if request.link { p.heap.list(&[am::LINK.into()]) } else { Term::NIL };
    let tag = request.reply.tag;
    let name = p.heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64)]);
    let (me, leader) = (p.pid_term(), p.group_leader);
    p.heap.tuple(&[Atom::new("spawn_request").into(), id, me, leader, name, asked.unwrap_or(link), tag, arguments])
}

/// Returns None if the term is no list or has an unknown option.
pub fn parse_options(list: Term, is_request: bool) -> Option<SpawnRequest> {
    let mut request = SpawnRequest::default();
    let items = args::list(list)?;
    for &item in &items {
        match item.as_atom() {
            Some(am::LINK) => {
                request.link = true;
                continue;
            }
            Some(am::MONITOR) => {
                request.monitor.get_or_insert_default();
                continue;
            }
            Some(_) => return None,
            None => {}
        }
        let (name, value) = args::option(item)?;
        let o = &mut request.options;
        match name.name() {
            "monitor" => request.monitor = Some(super::relations::parse_monitor_options(value)?),
            "priority" => o.priority = super::flags::priority(value)?,
            "min_heap_size" => o.min_heap_words = heap_size(args::count(value)?, &SETTINGS.min_heap_words)?,
            "min_bin_vheap_size" => o.min_vheap_words = virtual_heap_size(args::count(value)?, &SETTINGS.min_vheap_words),
            "max_heap_size" => o.max_heap = super::flags::max_heap(value, o.max_heap)?,
            "fullsweep_after" => o.fullsweep_after = args::count(value)?.min(65535) as u16,
            "message_queue_data" => o.off_heap_messages = super::flags::message_queue_data(value)?,
            "async_dist" => o.async_dist = args::boolean(value)?,
            "scheduler" => o.place = scheduler(value)?.map_or(Place::Anywhere, Place::Pinned),
            "queue" => o.place = Place::Next(scheduler(value)??),
            "thread" => request.private = thread(value)?,
            "reply" if is_request => {
                spawn_request::reply_when(value)?;
            }
            "reply_tag" if is_request => {}
            _ => return None,
        }
    }
    if is_request {
        request.reply = spawn_request::reply_of(&items);
    }
    // The process would not be allowed to hold its own first heap.
    let o = &request.options;
    (o.max_heap.size_words == 0 || o.max_heap.size_words >= o.min_heap_words).then_some(request)
}

/// The index of a scheduler given by its number; 0 is none.
pub fn scheduler(number: Term) -> Option<Option<usize>> {
    args::count(number).filter(|n| *n <= sched::options().schedulers).map(|n| n.checked_sub(1))
}

fn thread(kind: Term) -> Option<bool> {
    match kind.as_atom()?.name() {
        "private" => Some(true),
        "shared" => Some(false),
        _ => None,
    }
}

/// The heap size step that holds `words`, and is no less than the usual one. None if the computer has less memory.
pub fn heap_size(words: usize, usual: &Number) -> Option<usize> {
    let words = sizes::at_least(words.max(usual.get()));
    heddle_memory::fits(words.saturating_mul(8)).then_some(words)
}

/// The same for the virtual heap: the words of binaries after which a process is collected. They are only counted, so any size fits.
pub fn virtual_heap_size(words: usize, usual: &Number) -> usize {
    sizes::at_least(words.max(usual.get()))
}
