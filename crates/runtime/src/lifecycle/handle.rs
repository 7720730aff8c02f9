//! What a process does with the signals in its inbox. Runs in the receiver, so it may use all of the process.

use crate::RefId;
use crate::heap::mode;
use crate::process::host::host;
use crate::process::links::{AliasMode, Link, MonitorKind};
use crate::process::proctab;
use crate::process::{FLAG_ENDS, FLAG_TASK, Process};
use crate::signal::inbox::Arrived;
use crate::signal::package::Package;
use crate::signal::send::{deliver, node_name};
use crate::signal::{Signal, SignalBody};
use crate::task;
use crate::trace::system_monitor;
use crate::trace::{events, flags, meters};
use heddle_term::{Heap, Term, am};
use std::ptr::null_mut;

#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    Continue,
    /// An exit signal was fatal; `exit_reason` is set.
    Exit,
}

/// A receiver that drains at least this many messages at once is expected to receive as many again before its next drain.
const LONG_QUEUE: u32 = 64;

/// Handles everything that arrived; messages go to the inner queue.
pub fn drain(p: &mut Process) -> After {
    if !p.shared().state.has_signals() {
        return After::Continue;
    }
    p.shared().begin_handling();
    let arrived = p.shared().state.take_signals();
    receive(p, arrived)
}

/// As `drain`, with signals that the caller took. Nothing of the process may have moved since they were taken.
#[inline(never)]
pub fn receive(p: &mut Process, arrived: Arrived) -> After {
    // Messages that are taken and not yet in the queue are no roots, so no collection may move terms.
    let hold = mode::hold();
    let signals = arrived.in_order();
    let mut messages = 0;
    let mut list = signals.first;
    // Mostly there are only messages, and these are a list already.
    if signals.are_messages && !events::on(p.shared(), flags::RECEIVE) {
        messages = signals.len;
        list = null_mut();
        p.messages.append_all(signals);
        system_monitor::queued(p);
    }
    while !list.is_null() {
        // SAFETY: the list was taken whole; each node is unlinked before use.
        let signal = unsafe {
            let signal = Box::from_raw(list);
            list = signal.next;
            signal
        };
        if matches!(signal.body, SignalBody::Message { .. } | SignalBody::Small { .. }) {
            messages += 1;
            append(p, signal);
            continue;
        }
        if handle(p, signal) == After::Exit {
            // The remaining signals are answered as a dead process answers.
            while !list.is_null() {
                // SAFETY: the list was taken whole; each node is unlinked before use.
                unsafe {
                    let signal = Box::from_raw(list);
                    list = signal.next;
                    crate::lifecycle::exit::answer_for_dead(p, *signal);
                }
            }
            return After::Exit;
        }
    }
    p.shared().end_handling();
    // A receiver that drained many messages at once is expected to be sent as many before it drains again.
    if hold.is_some() && messages < LONG_QUEUE {
        p.shared().begin_turn();
    }
    After::Continue
}

