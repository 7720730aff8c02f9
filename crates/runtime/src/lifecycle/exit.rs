//! The end of a process: everything that must happen once, in order, and how a dead process answers.

use crate::base::registers::Registers;
use crate::heap::mode;
use crate::process;
use crate::process::host::host;
use crate::process::identity::id_of;
use crate::process::links::{self, Watcher};
use crate::process::{FLAG_TASK, Process};
use crate::process::{names, proctab};
use crate::signal::package::Package;
use crate::signal::send::{deliver, send_exit, send_exit_with};
use crate::signal::{Signal, SignalBody};
use crate::timer::timer_refs;
use crate::trace::{events, flags, seq, tracees};
use heddle_term::{Atom, Term, am};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

type Hook = fn(&mut Process);

/// A list of listeners: called for every exiting process before its links and monitors fire (ETS tables, open files, ...).
static HOOKS: [OnceLock<Hook>; MAX_HOOKS] = [const { OnceLock::new() }; MAX_HOOKS];
const MAX_HOOKS: usize = 6;

pub fn add_hook(hook: Hook) {
    assert!(HOOKS.iter().any(|place| place.set(hook).is_ok()), "more than {MAX_HOOKS} hooks at the end of a process");
}

/// Ends the running process. Its `exit_reason` is set. Afterwards the process must not be touched.
pub fn finish(p: &mut Process) {
    let shared = p.proc_ref();
    if !shared.state.load().is_exiting() {
        leave(p);
    } else {
        mode::is_no_zombie(shared);
    }
    crate::sched::placement::change(p.shared(), crate::base::place::Place::Anywhere);
    drop(p.take_rare());
    mode::abandon(p);
    p.saved = Registers::new();
    p.dictionary.clear();
    if shared.state.set_free() {
        // SAFETY: out of the table.
        unsafe { process::retire(shared) };
    }
}

/// The end of a process that a dirty thread has, or will get, as all others see it. What a native may still use stays until
/// `finish`.
pub fn depart(p: &mut Process) {
    leave(p);
    mode::becomes_zombie(p.proc_ref());
}

/// The end as all others see it.
fn leave(p: &mut Process) {
    let shared = p.proc_ref();
    if p.pid() == 0 {
        let reason = heddle_term::text::display::to_string(p.exit_reason);
        // The same text as stock's.
        host().crash(&format!("System process {} terminated: {reason}", heddle_term::text::display::to_string(p.pid_term())));
    }
    if p.flags & FLAG_TASK != 0 {
        crate::task::terminate(p);
    }
    shared.state.set_exiting();
    if events::on(p.shared(), flags::PROCS) {
        let reason = p.exit_reason;
        events::of_process(p, flags::PROCS, "exit", &[reason]);
    }
    let me = p.pid_term();
    crate::sched::cancel_receive_timer(p);

    // Names go first, so that no process finds the dead one by name.
    // AcqRel: see `ProcShared::name`.
    let name = shared.name.swap(0, Ordering::AcqRel);
    if name != 0 {
        names::unregister(Atom::from_index(name - 1), Some(me));
        if events::on(p.shared(), flags::PROCS) {
            events::of_process(p, flags::PROCS, "unregister", &[Atom::from_index(name - 1).into()]);
        }
    }
    for hook in HOOKS.iter().map_while(OnceLock::get) {
        hook(p);
    }
    if crate::heap::private::long_gc::is_due(p) || crate::heap::private::long_gc::holds_back(p) {
        crate::heap::private::long_gc::give_up(p);
    }
    // Processes that it suspended go on.
    for suspending in p.rare_if_any().iter().flat_map(|r| &r.suspending) {
        let count = suspending.count;
        crate::signal::send::call_in(suspending.pid, move |other| {
            if let Some(other) = other {
                crate::signal::send::resume(other, count);
            }
        });
    }
    // From here on the process is not in the table; signals that still arrive are answered below.
    proctab::remove(shared);
    let reason = p.exit_reason;
    // Signals that came before the end still count: a link or monitor among them is answered like the others.
    let mut list = shared.state.close();
    tell_relations(p, reason);
    while !list.is_null() {
        // SAFETY: the list was taken whole.
        unsafe {
            let signal = Box::from_raw(list);
            list = signal.next;
            answer_for_dead(p, *signal);
        }
    }
    if shared.is_port()
        && let Some((to, message)) = p.rare().last_words.take()
    {
        crate::signal::send::message_from(p.pid_term(), to, message);
    }
    crate::trace::meters::flush(p);
    let traced = p.shared().trace.load(Ordering::Relaxed);
    if traced & flags::TIMED != 0 {
        timer_refs::receiver_ended();
    }
    if traced & !flags::TIMED != 0 {
        if events::on(p.shared(), flags::EXITING) {
            events::scheduled_out_dead(p);
        }
        tracees::forget_process(p.shared());
    }
}

