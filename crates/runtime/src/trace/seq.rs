//! Sequential tracing: a token that follows messages from process to process, and the reports to the system tracer.
//!
//! A process that has a token has a flag beside those of ordinary tracing (`flags::TOKEN`), so sending and receiving without a token test
//! nothing more than before.

use crate::process::{ProcShared, Process};
use crate::signal::package::Package;
use crate::trace::token::{Sender, SeqState, Token};
use crate::trace::tracer::{Tracer, Wish};
use crate::trace::{emit, events, flags};
use heddle_term::{Atom, Heap, Term, am};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

pub const SEND: u32 = 1;
pub(crate) const RECEIVE: u32 = 2;
pub const PRINT: u32 = 4;
/// Names of the flags of a token; the timestamps follow the order of their precedence.
pub(crate) const NAMES: &[(&str, u32)] = &[
    ("send", SEND),
    ("receive", RECEIVE),
    ("print", PRINT),
    ("timestamp", 8),
    ("strict_monotonic_timestamp", 16),
    ("monotonic_timestamp", 32),
];

pub fn named(name: &str) -> Option<u32> {
    NAMES.iter().find(|(n, _)| *n == name).map(|(_, bit)| *bit)
}

static TRACER: Mutex<Option<Tracer>> = Mutex::new(None);

/// The system tracer; None if it is gone.
pub fn tracer() -> Option<Tracer> {
    let tracer = TRACER.lock().unwrap().clone()?;
    if tracer.is_there(am::UNDEFINED.into()) {
        return Some(tracer);
    }
    let mut now = TRACER.lock().unwrap();
    if now.as_ref() == Some(&tracer) {
        *now = None;
    }
    None
}

pub fn set_tracer(new: Option<Tracer>) -> Option<Tracer> {
    let old = tracer();
    *TRACER.lock().unwrap() = new;
    old
}

/// True if there is a system tracer that does not want the events of this process.
fn is_unwanted(tracer: Option<&Tracer>, process: Term) -> bool {
    tracer.is_some_and(|t| t.wish(process, 0, Atom::new("seq_trace")) != Wish::Trace)
}

/// True if `p` has a token.
#[inline(always)]
pub fn has_token(p: &Process) -> bool {
    events::on(p.shared(), flags::TOKEN)
}

pub fn token(p: &Process) -> Option<&Token> {
    p.rare_if_any()?.seq.token.as_deref()
}

/// The token as a term, or [].
pub fn whole(p: &mut Process) -> Term {
    match token(p).cloned() {
        Some(token) => token.term(&mut p.heap),
        None => Term::NIL,
    }
}

/// `{Name, Value}` of a part of the token, or [] if there is no token to have it. None if tokens have no such part.
pub fn component(p: &mut Process, name: Term) -> Option<Term> {
    let token = token(p).cloned();
    let value = match (name.as_atom()?.name(), token) {
        ("spawn", None) => Term::bool(false),
        ("label" | "serial", None) => return Some(Term::NIL),
        ("label", Some(token)) => p.heap.copy(token.label.term()),
        ("serial", Some(token)) => p.heap.tuple(&[Term::small(token.previous), Term::small(token.serial)]),
        (flag, token) => named(flag).map(|bit| Term::bool(token.is_some_and(|t| t.flags & bit != 0)))?,
    };
    Some(p.heap.tuple(&[name, value]))
}

pub fn set_token(p: &mut Process, token: Option<Box<Token>>) {
    let shared = p.shared();
    // Relaxed: only the process itself reads this flag.
    match token {
        Some(_) => shared.trace.fetch_or(flags::TOKEN, Ordering::Relaxed),
        None => shared.trace.fetch_and(!flags::TOKEN, Ordering::Relaxed),
    };
    p.rare().seq.token = token;
}

/// The token, made if there is none.
pub fn token_to_change(p: &mut Process) -> &mut Token {
    if token(p).is_none() {
        let sender = Sender::local(p.pid());
        let previous = p.rare().seq.previous;
        set_token(p, Some(Box::new(Token { flags: 0, label: Package::immediate(Term::small(0)), serial: 0, sender, previous })));
    }
    p.rare().seq.token.as_mut().expect("just made")
}