#[inline(never)]
fn handle(p: &mut Process, mut signal: Box<Signal>) -> After {
    match &mut signal.body {
        SignalBody::Message { .. } | SignalBody::Small { .. } => append(p, signal),
        SignalBody::AliasMessage { alias, from, data, token } => {
            let Some(inner) = p.relations.get_mut() else { return After::Continue };
            let alias = RefId::from_words(*alias);
            let Some(mode) = inner.aliases.get(&alias).copied() else { return After::Continue };
            if matches!(mode, AliasMode::ReplyDemonitor | AliasMode::Reply) {
                inner.aliases.remove(&alias);
                if mode == AliasMode::ReplyDemonitor {
                    crate::signal::send::demonitor(p, alias);
                }
            }
            let data = std::mem::replace(data, Package::immediate(Term::NIL));
            // From now on it is a message like the others.
            signal.body = SignalBody::message(*from, data, token.take());
            append(p, signal);
        }
        SignalBody::Exit { from, reason, linked, kill, token } => {
            let from_term = *from;
            if p.shared().is_port() {
                return exit_of_port(p, from_term, reason.term(), *linked);
            }
            if *linked {
                // Only an active link carries the signal.
                match p.relations.get_mut().and_then(|i| i.links.remove(&from_term)) {
                    Some(link) if link.active => {
                        // The tracer of a process that the signal ends is told only of its end.
                        let fatal = !p.trap_exit && !reason.term().is_atom_of(am::NORMAL);
                        if !fatal && events::on(p.shared(), flags::PROCS) {
                            events::of_process(p, flags::PROCS, "getting_unlinked", &[from_term]);
                        }
                    }
                    Some(link) => {
                        // Our unlink is on its way. Keep the entry, though the ended process will not acknowledge the unlink.
                        let _ = link;
                        return After::Continue;
                    }
                    None => return After::Continue,
                }
            }
            if *kill {
                p.exit_reason = am::KILLED.into();
                return After::Exit;
            }
            if p.trap_exit {
                let message = with_reason(p, reason, |heap, reason| {
                    let from = heap.copy(from_term);
                    heap.tuple(&[am::EXIT_UPPER.into(), from, reason])
                });
                append(p, Signal::message_with(from_term, message, token.take()));
                return After::Continue;
            }
            let is_normal = reason.term().is_atom_of(am::NORMAL);
            if is_normal && from_term != p.pid_term() {
                return After::Continue;
            }
            let reason = std::mem::replace(reason, Package::immediate(Term::NIL));
            p.exit_reason = in_heap(p, |heap| match reason.shared_term() {
                // A native replaced the heap by memory of its own, which the collector does not search for terms of the shared
                // heap.
                Some(reason) if !heap.lends_terms() => heap.copy(reason),
                _ => reason.unpack(heap),
            });
            return After::Exit;
        }
        SignalBody::Link { from } => {
            let from = *from;
            if events::on(p.shared(), flags::PROCS) {
                events::of_process(p, flags::PROCS, "getting_linked", &[from]);
            }
            let inner = p.relations.make();
            let mut is_new = false;
            inner.links.entry(from).or_insert_with(|| {
                is_new = true;
                Link { active: true, unlinking: 0 }
            });
            if is_new && p.shared().is_port() {
                port_linked(p, from, true);
            }
        }
        SignalBody::Unlink { from, id } => {
            let (from, id) = (*from, *id);
            if let Some(inner) = p.relations.get_mut()
                && inner.links.get(&from).is_some_and(|l| l.active)
            {
                inner.links.remove(&from);
                if events::on(p.shared(), flags::PROCS) {
                    events::of_process(p, flags::PROCS, "getting_unlinked", &[from]);
                }
                if p.shared().is_port() {
                    port_linked(p, from, false);
                }
            }
            if let Some(to) = proctab::find(from) {
                let _ = deliver(to, Signal::new(SignalBody::UnlinkAck { from: p.pid_term(), id }));
            }
        }
        SignalBody::UnlinkAck { from, id } => {
            if let Some(inner) = p.relations.get_mut()
                && inner.links.get(from).is_some_and(|l| !l.active && l.unlinking == *id)
            {
                inner.links.remove(from);
            }
        }
        SignalBody::Monitor { watcher, reference, name } => {
            p.relations.make().watch(*reference, *watcher, *name);
        }
        SignalBody::Demonitor { reference } => {
            if let Some(inner) = p.relations.get_mut() {
                inner.watchers.remove(reference);
            }
        }
        SignalBody::Down { reference, reason } => {
            let reference = *reference;
            let Some(inner) = p.relations.get_mut() else { return After::Continue };
            let Some(m) = inner.monitoring.remove(&reference) else { return After::Continue };
            if m.alias == AliasMode::Demonitor || m.alias == AliasMode::ReplyDemonitor {
                inner.aliases.remove(&reference);
            }
            let pid = p.pid();
            let from = if matches!(m.kind, MonitorKind::TimeOffset) { Term::NONE } else { m.target };
            let message = with_reason(p, reason, |heap, reason| {
                let tag = m.tag.as_ref().map_or(am::DOWN_UPPER.into(), |t| heap.copy(t.term()));
                let reference = match m.alias {
                    AliasMode::None => heap.reference(reference.words()),
                    _ => heap.alias_reference(reference.words(), pid),
                };
                let kind = match m.kind {
                    MonitorKind::Process => am::PROCESS,
                    MonitorKind::Port => am::PORT,
                    MonitorKind::TimeOffset => am::TIME_OFFSET,
                };
                let object = match m.name {
                    Some(name) => heap.tuple(&[name.into(), node_name().into()]),
                    None => heap.copy(m.target),
                };
                heap.tuple(&[tag, reference, kind.into(), object, reason])
            });
            append(p, Signal::message_of(from, message));
        }
        SignalBody::Remote(_) => {
            if let SignalBody::Remote(remote) = std::mem::replace(&mut signal.body, SignalBody::Wake) {
                return crate::lifecycle::remote::handle(p, *remote);
            }
        }
        SignalBody::Timeout(timer) => p.timer.fired(*timer),
        SignalBody::Wake => {}
        SignalBody::Call(f) => {
            let f = std::mem::replace(f, Box::new(|_| {}));
            f(Some(p));
            if p.flags & FLAG_ENDS != 0 {
                return After::Exit;
            }
        }
    }
    After::Continue
}