/// Sends what links and monitors ask for, and removes them. The reason is in the process's heap.
#[inline]
fn tell_relations(p: &mut Process, reason: Term) {
    let me = p.pid_term();
    let Some(inner) = p.relations.take() else { return };
    let are_several = inner.links.len() + inner.watchers.len() > 1;
    let packed = if are_several { mode::pack_reason_once(p, reason) } else { None };
    let reason = packed.as_ref().map_or(reason, Package::term);
    for (&other, link) in &inner.links {
        if link.active {
            let token = if seq::has_token(p) { seq::exiting(p, other, reason) } else { None };
            // A port may take the reason to any thread.
            let pack = |reason| if other.is_local_pid() { mode::pack_reason(p, reason) } else { Package::new(reason) };
            send_exit_with(me, other, reason, true, token, pack);
        }
    }
    let mut tell = |reference, watcher: Watcher| {
        if watcher.watcher == links::OUTSIDE {
            links::tell_outside(reference, id_of(me));
        } else if let Some(to) = proctab::find(watcher.watcher) {
            let _ = deliver(to, Signal::new(SignalBody::Down { reference, reason: mode::pack_reason(p, reason) }));
        }
    };
    match inner.watchers.len() {
        0 => {}
        1 => inner.watchers.iter().for_each(|(reference, watcher)| tell(*reference, *watcher)),
        _ => inner.watchers_in_order().into_iter().for_each(|(reference, watcher)| tell(reference, watcher)),
    }
    for (reference, m) in inner.monitoring {
        if (m.target.is_local_pid() || m.target.is_local_port())
            && let Some(to) = proctab::find(m.target)
        {
            let _ = deliver(to, Signal::new(SignalBody::Demonitor { reference }));
        }
    }
    if let Some(remote) = inner.remote {
        crate::lifecycle::remote::ended(p, *remote, reason);
    }
}

/// To others the process is as good as ended: it has no name, no links and no monitors. It runs on.
pub(crate) fn sever(p: &mut Process, reason: Term) {
    let name = p.shared().name.swap(0, Ordering::AcqRel);
    if name != 0 {
        names::unregister(Atom::from_index(name - 1), Some(p.pid_term()));
    }
    let reason = mode::own_reason(p, reason);
    tell_relations(p, reason);
}

/// A signal that reached a process which is ending.
pub(crate) fn answer_for_dead(p: &mut Process, signal: Signal) {
    let me = p.pid_term();
    // While it is still ending, later monitors see its reason; once it is out of the table they see noproc.
    match signal.body {
        SignalBody::Link { from } => send_exit(me, from, am::NOPROC.into(), true),
        SignalBody::Monitor { watcher, reference, .. } => {
            if watcher == links::OUTSIDE {
                links::tell_outside(reference, id_of(me));
            } else if let Some(to) = proctab::find(watcher) {
                let _ = deliver(to, Signal::new(SignalBody::Down { reference, reason: Package::immediate(am::NOPROC.into()) }));
            }
        }
        SignalBody::Unlink { from, id } => {
            if let Some(inner) = p.relations.get_mut() {
                inner.links.remove(&from);
            }
            if let Some(to) = proctab::find(from) {
                let _ = deliver(to, Signal::new(SignalBody::UnlinkAck { from: me, id }));
            }
        }
        SignalBody::Demonitor { reference } => {
            if let Some(inner) = p.relations.get_mut() {
                inner.watchers.remove(&reference);
            }
        }
        SignalBody::Remote(remote) => crate::lifecycle::remote::answer_for_dead(p.pid(), *remote),
        SignalBody::Call(f) => f(None),
        _ => {}
    }
}

/// `{Reason, StackTrace}` for errors, `{{nocatch, Value}, StackTrace}` for throws, the reason itself for exits.
pub fn uncaught_reason(p: &mut Process, class: crate::process::ExceptionClass, reason: Term, trace: Term) -> Term {
    use crate::process::ExceptionClass;
    match class {
        ExceptionClass::Exit => reason,
        ExceptionClass::Error => p.heap.tuple(&[reason, trace]),
        ExceptionClass::Throw => {
            let inner = p.heap.tuple(&[am::NOCATCH.into(), reason]);
            p.heap.tuple(&[inner, trace])
        }
    }
}

