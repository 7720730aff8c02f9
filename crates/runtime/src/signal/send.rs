//! Sending: from processes and from Rust threads. A sender writes to the receiver's inbox and wakes it, nothing else.

use crate::base::level::Priority;
use crate::base::refs;
use crate::base::refs::RefId;
use crate::heap::mode;
use crate::observe::messages;
use crate::observe::messages::{Cost, Timed};
use crate::process::host::host;
use crate::process::links::{AliasMode, Link, MonitorKind, Monitoring};
use crate::process::nodes::Destination;
use crate::process::{FLAG_AT_PORT, FLAG_TASK, ProcRef, ProcShared, Process};
use crate::process::{names, proctab};
use crate::sched;
use crate::signal::outgoing::{self, Outgoing};
use crate::signal::package::Package;
use crate::signal::send_remote;
use crate::signal::undecoded;
use crate::signal::{Signal, SignalBody};
use crate::trace::token::Token;
use crate::trace::{events, flags, seq, tracees};
use heddle_term::{Atom, Kind, Term, am};

/// Puts a signal in the inbox, which wakes the receiver. Returns the signal as an error if the receiver takes no more.
pub fn deliver(to: ProcRef, signal: Box<Signal>) -> Result<(), Box<Signal>> {
    let put = to.state.push(signal)?;
    sched::is_woken(to, put);
    Ok(())
}

/// As `deliver`, for a message.
#[inline(always)]
fn deliver_message(to: ProcRef, message: Outgoing) -> Result<(), Box<Signal>> {
    let put = to.state.push_message(message)?;
    sched::is_woken(to, put);
    Ok(())
}

/// A message that the VM itself sends. Dropped if the receiver has ended.
pub fn message_to_pid(pid: u64, message: Package) -> bool {
    message_from(Term::NONE, pid, message)
}

/// As `message_to_pid`, with the sender that traces tell, as in `events::receive`.
pub fn message_from(from: Term, pid: u64, message: Package) -> bool {
    let _guard = crate::base::qsbr::guard();
    match proctab::lookup(pid) {
        Some(to) => {
            // The message was copied when it was made.
            let _ = messages::to(to.ran_on(), Cost::of_copy(message.words()));
            deliver(to, Signal::message_of(from, message)).is_ok()
        }
        None => false,
    }
}

/// Appends a message to the queue of the process in which this runs: at once, so that a `demonitor` that flushes finds it.
pub(crate) fn to_own_queue(p: &mut Process, from: Term, message: Package) {
    if events::on(p.shared(), flags::RECEIVE) {
        events::receive(p, from, message.term());
    }
    p.messages.append(Signal::message_of(from, message));
}

/// Makes a waiting process check again what it waits for.
pub fn wake(pid: u64) {
    let _guard = crate::base::qsbr::guard();
    if let Some(to) = proctab::lookup(pid) {
        let _ = deliver(to, Signal::new(SignalBody::Wake));
    }
}

/// Undoes `count` suspensions of the process, which the caller owns.
pub fn resume(p: &mut Process, count: u32) {
    p.suspend_count = p.suspend_count.saturating_sub(count);
    if p.suspend_count == 0 {
        undecoded::decode(p);
        p.shared().state.set_suspended(false);
        // It may have had a reason to run all along.
        let _ = deliver(p.proc_ref(), Signal::new(SignalBody::Wake));
    }
}

/// Sends a message built by `build` to a pid.
pub fn build_message(pid: u64, build: impl FnOnce(&mut heddle_term::Heap) -> Term) -> bool {
    message_to_pid(pid, Package::build(build))
}

/// The result of `Dest ! Message`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    Ok,
    /// A name that is not registered, or a term that is no destination.
    BadArg,
    /// The destination is on another node, and there is no connection.
    NoConnection,
    /// A busy port: nothing was sent.
    Busy,
    /// The same, but a dirty scheduler sends it.
    Long,
    /// Too large for another node: nothing was sent.
    TooLarge,
}

/// `Dest ! Message`.
#[inline]
pub fn send(p: &mut Process, dest: Term, message: Term) -> Sent {
    if events::on(p.shared(), flags::SEND | flags::TOKEN) {
        return traced_send(p, dest, message);
    }
    send_quietly(p, dest, message)
}

