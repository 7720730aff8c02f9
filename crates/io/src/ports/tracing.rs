//! Traced ports, and the events that their tracers get.

use heddle_runtime::trace::emit::{self, Event};
use heddle_runtime::trace::sessions::EventSpec;
use heddle_runtime::trace::tracer::Wish;
use heddle_runtime::trace::{Session, Traced, Tracer, flags, sessions};
use heddle_runtime::{proctab, qsbr, system_profile};
use heddle_term::{Atom, Heap, Term};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

static TABLE: LazyLock<RwLock<HashMap<u64, Vec<Traced>>>> = LazyLock::new(Default::default);
/// The flags of all traced ports together. Each event tests them first.
static UNION: AtomicU32 = AtomicU32::new(0);

/// False if another tracer traces the port in this session.
pub fn change(id: u64, session: &Arc<Session>, on: u32, off: u32, tracer: &Tracer) -> bool {
    // Asked before the table is locked, as a tracer module may take any time.
    let before = of(id).into_iter().find(|t| t.session.id == session.id);
    if before.is_some_and(|t| on != 0 && t.tracer != *tracer && t.tracer.is_there(Term::local_port(id))) {
        return false;
    }
    let mut table = TABLE.write().unwrap();
    let all = table.entry(id).or_default();
    all.retain(|t| t.session.is_alive());
    match all.iter_mut().find(|t| t.session.id == session.id) {
        Some(t) => {
            t.flags = (t.flags | on) & !off;
            if on != 0 {
                t.tracer = tracer.clone();
            }
        }
        None if on & !off != 0 => {
            all.push(Traced { session: session.clone(), flags: on & !off, tracer: tracer.clone() });
        }
        None => {}
    }
    all.retain(|t| t.flags != 0);
    table.retain(|_, all| !all.is_empty());
    publish(&table);
    true
}

fn publish(table: &HashMap<u64, Vec<Traced>>) {
    let union = table.values().flatten().fold(0, |union, t| union | t.flags);
    // Relaxed: a flag counts from some event on.
    UNION.store(union, Ordering::Relaxed);
}

pub fn of(id: u64) -> Vec<Traced> {
    TABLE.read().unwrap().get(&id).map_or(Vec::new(), |all| all.iter().filter(|t| t.session.is_alive()).cloned().collect())
}

/// True if a tracer of any port wants events of these flags.
#[inline]
pub fn on(wanted: u32) -> bool {
    UNION.load(Ordering::Relaxed) & wanted != 0
}

/// The sessions and tracers that get events of these flags of this port.
fn receivers(port: Term, wanted: u32, tag: Atom) -> Vec<Traced> {
    if !on(wanted) {
        return Vec::new();
    }
    let is_wanted = |t: &Traced| {
        let wish = t.tracer.wish(port, wanted, tag);
        if wish == Wish::Remove {
            change(port.payload(), &t.session, 0, u32::MAX, &t.tracer);
        }
        wish == Wish::Trace
    };
    of(port.payload()).into_iter().filter(|t| t.flags & wanted != 0 && is_wanted(t)).collect()
}

pub fn opened(port: Term, owner: Term, driver: &str) {
    let id = port.payload();
    if sessions::ANY_NEW.load(Ordering::Acquire) {
        for session in sessions::all() {
            let wanted = session.settings.lock().unwrap().new_ports.clone();
            if let Some((flags, tracer)) = wanted {
                change(id, &session, flags, 0, &tracer);
            }
        }
    }
    event(port, flags::PORTS, "open", &[owner, Atom::new(&driver.chars().take(255).collect::<String>()).into()]);
    event(port, flags::PORTS, "getting_linked", &[owner]);
}

/// Ends the tracing of a port, in all sessions.
pub fn forget(port: Term) {
    let mut table = TABLE.write().unwrap();
    if table.remove(&port.payload()).is_some() {
        publish(&table);
    }
}

/// Sends `{trace, Port, Tag, Parts...}` to the tracers that want events of these flags.
pub fn event(port: Term, wanted: u32, tag: &str, parts: &[Term]) {
    if !on(wanted) {
        return;
    }
    let _guard = qsbr::guard();
    let tag = Atom::new(tag);
    let mut all = vec![tag.into()];
    all.extend_from_slice(parts);
    for t in receivers(port, wanted, tag) {
        emit::emit(&t, &Event::new(port, wanted, &all));
    }
}

/// Reports that the port sends a message.
pub fn sent(port: Term, to: u64, message: Term) {
    if !on(flags::SEND) {
        return;
    }
    let _guard = qsbr::guard();
    let tag = Atom::new(if proctab::lookup(to).is_some() { "send" } else { "send_to_non_existing_process" });
    for t in receivers(port, flags::SEND, tag) {
        // Match specifications of sends are not run for ports: a session gets the event unless it has turned sends off.
        if !matches!(t.session.settings.lock().unwrap().send, EventSpec::None) {
            emit::emit(&t, &Event::new(port, flags::SEND, &[tag.into(), message, Term::local_pid(to)]));
        }
    }
}

/// The same for a message that is made for the report.
pub fn sent_of(port: Term, to: u64, message: impl FnOnce(&mut Heap) -> Term) {
    if !on(flags::SEND) {
        return;
    }
    let mut heap = Heap::new();
    let message = message(&mut heap);
    sent(port, to, message);
    heap.clear();
}

/// Reports that the port received `{From, What}`.
pub fn received(port: Term, from: Term, what: impl FnOnce(&mut Heap) -> Term) {
    if !on(flags::RECEIVE) {
        return;
    }
    let _guard = qsbr::guard();
    let tag = Atom::new("receive");
    let all = receivers(port, flags::RECEIVE, tag);
    if all.is_empty() {
        return;
    }
    let mut heap = Heap::new();
    let what = what(&mut heap);
    let message = heap.tuple(&[from, what]);
    for t in all {
        emit::emit(&t, &Event::new(port, flags::RECEIVE, &[tag.into(), message]));
    }
    heap.clear();
}

/// Runs `f`, and reports it as an operation of this name for which the port was scheduled.
pub fn scheduled<T>(port: Term, operation: &str, f: impl FnOnce() -> T) -> T {
    within(port, Atom::new(operation).into(), f)
}

/// Runs `f`, for which the poller has the port scheduled.
pub fn polled<T>(port: Term, f: impl FnOnce() -> T) -> T {
    if !on(flags::RUNNING_PORTS) && !system_profile::on(system_profile::PORTS) {
        return f();
    }
    within(port, Term::small(0), f)
}

fn within<T>(port: Term, name: Term, f: impl FnOnce() -> T) -> T {
    let profiled = system_profile::on(system_profile::PORTS);
    if profiled {
        system_profile::port(port, true);
    }
    event(port, flags::RUNNING_PORTS, "in", &[name]);
    let result = f();
    event(port, flags::RUNNING_PORTS, "out", &[name]);
    if profiled {
        system_profile::port(port, false);
    }
    result
}