/// The report of a process that ended by an uncaught error, as the emulator sends it to the logger.
pub fn log_uncaught(p: &mut Process, class: crate::process::ExceptionClass) {
    if class == crate::process::ExceptionClass::Exit {
        return;
    }
    let pid = p.pid_term();
    let reason = p.exit_reason;
    if crate::process::nodes::nodes().is_alive() {
        let node = heddle_term::node::name().into();
        log("error", "Error in process ~p on node ~p with exit value:~n~p~n", &[pid, node, reason], p.group_leader);
    } else {
        log("error", "Error in process ~p with exit value:~n~p~n", &[pid, reason], p.group_leader);
    }
}

/// A message of the VM itself about what `p` does.
pub fn log_of(p: &Process, level: &str, text: &str) {
    let package = Package::build(|heap| heap.string(text));
    log(level, "~ts~n", &[package.term()], p.group_leader);
}

/// A message of the VM itself.
pub fn log_message(level: &str, text: &str) {
    let package = Package::build(|heap| heap.string(text));
    log(level, "~ts~n", &[package.term()], Term::NONE);
}

/// The receiver of the VM's log messages: `system_flag(system_logger, _)`. 0 = the process registered as `logger`, `NO_LOGGER` =
/// none (`undefined`), else one more than the number of a pid.
pub static SYSTEM_LOGGER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
pub const NO_LOGGER: u64 = u64::MAX;

fn log(level: &str, format: &str, args: &[Term], group_leader: Term) {
    let receiver = match SYSTEM_LOGGER.load(Ordering::Relaxed) {
        0 => names::whereis(am::LOGGER),
        NO_LOGGER => return,
        pid if crate::process::proctab::lookup(pid - 1).is_some() => Some(Term::local_pid(pid - 1)),
        // It ended: from now on the registered process gets the messages again.
        _ => {
            SYSTEM_LOGGER.store(0, Ordering::Relaxed);
            names::whereis(am::LOGGER)
        }
    };
    let message = Package::build(|heap| {
        let args: Vec<Term> = args.iter().map(|&a| heap.copy(a)).collect();
        let pid = args.first().copied().filter(|a| a.is_pid()).unwrap_or(Term::atom(am::UNDEFINED));
        let args = heap.list(&args);
        let format = heap.string(format);
        let mut meta = heddle_term::map::empty();
        let leader = if group_leader.is_none() { am::UNDEFINED.into() } else { heap.copy(group_leader) };
        let time = heap.integer(crate::base::time::system_ns() / 1000);
        let tag = heddle_term::map::put(heap, heddle_term::map::empty(), Atom::new("tag").into(), Atom::new(level).into());
        let tag = heddle_term::map::put(heap, tag, Atom::new("emulator").into(), Term::bool(true));
        for (key, value) in [("gl", leader), ("pid", pid), ("time", time), ("error_logger", tag)] {
            if !value.is_atom_of(am::UNDEFINED) {
                meta = heddle_term::map::put(heap, meta, Atom::new(key).into(), value);
            }
        }
        heap.tuple(&[Atom::new("log").into(), Atom::new(level).into(), format, args, meta])
    });
    match receiver {
        Some(to) if to.is_local_pid() => {
            crate::signal::send::message_to_pid(to.payload(), message);
        }
        _ => heddle_term::complain!(
            "(no logger present) unexpected logger message: {}\n",
            heddle_term::text::display::to_string(message.term())
        ),
    }
}

/// `max_heap_size` was exceeded: reports as asked. True if the process must be killed.
pub fn max_heap_reached(p: &mut Process) -> bool {
    if !mode::is_over_limit(p) {
        return false;
    }
    let max = p.max_heap();
    if max.error_logger {
        let format = "     Process:            ~p ~n     Context:            maximum heap size reached~n     Max Heap Size:      ~p~n     Total Heap Size:    ~p~n     Kill:               ~p~n     Error Logger:       ~p~n     Message Queue Len:  ~p~n";
        let small = |n: usize| Term::small(n as i64);
        let args = [
            p.pid_term(),
            small(max.size_words),
            small(p.total_heap_words()),
            Term::bool(max.kill),
            Term::bool(max.error_logger),
            small(p.messages.len()),
        ];
        log("error", format, &args, p.group_leader);
    }
    if max.kill {
        p.exit_reason = am::KILLED.into();
    }
    max.kill
}