/// Tells the tracers before the message can arrive.
#[cold]
fn traced_send(p: &mut Process, dest: Term, message: Term) -> Sent {
    let named = match dest.as_tuple() {
        Some(&[name, node]) if node.is_atom_of(node_name()) => name,
        _ => dest,
    };
    let receiver = match named.as_atom() {
        Some(name) => names::whereis(name),
        None if dest.is_local_pid() => proctab::lookup(dest.payload()).map(|_| dest),
        None => Some(dest),
    };
    if p.flags & FLAG_AT_PORT != 0 {
        // It was told when the process began to wait.
        let token = if seq::has_token(p) { seq::token(p).cloned().map(Box::new) } else { None };
        return post(p, dest, message, token);
    }
    // The serial number of the token counts only messages that some process gets.
    let gets_token = receiver.is_some_and(|r| r.is_local_pid() || alias_process(r).is_some() || Destination::of(r).is_some());
    // A destination that is not a registered name is shown as it is; a process that has ended is shown as none.
    let receiver = receiver.unwrap_or(if named.is_atom() { dest } else { Term::NONE });
    if events::on(p.shared(), flags::SEND) {
        events::send(p, dest, receiver, message);
    }
    let token = if gets_token && seq::has_token(p) { seq::sent(p, receiver, message) } else { None };
    post(p, dest, message, token)
}

/// The process that an alias leads to.
fn alias_process(dest: Term) -> Option<ProcRef> {
    // An alias contains the number of its process; any other reference leads nowhere.
    if dest.kind() != Some(Kind::Ref) || dest.header().arity() != 3 {
        return None;
    }
    proctab::lookup(dest.word(2))
}

/// `Dest ! Message` that is not traced: what the VM sends in a process's name.
#[inline]
pub(crate) fn send_quietly(p: &mut Process, dest: Term, message: Term) -> Sent {
    post(p, dest, message, None)
}

#[inline]
fn post(p: &mut Process, dest: Term, message: Term, token: Option<Box<Token>>) -> Sent {
    if dest.is_local_pid() {
        send_pid(p, dest.payload(), message, token);
        return Sent::Ok;
    }
    send_other(p, dest, message, token)
}

#[inline]
fn send_pid(p: &mut Process, pid: u64, message: Term, token: Option<Box<Token>>) {
    if pid == p.pid() {
        return send_itself(p, message, token);
    }
    let Some(to) = proctab::lookup_to_send(pid) else { return };
    // A message that needs no memory besides its signal takes this short path.
    if token.is_none()
        && let Some(message) = outgoing::bare(p, message, |cost| messages::to(to.ran_on(), cost))
    {
        let _ = deliver_message(to, message);
        return;
    }
    send_data(p, to, message, token);
}

#[inline(never)]
fn send_data(p: &mut Process, to: ProcRef, message: Term, token: Option<Box<Token>>) {
    let _ = deliver_message(to, pack(p, &to, message, token, |cost| messages::to(to.ran_on(), cost)));
}

/// Needs no wake-up, but goes through the inbox, so that the order with other signals holds.
#[inline(never)]
fn send_itself(p: &mut Process, message: Term, token: Option<Box<Token>>) {
    let myself = p.proc_ref();
    let bare = if token.is_none() { outgoing::bare(p, message, messages::to_myself) } else { None };
    let message = bare.unwrap_or_else(|| pack(p, &myself, message, token, messages::to_myself));
    myself.state.push_message_to_itself(message);
}

/// The signal that brings `message`, of `p`'s heap, to the process `to`, which may be `p` itself.
#[inline(always)]
fn pack(p: &mut Process, to: &ProcShared, message: Term, token: Option<Box<Token>>, count: impl FnOnce(Cost) -> Timed) -> Outgoing {
    if token.is_some() {
        let (from, data) = (Term::local_pid(p.pid()), mode::pack_data(p, message, count));
        return outgoing::with_token(from, data, token);
    }
    mode::pack(p, to, message, count)
}