/// The next event of `p`: advances the serial of its token. Returns false if there is no token, or `p` is the tracer.
pub fn update_serial(p: &mut Process) -> bool {
    let (pid, me) = (p.pid(), p.pid_term());
    if token(p).is_none() || is_unwanted(tracer().as_ref(), me) {
        return false;
    }
    let seq = &mut p.rare().seq;
    seq.clock += 1;
    if let Some(token) = &mut seq.token {
        token.sender = Sender::local(pid);
        token.serial = seq.clock;
        token.previous = seq.previous;
    }
    true
}

/// Reports `{seq_trace, Label, {Kind, {Previous, Serial}, Sender, Receiver, Message}}`, perhaps with a time, if the token has the flag for
/// it.
pub fn tell(token: &Token, kind: u32, receiver: Term, message: Term, p: Option<&Process>) {
    let Some(tracer) = tracer() else { return };
    let process = p.map_or(am::UNDEFINED.into(), |p| p.pid_term());
    if token.flags & kind == 0 || p.is_some_and(|p| p.sensitive) || is_unwanted(Some(&tracer), process) {
        return;
    }
    let tag = match kind {
        SEND => "send",
        RECEIVE => "receive",
        _ => "print",
    };
    let mut heap = Heap::new();
    let serial = heap.tuple(&[Term::small(token.previous), Term::small(token.serial)]);
    let sender = token.sender.to_term(&mut heap);
    let what = heap.tuple(&[Atom::new(tag).into(), serial, sender, receiver, message]);
    let stamp = [(8, flags::TIMESTAMP), (16, flags::STRICT_MONOTONIC), (32, flags::MONOTONIC)];
    let stamp = stamp.iter().find(|(bit, _)| token.flags & bit != 0).map(|&(_, stamp)| stamp);
    let tag = Atom::new("seq_trace").into();
    match &tracer {
        Tracer::Receiver(receiver) => {
            let stamp = stamp.map(|stamp| emit::timestamp(&mut heap, stamp));
            let all: Vec<Term> = [tag, token.label.term(), what].into_iter().chain(stamp).collect();
            let term = heap.tuple(&all);
            emit::deliver(*receiver, term);
        }
        Tracer::Module(module) => {
            let options = emit::options(&mut heap, stamp.unwrap_or(0), None, None);
            module.trace(0, tag, token.label.term(), what, options);
        }
    }
    heap.clear();
}

/// `p` sends a message. Returns the token that goes with it.
pub(crate) fn sent(p: &mut Process, receiver: Term, message: Term) -> Option<Box<Token>> {
    update_serial(p);
    let token = token(p)?;
    tell(token, SEND, receiver, message, Some(p));
    Some(Box::new(token.clone()))
}

/// `p` takes a message out of its queue that came with `token`.
fn received(p: &mut Process, token: Box<Token>, message: Term) {
    let seq = &mut p.rare().seq;
    seq.previous = token.serial;
    seq.clock = seq.clock.max(token.serial);
    tell(&token, RECEIVE, p.pid_term(), message, Some(p));
    set_token(p, Some(token));
}

/// `p` takes the message at its save position out of its queue, which brings a token or removes the process' one.
#[cold]
pub fn follow(p: &mut Process) {
    let message = p.messages.term_at_save();
    match p.messages.token() {
        (Some(token), _) => received(p, token, message),
        (None, true) if has_token(p) => set_token(p, None),
        (None, _) => {}
    }
}

/// A new process takes its parent's token over, as if it had come with a message. `request` is that message.
pub fn spawned(p: &mut Process, child: &ProcShared, local: &mut Process, request: Term) {
    update_serial(p);
    let Some(token) = token(p).cloned() else { return };
    let pid = Term::local_pid(child.pid);
    tell(&token, SEND, pid, request, Some(p));
    tell(&token, RECEIVE, pid, request, Some(p));
    let seq = &mut local.rare().seq;
    seq.clock = token.serial;
    seq.previous = token.serial;
    set_token(local, Some(Box::new(token)));
}