/// A message about an end. It is in the heap if the reason is in the shared heap; else in memory of its own, with a copy of the
/// reason.
fn with_reason(p: &mut Process, reason: &Package, build: impl FnOnce(&mut Heap, Term) -> Term) -> Package {
    match reason.shared_term() {
        // Not for a native task, which may have the message on a thread that the collector does not wait for.
        Some(reason) if p.heap.lends_terms() && p.flags & FLAG_TASK == 0 => Package::immediate(in_heap(p, |heap| build(heap, reason))),
        _ => Package::build(|heap| {
            let reason = heap.copy(reason.term());
            build(heap, reason)
        }),
    }
}

/// Makes a term on the heap that no function of the process itself made.
pub(crate) fn in_heap(p: &mut Process, make: impl FnOnce(&mut Heap) -> Term) -> Term {
    let before = meters::words(p);
    let made = make(&mut p.heap);
    if meters::on(p) {
        meters::message(p, (meters::words(p) - before) as usize, false);
    }
    made
}

/// The port's own task decides what an exit signal does to it. A link that carried one is removed.
#[cold]
fn exit_of_port(p: &mut Process, from: Term, reason: Term, linked: bool) -> After {
    if linked && p.relations.get_mut().and_then(|inner| inner.links.remove(&from)).is_none() {
        return After::Continue;
    }
    task::exit_signal(p, from, reason, linked);
    if p.flags & FLAG_ENDS != 0 { After::Exit } else { After::Continue }
}

#[cold]
fn port_linked(p: &Process, from: Term, on: bool) {
    host().port_linked(p.pid_term(), from, on);
}

/// Appends a message whose data is in the heap to the inner queue.
pub(crate) fn append_in_heap(p: &mut Process, from: Term, message: Term) {
    let signal = Signal::message_with(from, Package::immediate(message), None);
    if events::on(p.shared(), flags::RECEIVE) {
        events::receive(p, from, message);
    }
    p.messages.append_in_heap(signal);
    system_monitor::queued(p);
}

/// Appends a message to the inner queue.
#[inline(always)]
pub(crate) fn append(p: &mut Process, signal: Box<Signal>) {
    if events::on(p.shared(), flags::RECEIVE)
        && let SignalBody::Message { from, .. } | SignalBody::Small { from, .. } = signal.body
    {
        events::receive(p, from, signal.body.message_term());
    }
    p.messages.append(signal);
    system_monitor::queued(p);
}