fn send_other(p: &mut Process, dest: Term, message: Term, token: Option<Box<Token>>) -> Sent {
    if let Some(name) = dest.as_atom() {
        return match names::whereis(name) {
            Some(id) => post(p, id, message, token),
            None => Sent::BadArg,
        };
    }
    if dest.is_local_port() {
        let waits = p.flags & FLAG_TASK == 0;
        return if host().send_to_port(p, dest, message, waits) { Sent::Ok } else { Sent::Busy };
    }
    match dest.kind() {
        Some(Kind::Ref) => {
            if let (Some(alias), Some(to)) = (RefId::of(dest), alias_process(dest)) {
                let (from, data) = (p.pid_term(), mode::pack_data(p, message, |cost| messages::to(to.ran_on(), cost)));
                let _ = deliver(to, Signal::new(SignalBody::AliasMessage { alias: alias.words(), from, data, token }));
            }
            Sent::Ok
        }
        Some(Kind::MagicRef) => Sent::Ok,
        Some(Kind::ExtPid | Kind::ExtRef) => match Destination::of(dest) {
            Some(to) => send_remote::send(p, to, message, token),
            // Of an earlier life of this node, or no alias.
            None => Sent::Ok,
        },
        Some(Kind::ExtPort) => Sent::BadArg,
        Some(Kind::Tuple) => match dest.as_tuple() {
            Some([name, node]) if name.is_atom() && node.is_atom_of(node_name()) => match name.as_atom().and_then(names::whereis) {
                Some(id) => post(p, id, message, token),
                None => Sent::Ok,
            },
            Some(_) if let Some(to) = Destination::of(dest) => send_remote::send(p, to, message, token),
            _ => Sent::BadArg,
        },
        _ => Sent::BadArg,
    }
}

pub fn node_name() -> Atom {
    heddle_term::node::name()
}

// ---- links ----

/// `link/1` to a local pid or port. False if it does not exist; but a process that traps exits, or is a task, gets an exit signal
/// instead, and the result is true.
#[must_use]
pub fn link(p: &mut Process, other: Term) -> bool {
    if other == p.pid_term() {
        return true;
    }
    let inner = p.relations.make();
    match inner.links.get_mut(&other) {
        Some(l) if l.active => return true,
        Some(l) => *l = Link { active: true, unlinking: 0 },
        None => {
            inner.links.insert(other, Link { active: true, unlinking: 0 });
        }
    }
    let me = p.pid_term();
    if events::on(p.shared(), flags::PROCS | flags::ON_LINK | flags::ON_FIRST_LINK) {
        traced_link(p, other);
    }
    let exists = proctab::find(other).is_some_and(|to| deliver(to, Signal::new(SignalBody::Link { from: me })).is_ok());
    if !exists {
        p.relations.make().links.remove(&other);
        if !p.trap_exit && p.flags & FLAG_TASK == 0 {
            return false;
        }
        // There is no link, so a later unlink does not drop the signal.
        p.shared().state.push_to_itself(Signal::new(SignalBody::Exit {
            from: other,
            reason: Package::immediate(am::NOPROC.into()),
            linked: false,
            kill: false,
            token: None,
        }));
    }
    true
}

#[cold]
fn traced_link(p: &Process, other: Term) {
    events::of_process(p, flags::PROCS, "link", &[other]);
    if other.is_local_pid()
        && let Some(to) = proctab::lookup(other.payload())
    {
        tracees::inherit_at_link(p.shared(), &to);
    }
}

/// `unlink/1`: no exit signal over this link is seen after it returns.
pub fn unlink(p: &mut Process, other: Term) {
    let me = p.pid_term();
    if events::on(p.shared(), flags::PROCS) {
        events::of_process(p, flags::PROCS, "unlink", &[other]);
    }
    let Some(inner) = p.relations.get_mut() else { return };
    let Some(l) = inner.links.get_mut(&other) else { return };
    if !l.active {
        return;
    }
    inner.last_unlink += 1;
    let id = inner.last_unlink;
    *l = Link { active: false, unlinking: id };
    let sent = proctab::find(other).is_some_and(|to| deliver(to, Signal::new(SignalBody::Unlink { from: me, id })).is_ok());
    if !sent {
        inner.links.remove(&other);
    }
}

// ---- monitors ----

/// Starts to monitor. The 'DOWN' for a target that does not exist comes as a signal to ourselves.
pub fn monitor(
    p: &mut Process,
    kind: MonitorKind,
    target: Term,
    name: Option<Atom>,
    reference: RefId,
    alias: AliasMode,
    tag: Option<Package>,
) {
    let me = p.pid_term();
    if target == me {
        // Never fires, and does not show anywhere; only its alias counts.
        if alias != AliasMode::None {
            p.relations.make().aliases.insert(reference, alias);
        }
        return;
    }
    let inner = p.relations.make();
    inner.monitoring.insert(reference, Monitoring { target, name, alias, tag, kind });
    if alias != AliasMode::None {
        inner.aliases.insert(reference, alias);
    }
    let to = if target.is_none() { None } else { proctab::find(target) };
    let exists = to.is_some_and(|to| deliver(to, Signal::new(SignalBody::Monitor { watcher: me, reference, name })).is_ok());
    if !exists {
        p.shared().state.push_to_itself(Signal::new(SignalBody::Down { reference, reason: Package::immediate(am::NOPROC.into()) }));
    }
}

