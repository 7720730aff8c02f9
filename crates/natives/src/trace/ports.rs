//! Traced ports. Of a port's events only what it sends is told of; the others are refused where they are asked for.

use heddle_runtime::proctab;
use heddle_runtime::trace::{Session, Traced, emit, flags, sessions};
use heddle_term::{Atom, Term};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

static TABLE: LazyLock<RwLock<HashMap<u64, Vec<Traced>>>> = LazyLock::new(Default::default);
static ANY: AtomicBool = AtomicBool::new(false);

/// Flags that can be kept for a port.
pub const SUPPORTED: u32 = flags::SEND | flags::TIMESTAMPS | flags::SCHEDULER_ID | flags::ARITY | flags::SILENT;

/// False if somebody else traces it in this session.
pub fn change(id: u64, session: &Arc<Session>, on: u32, off: u32, tracer: Term) -> bool {
    let mut table = TABLE.write().unwrap();
    let all = table.entry(id).or_default();
    all.retain(|t| t.session.is_alive());
    match all.iter_mut().find(|t| t.session.id == session.id) {
        Some(t) if on != 0 && t.tracer != tracer && proctab::lookup(t.tracer.payload()).is_some() => return false,
        Some(t) => {
            t.flags = (t.flags | on) & !off;
            if on != 0 {
                t.tracer = tracer;
            }
        }
        None if on & !off != 0 => all.push(Traced { session: session.clone(), flags: on & !off, tracer }),
        None => {}
    }
    all.retain(|t| t.flags != 0);
    table.retain(|_, all| !all.is_empty());
    ANY.store(!table.is_empty(), Ordering::Release);
    true
}

pub fn of(id: u64) -> Vec<Traced> {
    TABLE.read().unwrap().get(&id).map_or(Vec::new(), |all| all.iter().filter(|t| t.session.is_alive()).cloned().collect())
}

pub fn opened(id: u64) {
    if !sessions::ANY_NEW.load(Ordering::Acquire) {
        return;
    }
    for session in sessions::all() {
        let wanted = session.settings.lock().unwrap().new_ports;
        if let Some((flags, tracer)) = wanted {
            change(id, &session, flags, 0, tracer);
        }
    }
}

pub fn closed(id: u64) {
    if ANY.load(Ordering::Acquire) {
        TABLE.write().unwrap().remove(&id);
    }
}

/// The port sends a message.
pub fn sent(port: Term, to: u64, message: Term) {
    if !ANY.load(Ordering::Acquire) {
        return;
    }
    let _guard = heddle_runtime::qsbr::guard();
    for t in of(port.payload()) {
        if t.flags & flags::SEND != 0 && proctab::lookup(t.tracer.payload()).is_some() {
            emit::emit(port, &t, &[Atom::new("send").into(), message, Term::local_pid(to)], None);
        }
    }
}
