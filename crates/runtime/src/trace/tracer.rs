//! Tracers: a process or port that gets trace messages, or a module whose NIFs are called for each event (`erl_tracer`).

use crate::code;
use crate::process::proctab;
use crate::signal::package::Package;
use crate::trace::flags;
use heddle_term::{Atom, Heap, Term, order};
use std::sync::Arc;

#[derive(Clone)]
pub enum Tracer {
    /// The pid or port of the receiver of trace messages; an immediate.
    Receiver(Term),
    Module(Arc<TracerModule>),
}

/// A tracer module with the state that its functions get.
pub struct TracerModule {
    module: Atom,
    state: Package,
}

// SAFETY: no thread changes the package; functions of the library only read it, and copy out of it.
unsafe impl Sync for TracerModule {}

/// What a tracer wants with an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    Trace,
    Discard,
    /// The tracer traces nothing any more.
    Remove,
}

/// Groups of events for which a tracer module may have functions of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventGroup {
    Any,
    Send,
    Receive,
    Call,
    RunningProcesses,
    RunningPorts,
    Collections,
    Processes,
    Ports,
}

impl EventGroup {
    /// The group of events that these trace flags ask for.
    fn of(wanted: u32) -> EventGroup {
        use EventGroup::*;
        let groups = [
            (flags::SEND, Send),
            (flags::RECEIVE, Receive),
            (flags::CALL | flags::RETURN_TO, Call),
            (flags::RUNNING | flags::RUNNING_PROCS | flags::EXITING, RunningProcesses),
            (flags::RUNNING_PORTS, RunningPorts),
            (flags::COLLECTIONS, Collections),
            (flags::PROCS, Processes),
            (flags::PORTS, Ports),
        ];
        groups.into_iter().find(|(bits, _)| wanted & bits != 0).map_or(Any, |(_, group)| group)
    }

    fn enabled(self) -> &'static str {
        match self {
            EventGroup::Any => "enabled",
            EventGroup::Send => "enabled_send",
            EventGroup::Receive => "enabled_receive",
            EventGroup::Call => "enabled_call",
            EventGroup::RunningProcesses => "enabled_running_procs",
            EventGroup::RunningPorts => "enabled_running_ports",
            EventGroup::Collections => "enabled_garbage_collection",
            EventGroup::Processes => "enabled_procs",
            EventGroup::Ports => "enabled_ports",
        }
    }

    fn trace(self) -> &'static str {
        match self {
            EventGroup::Any => "trace",
            EventGroup::Send => "trace_send",
            EventGroup::Receive => "trace_receive",
            EventGroup::Call => "trace_call",
            EventGroup::RunningProcesses => "trace_running_procs",
            EventGroup::RunningPorts => "trace_running_ports",
            EventGroup::Collections => "trace_garbage_collection",
            EventGroup::Processes => "trace_procs",
            EventGroup::Ports => "trace_ports",
        }
    }
}

/// Arity of the functions that ask if an event is wanted, and of those that get it.
const ENABLED: u8 = 3;
const TRACE: u8 = 5;

/// The tag with which a tracer module is asked if it still traces a process or port.
const TRACE_STATUS: &str = "trace_status";

/// The module of tracers that are processes or ports.
const OF_RECEIVERS: &str = "erl_tracer";

impl Tracer {
    /// The tracer that a term names: a pid or port.
    pub fn of_receiver(term: Term) -> Option<Tracer> {
        (term.is_local_pid() || term.is_local_port()).then_some(Tracer::Receiver(term))
    }

    /// The tracer of a module with its state. None if the module has no library with the functions of a tracer.
    pub fn of_module(module: Atom, state: Term) -> Option<Tracer> {
        if module.name() == OF_RECEIVERS {
            return match Tracer::of_receiver(state) {
                Some(tracer) => Some(tracer),
                None => Some(Tracer::Module(Arc::new(TracerModule { module, state: Package::new(state) }))),
            };
        }
        let library = code::current(module)?.nifs.library()?;
        let functions = library.functions();
        let has = |name: &str, arity| functions.iter().any(|&(f, a)| a == arity && f.name() == name);
        (has("trace", TRACE) && has("enabled", ENABLED))
            .then(|| Tracer::Module(Arc::new(TracerModule { module, state: Package::new(state) })))
    }