/// `demonitor/1`: true if the monitor existed.
pub fn demonitor(p: &mut Process, reference: RefId) -> bool {
    end_monitor(p, reference) != Demonitored::Nothing
}

/// What `end_monitor` found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Demonitored {
    Nothing,
    /// A monitor that tells once, when what it monitors has gone.
    Once,
    /// One that tells of each change (of the time offset).
    Often,
}

/// As `demonitor`.
pub fn end_monitor(p: &mut Process, reference: RefId) -> Demonitored {
    let Some(inner) = p.relations.get_mut() else { return Demonitored::Nothing };
    // A process's monitor of itself is only an alias.
    if matches!(inner.aliases.get(&reference), Some(AliasMode::Demonitor | AliasMode::ReplyDemonitor)) {
        inner.aliases.remove(&reference);
    }
    let Some(m) = inner.monitoring.remove(&reference) else {
        let is_remote = inner.remote.is_some() && send_remote::demonitor(p, reference);
        return if is_remote { Demonitored::Once } else { Demonitored::Nothing };
    };
    if (m.target.is_local_pid() || m.target.is_local_port())
        && let Some(to) = proctab::find(m.target)
    {
        let _ = deliver(to, Signal::new(SignalBody::Demonitor { reference }));
    }
    if m.kind == MonitorKind::TimeOffset { Demonitored::Often } else { Demonitored::Once }
}

/// `exit/2`.
pub fn exit_signal(p: &mut Process, to: Term, reason: Term) {
    let from = p.pid_term();
    let token = if seq::has_token(p) { seq::exiting(p, to, reason) } else { None };
    send_exit_with(from, to, reason, false, token, Package::new);
}

pub fn send_exit(from: Term, to: Term, reason: Term, linked: bool) {
    send_exit_with(from, to, reason, linked, None, Package::new);
}

/// `pack` packs the reason for the receiver; it is not called if the receiver does not exist.
pub(crate) fn send_exit_with(
    from: Term,
    to: Term,
    reason: Term,
    linked: bool,
    token: Option<Box<Token>>,
    pack: impl FnOnce(Term) -> Package,
) {
    let kill = !linked && reason.is_atom_of(am::KILL);
    if let Some(to) = proctab::find(to) {
        let _ = deliver(to, Signal::new(SignalBody::Exit { from, reason: pack(reason), linked, kill, token }));
    }
}

/// As `call_in`, for `asker`, which waits for what `f` does: the other process handles its signals with the priority of the asker,
/// if that is higher.
pub fn ask(asker: &Process, pid: u64, f: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    ask_as(asker.priority, pid, f)
}

pub fn ask_as(priority: Priority, pid: u64, f: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    let Some(to) = proctab::lookup(pid) else { return f(None) };
    match to.state.push_for(Signal::new(SignalBody::Call(Box::new(f))), priority) {
        Ok(put) => sched::is_woken_for(to, put, priority),
        Err(signal) => {
            if let SignalBody::Call(f) = signal.body {
                f(None);
            }
        }
    }
}

/// Runs `f` inside the other process, in order with its signals. `f` gets None if that process has ended.
pub fn call_in(pid: u64, f: impl FnOnce(Option<&mut Process>) + Send + 'static) {
    match proctab::lookup(pid) {
        None => f(None),
        Some(to) => {
            if let Err(signal) = deliver(to, Signal::new(SignalBody::Call(Box::new(f))))
                && let SignalBody::Call(f) = signal.body
            {
                f(None);
            }
        }
    }
}

/// Runs `f` in the other process as `ask` does, and returns the reference with which its answer, an immediate term, comes: as
/// `{Reference, Answer}`.
pub fn ask_for(p: &mut Process, pid: u64, f: impl FnOnce(Option<&mut Process>) -> Term + Send + 'static) -> Term {
    let me = p.pid();
    let (reference, id) = fresh_reference(&mut p.heap);
    ask(p, pid, move |other| {
        let answer = f(other);
        build_message(me, |heap| {
            let reference = heap.reference(id.words());
            heap.tuple(&[reference, answer])
        });
    });
    reference
}

pub fn fresh_reference(heap: &mut heddle_term::Heap) -> (Term, RefId) {
    let id = refs::fresh();
    (heap.reference(id.words()), id)
}
