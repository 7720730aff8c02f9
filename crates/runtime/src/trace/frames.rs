//! Frames that tracing puts on a process' stack, and reports of returns.
//!
//! A trace frame looks like any frame: a continuation to an operation of the engine, and above it `WORDS` terms: module,
//! function, arity, session and tracer (`true`: the process' tracer at the time of the return).

use crate::process::Process;
use crate::process::stack;
use crate::trace::cells::{FrameKind, WORDS, kind};
use crate::trace::emit::Event;
use crate::trace::tracer::Tracer;
use crate::trace::{Traced, emit, flags, meters, sessions, tracees};
use crate::{Package, code};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Term};
use std::sync::atomic::Ordering;

/// True if there is such a frame among the trace frames on top of the stack. Then a tail call needs no other one.
pub(crate) fn on_top(p: &Process, wanted: FrameKind, session: Term) -> bool {
    let mut slot = p.stop;
    while slot < p.end {
        // SAFETY: the stack is initialised from `stop` to `end`, and a trace frame is whole.
        let (found, owner) = unsafe {
            let Some(found) = kind(Term::from_raw(*slot)) else { return false };
            (found, Term::from_raw(*slot.add(4)))
        };
        if found == wanted && owner == session {
            return true;
        }
        slot = slot.wrapping_add(1 + WORDS);
    }
    false
}

/// A metered function was left.
pub fn meter_left(p: &mut Process, frame: &[Term], what: crate::trace::meter::MeterKind) {
    let id = frame[3].small_value();
    meters::left(p, if id < 0 { u64::MAX } else { id as u64 }, what);
}

/// The function that the running one returns to.
pub fn caller(p: &Process) -> Option<code::Location> {
    code::locate(stack::callers(p).next()?.wrapping_sub(1))
}

pub fn mfa_term(heap: &mut heddle_term::Heap, mfa: Mfa) -> Term {
    heap.tuple(&[mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64)])
}

/// The tracer that a return must be reported to, by the frame's session and tracer. Nothing asks a tracer module if it wants the event.
fn receiver(p: &Process, frame: &[Term], wanted: u32) -> Option<Traced> {
    let id = frame[3].small_value();
    let id = if id < 0 { u64::MAX } else { id as u64 };
    if frame[4].is_atom() {
        let t = tracees::in_session(p.pid(), id)?;
        let is_wanted = t.flags & wanted == wanted && t.flags & flags::SILENT == 0;
        return (is_wanted && !t.tracer.is(p.pid_term()) && emit::is_traced(p.pid(), &t)).then_some(t);
    }
    let t = Traced { session: sessions::by_id(id)?, flags: flags::TIMESTAMP, tracer: Tracer::in_frame(frame[4])? };
    t.tracer.is_there(p.pid_term()).then_some(t)
}

/// The term of a session in a frame.
pub(crate) fn session_term(id: u64) -> Term {
    Term::small(if id == u64::MAX { -1 } else { id as i64 })
}

/// A function returned `value`.
pub fn returned(p: &mut Process, frame: &[Term], value: Term) {
    if p.sensitive {
        return;
    }
    if let Some(t) = receiver(p, frame, flags::CALL) {
        let mut heap = heddle_term::Heap::new();
        let mfa = heap.tuple(&frame[..3]);
        emit::emit(&t, &Event::new(p.pid_term(), flags::CALL, &[Atom::new("return_from").into(), mfa, value]));
        heap.clear();
    }
}

/// A function was left by an exception.
pub fn raised(p: &mut Process, frame: &[Term], class: Term, reason: Term) {
    if p.sensitive {
        return;
    }
    if let Some(t) = receiver(p, frame, flags::CALL) {
        let mut heap = heddle_term::Heap::new();
        let mfa = heap.tuple(&frame[..3]);
        let exception = heap.tuple(&[class, reason]);
        emit::emit(&t, &Event::new(p.pid_term(), flags::CALL, &[Atom::new("exception_from").into(), mfa, exception]));
        heap.clear();
    }
}

/// Execution continues in the function at `to`.
pub fn return_to(p: &mut Process, session: Term, to: *const u64) {
    if p.sensitive || p.shared().trace.load(Ordering::Relaxed) & flags::RETURN_TO == 0 {
        return;
    }
    let frame = [Term::NIL, Term::NIL, Term::NIL, session, Term::bool(true)];
    if let Some(t) = receiver(p, &frame, flags::CALL | flags::RETURN_TO) {
        let mut heap = heddle_term::Heap::new();
        let place = match code::locate(to) {
            Some(found) => mfa_term(&mut heap, found.mfa),
            None => Atom::new("undefined").into(),
        };
        emit::emit(&t, &Event::new(p.pid_term(), flags::RETURN_TO, &[Atom::new("return_to").into(), place]));
        heap.clear();
    }
}

/// A message for `p` itself, as `trace_delivered` sends it.
pub fn tell_self(p: &mut Process, message: Package) {
    crate::signal::send::message_to_pid(p.pid(), message);
}
