//! The traced processes: for each process and session its flags and tracer.

use crate::process::ProcShared;
use crate::process::proctab;
use crate::trace::flags;
use crate::trace::sessions::{self, Session};
use crate::trace::tracer::Tracer;
use heddle_term::Term;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, RwLock};

#[derive(Clone)]
pub struct Traced {
    pub session: Arc<Session>,
    pub flags: u32,
    pub tracer: Tracer,
}

type Table = HashMap<u64, Vec<Traced>, foldhash::fast::FixedState>;
static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// The sessions that trace any of `wanted` of the process.
pub fn of(pid: u64, wanted: u32) -> Vec<Traced> {
    let table = TABLE.read().unwrap();
    table.get(&pid).map_or(Vec::new(), |all| all.iter().filter(|t| t.flags & wanted != 0).cloned().collect())
}

/// The flags and tracer of one session for a process.
pub fn in_session(pid: u64, session: u64) -> Option<Traced> {
    TABLE.read().unwrap().get(&pid)?.iter().find(|t| t.session.id == session).cloned()
}

/// As `in_session`, only the flags.
pub fn flags_in(pid: u64, session: u64) -> Option<u32> {
    let table = TABLE.read().unwrap();
    table.get(&pid)?.iter().find(|t| t.session.id == session).map(|t| t.flags)
}

fn publish(table: &Table, pid: u64, shared: Option<&ProcShared>) {
    let union = table.get(&pid).map_or(0, |all| all.iter().fold(0, |u, t| u | t.flags));
    if let Some(shared) = shared {
        // Release, without a partner: nothing must be seen at once, and events look in the table.
        let _ = shared.trace.fetch_update(Ordering::Release, Ordering::Relaxed, |old| Some(union | old & flags::OWN));
    }
}

/// Changes flags of a living process (or of one not yet published, given as `shared`). If no flags are left the tracer is removed as well.
pub fn change(shared: &ProcShared, session: &Arc<Session>, on: u32, off: u32, tracer: Option<Tracer>) {
    let pid = shared.pid;
    let mut table = TABLE.write().unwrap();
    let all = table.entry(pid).or_default();
    match all.iter_mut().find(|t| t.session.id == session.id) {
        Some(t) => {
            t.flags = (t.flags | on) & !off;
            // A process has one tracer in a session: the one that set its first flags, until it is gone.
            if let Some(tracer) = tracer {
                t.tracer = tracer;
            }
        }
        None => {
            if let (flags @ 1.., Some(tracer)) = (on & !off, tracer) {
                all.push(Traced { session: session.clone(), flags, tracer });
            }
        }
    }
    all.retain(|t| t.flags != 0);
    if all.is_empty() {
        table.remove(&pid);
    }
    publish(&table, pid, Some(shared));
}

/// The process ended.
pub(crate) fn forget_process(shared: &ProcShared) {
    TABLE.write().unwrap().remove(&shared.pid);
}

pub(crate) fn forget_session(session: u64) {
    let mut table = TABLE.write().unwrap();
    let touched: Vec<u64> = table.iter().filter(|(_, all)| all.iter().any(|t| t.session.id == session)).map(|(&pid, _)| pid).collect();
    for pid in touched {
        if let Some(all) = table.get_mut(&pid) {
            all.retain(|t| t.session.id != session);
            if all.is_empty() {
                table.remove(&pid);
            }
        }
        let shared = proctab::lookup(pid);
        publish(&table, pid, shared.as_deref());
    }
}

/// The tracer is gone: nothing of this session is traced any more.
pub(crate) fn drop_tracer(shared: &ProcShared, session: &Arc<Session>) {
    change(shared, session, 0, u32::MAX, None);
}

/// A new process inherits the flags of its parent (`set_on_spawn`), or those that sessions have for new processes.
pub(crate) fn inherit_at_spawn(parent: &ProcShared, child: &ProcShared) {
    // Relaxed: these are this process' own flags, or ones that another thread has just set.
    if parent.trace.load(Ordering::Relaxed) & (flags::ON_SPAWN | flags::ON_FIRST_SPAWN) != 0 {
        inherit(parent, child, flags::ON_SPAWN, flags::ON_FIRST_SPAWN);
    }
    begin_new(child);
}

/// A new process gets the flags that sessions have for new processes.
pub(crate) fn begin_new(child: &ProcShared) {
    // Relaxed: settings of another thread count from some process on.
    if sessions::ANY_NEW.load(Ordering::Relaxed) {
        for session in sessions::all() {
            let wanted = session.settings.lock().unwrap().new_processes.clone();
            if let Some((flags, tracer)) = wanted
                && in_session(child.pid, session.id).is_none()
            {
                change(child, &session, flags, 0, Some(tracer));
            }
        }
    }
}

/// `set_on_link`.
pub(crate) fn inherit_at_link(from: &ProcShared, to: &ProcShared) {
    inherit(from, to, flags::ON_LINK, flags::ON_FIRST_LINK);
}

fn inherit(from: &ProcShared, to: &ProcShared, always: u32, first: u32) {
    for t in of(from.pid, always | first) {
        if t.tracer.is(Term::local_pid(to.pid)) {
            continue;
        }
        let mut flags = t.flags;
        if flags & first != 0 {
            flags &= !(always | first);
            change(from, &t.session, 0, always | first, None);
        }
        if in_session(to.pid, t.session.id).is_none() {
            change(to, &t.session, flags, 0, Some(t.tracer));
        }
    }
}
