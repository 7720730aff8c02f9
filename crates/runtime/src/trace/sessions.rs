//! Trace sessions. Each has its own flags on processes and breakpoints in functions. The first is the one that `erlang:trace/3` and its
//! relatives work in.

use crate::trace::request::PatternRequest;
use crate::trace::spec::Spec;
use crate::trace::tracees;
use crate::trace::tracer::Tracer;
use heddle_term::{Atom, Resource};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock};

/// The messages that a `send` or `receive` flag reports.
#[derive(Clone, Default)]
pub enum EventSpec {
    #[default]
    All,
    None,
    Matching(Arc<Spec>),
}

#[derive(Default)]
pub struct SessionSettings {
    pub send: EventSpec,
    pub receive: EventSpec,
    /// Flags and tracer of new processes.
    pub new_processes: Option<(u32, Tracer)>,
    pub new_ports: Option<(u32, Tracer)>,
    /// The request for functions of code to be loaded.
    pub on_load: Option<PatternRequest>,
}

pub struct Session {
    pub id: u64,
    pub name: Atom,
    /// What gets the events; None: each request names one, as in the legacy session.
    pub tracer: Option<Tracer>,
    /// AcqRel in `destroy`, of which one call wins; Acquire in `is_alive`.
    alive: AtomicBool,
    pub settings: Mutex<SessionSettings>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);
static OPEN: LazyLock<RwLock<Vec<Arc<Session>>>> = LazyLock::new(Default::default);
static LEGACY: LazyLock<Arc<Session>> = LazyLock::new(|| {
    Arc::new(Session { id: u64::MAX, name: Atom::new("legacy"), tracer: None, alive: AtomicBool::new(true), settings: Mutex::default() })
});
/// True if some session has flags for new processes, or requests for code to be loaded, so that spawn and load need not look otherwise.
/// Release in `trace::process::note_new`, Acquire in readers that look at the sessions then, whose lock orders the rest.
pub static ANY_NEW: AtomicBool = AtomicBool::new(false);

/// Removes the breakpoints of a session; set when the first breakpoint is made.
pub(super) static FORGET_BREAKPOINTS: OnceLock<fn(u64)> = OnceLock::new();

pub fn legacy() -> Arc<Session> {
    LEGACY.clone()
}

/// All open sessions, the newest first, the legacy session last.
pub fn all() -> Vec<Arc<Session>> {
    let mut all: Vec<_> = OPEN.read().unwrap().iter().rev().cloned().collect();
    all.push(legacy());
    all
}

impl Session {
    pub fn create(name: Atom, tracer: Option<Tracer>) -> Arc<Session> {
        // Relaxed: only the number counts.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(Session { id, name, tracer, alive: AtomicBool::new(true), settings: Mutex::default() });
        OPEN.write().unwrap().push(session.clone());
        session
    }

    pub fn is_legacy(&self) -> bool {
        self.id == u64::MAX
    }

    pub fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Ends the session. Returns false if that was done before.
    pub fn destroy(&self) -> bool {
        if !self.alive.swap(false, Ordering::AcqRel) {
            return false;
        }
        OPEN.write().unwrap().retain(|s| s.id != self.id);
        tracees::forget_session(self.id);
        if let Some(forget) = FORGET_BREAKPOINTS.get() {
            forget(self.id);
        }
        *self.settings.lock().unwrap() = SessionSettings::default();
        true
    }
}

pub fn by_id(id: u64) -> Option<Arc<Session>> {
    if id == u64::MAX {
        return Some(legacy());
    }
    OPEN.read().unwrap().iter().find(|s| s.id == id).cloned()
}

/// A program's reference to a session: when the last one is collected, the session ends.
pub struct Handle(pub Arc<Session>);

impl Resource for Handle {
    fn type_name(&self) -> &'static str {
        "trace session"
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.destroy();
    }
}