    /// The tracer that a term of `term` names. A list cell is a module with its state.
    pub(super) fn in_frame(term: Term) -> Option<Tracer> {
        if !term.is_cons() {
            return Tracer::of_receiver(term);
        }
        let module = term.head().as_atom()?;
        Some(Tracer::Module(Arc::new(TracerModule { module, state: Package::new(term.tail()) })))
    }

    /// The tracer as a term of a trace frame.
    pub fn frame_term(&self, heap: &mut Heap) -> Term {
        match self {
            Tracer::Receiver(term) => *term,
            Tracer::Module(m) => {
                let state = heap.copy(m.state.term());
                heap.cons(m.module.into(), state)
            }
        }
    }

    /// The tracer as `trace_info` shows it.
    pub fn term(&self, heap: &mut Heap) -> Term {
        match self {
            Tracer::Receiver(term) => *term,
            Tracer::Module(m) => {
                let state = heap.copy(m.state.term());
                if m.module.name() == OF_RECEIVERS { state } else { heap.tuple(&[m.module.into(), state]) }
            }
        }
    }

    /// True if this pid or port is the tracer.
    pub fn is(&self, id: Term) -> bool {
        matches!(self, Tracer::Receiver(term) if *term == id)
    }

    /// True unless the tracer is gone, or a module says that it traces this process or port no more.
    pub fn is_there(&self, tracee: Term) -> bool {
        match self {
            Tracer::Receiver(term) => exists(*term),
            Tracer::Module(m) => m.enabled(EventGroup::Any, Atom::new(TRACE_STATUS), tracee) != Wish::Remove,
        }
    }

    /// What the tracer wants with the event of this tag, to which these trace flags belong.
    pub fn wish(&self, tracee: Term, wanted: u32, tag: Atom) -> Wish {
        match self {
            Tracer::Receiver(term) if *term == tracee && exists(*term) => Wish::Discard,
            Tracer::Receiver(term) if exists(*term) => Wish::Trace,
            Tracer::Receiver(_) => Wish::Remove,
            Tracer::Module(m) => m.enabled(EventGroup::of(wanted), tag, tracee),
        }
    }
}

impl PartialEq for Tracer {
    fn eq(&self, other: &Tracer) -> bool {
        match (self, other) {
            (Tracer::Receiver(a), Tracer::Receiver(b)) => a == b,
            (Tracer::Module(a), Tracer::Module(b)) => a.module == b.module && order::exact_eq(a.state.term(), b.state.term()),
            _ => false,
        }
    }
}

impl TracerModule {
    /// Calls the library's function of the first name, or else of the second. The outer None: the module has no library; the inner one: the
    /// function raised an exception.
    fn call(&self, names: [&str; 2], arguments: &[Term], for_pid: Option<u64>) -> Option<Option<Term>> {
        code::current(self.module)?.nifs.library()?.call_tracer(names, arguments, for_pid)
    }

    fn enabled(&self, group: EventGroup, tag: Atom, tracee: Term) -> Wish {
        let is_status = tag.name() == TRACE_STATUS;
        let answer = match self.module.name() {
            OF_RECEIVERS => None,
            _ => self.call([group.enabled(), "enabled"], &[tag.into(), self.state.term(), tracee], None),
        };
        let Some(answer) = answer else { return if is_status { Wish::Remove } else { Wish::Discard } };
        match answer.and_then(|a| a.as_atom()).map_or("", |a| a.name()) {
            "remove" => Wish::Remove,
            _ if is_status => Wish::Trace,
            "trace" => Wish::Trace,
            "discard" => Wish::Discard,
            _ => Wish::Remove,
        }
    }

    /// Hands over an event, to which the trace flags `wanted` belong.
    pub(super) fn trace(&self, wanted: u32, tag: Term, tracee: Term, term: Term, options: Term) {
        let group = EventGroup::of(wanted);
        // The events that a process reports by itself, in stock.
        let is_own = matches!(group, EventGroup::Send | EventGroup::Call | EventGroup::RunningProcesses | EventGroup::Collections);
        let for_pid = (is_own && tracee.is_local_pid()).then(|| tracee.payload());
        self.call([group.trace(), "trace"], &[tag, self.state.term(), tracee, term, options], for_pid);
    }
}

/// True if there is such a process or port.
pub fn exists(id: Term) -> bool {
    (id.is_local_pid() || id.is_local_port()) && proctab::find(id).is_some()
}