/// The child answers its spawn as if by a message. Returns the token of that. `at_once`: its parent has the answer already.
pub fn spawn_answered(p: &mut Process, local: &mut Process, reply: Term, at_once: bool) -> Option<Box<Token>> {
    update_serial(local);
    let token = Box::new(token(local)?.clone());
    if at_once {
        tell(&token, SEND, p.pid_term(), reply, Some(p));
        tell(&token, RECEIVE, p.pid_term(), reply, Some(p));
        let seq = &mut p.rare().seq;
        seq.previous = token.serial;
        seq.clock = token.serial;
    }
    Some(token)
}

/// `p` asks another node for a new process. That is told as two messages: the request without the arguments, and these, since the other node
/// decodes them in the new process. Returns the token of the second.
pub fn spawn_sent(p: &mut Process, node: Atom, request: Term, arguments: Term) -> Option<Box<Token>> {
    for message in [request, arguments] {
        update_serial(p);
        tell(token(p)?, SEND, node.into(), message, Some(p));
    }
    token(p).cloned().map(Box::new)
}

/// The token of the request, of that which came with the arguments.
fn of_request(of_arguments: &Token) -> Token {
    Token { serial: of_arguments.serial - 1, ..of_arguments.clone() }
}

/// Another node asked for this new process, which answers. Returns the token of the answer.
pub fn spawn_received(local: &mut Process, pid: Term, of_arguments: &Token, request: Term, reply: Term) -> Option<Box<Token>> {
    let of_request = of_request(of_arguments);
    tell(&of_request, RECEIVE, pid, request, Some(local));
    let seq = &mut local.rare().seq;
    (seq.clock, seq.previous) = (of_request.serial, of_request.serial);
    set_token(local, Some(Box::new(of_arguments.clone())));
    update_serial(local);
    let token = token(local)?;
    let mut heap = Heap::new();
    let parent = of_arguments.sender.to_term(&mut heap);
    tell(token, SEND, parent, reply, Some(local));
    heap.clear();
    Some(Box::new(token.clone()))
}

/// Another node asked for a process, and this node refuses. Returns the token of the answer.
pub fn spawn_refused(of_arguments: &Token, request: Term, reply: Term) -> Box<Token> {
    let mut token = Box::new(of_request(of_arguments));
    let me = crate::send::node_name();
    tell(&token, RECEIVE, me.into(), request, None);
    let mut heap = Heap::new();
    let parent = token.sender.to_term(&mut heap);
    (token.previous, token.serial, token.sender) = (token.serial, token.serial + 1, Sender::Node(me));
    tell(&token, SEND, parent, reply, None);
    heap.clear();
    token
}

/// Ends sequential tracing in `p`: removes its token, its counters, and the tokens of messages that wait.
pub fn reset(p: &mut Process) {
    p.messages.forget_tokens();
    if p.rare_if_any().is_some() {
        set_token(p, None);
        p.rare().seq = SeqState::default();
    }
}

/// `p` ends. Returns the token that goes with its exit signal to `to`.
pub(crate) fn exiting(p: &mut Process, to: Term, reason: Term) -> Option<Box<Token>> {
    update_serial(p);
    let token = token(p)?;
    let mut heap = Heap::new();
    let message = heap.tuple(&[am::EXIT_UPPER.into(), p.pid_term(), reason]);
    // What a sensitive process receives is not reported.
    let is_seen = match to.is_local_pid() {
        true => crate::process::proctab::lookup(to.payload()).is_some_and(|to| !events::on(&to, flags::SENSITIVE)),
        false => to.is_pid(),
    };
    if is_seen && !tracer().is_some_and(|t| t.is(to)) {
        tell(token, SEND, to, message, None);
    }
    heap.clear();
    Some(Box::new(token.clone()))
}
