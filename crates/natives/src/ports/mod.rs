//! Ports: files, programs. A port is an entry in a table, shared by handle; its state is under its own mutex. Input is brought
//! by the poller thread, output is written at once where the descriptor takes it and queued otherwise.

pub mod frame;
pub mod hooks;
pub mod natives;
pub mod open;
pub mod options;
pub mod poll;
pub mod port;
pub mod ram_file;
pub mod trace_file;

use heddle_runtime::locks::Class;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::trace::flags;
use heddle_term::{Atom, Term};
use port::Port;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// `+Q`; stock's default.
pub const LIMIT: usize = 65536;

static TABLE: RwLock<BTreeMap<u64, Arc<Port>>> = RwLock::new(BTreeMap::new());
/// Number 0 is the program spawner of stock; ours is not a port of its own.
static NEXT: AtomicU64 = AtomicU64::new(1);
/// A port's payload has 58 bits.
const LARGEST: u64 = (1 << 58) - 1;

pub static BYTES_IN: AtomicU64 = AtomicU64::new(0);
pub static BYTES_OUT: AtomicU64 = AtomicU64::new(0);

pub fn find(port: Term) -> Option<Arc<Port>> {
    let id = if port.is_local_port() {
        port.payload()
    } else {
        let name = heddle_runtime::names::whereis(port.as_atom()?)?;
        if !name.is_local_port() {
            return None;
        }
        name.payload()
    };
    Class::Ports.read(&TABLE).get(&id).cloned()
}

pub fn all() -> Vec<u64> {
    Class::Ports.read(&TABLE).keys().copied().collect()
}

fn insert(make: impl FnOnce(u64) -> Arc<Port>) -> Option<Arc<Port>> {
    let mut table = Class::Ports.write(&TABLE);
    if table.len() >= LIMIT {
        return None;
    }
    let mut id = NEXT.fetch_add(1, Ordering::Relaxed) & LARGEST;
    while table.contains_key(&id) {
        id = NEXT.fetch_add(1, Ordering::Relaxed) & LARGEST;
    }
    let port = make(id);
    table.insert(id, port.clone());
    drop(table);
    let owner = Class::Port.lock(&port.state).owner;
    crate::trace::ports::opened(port.term(), Term::local_pid(owner), &port.label);
    Some(port)
}

fn remove(port: Term, reason: Term) {
    Class::Ports.write(&TABLE).remove(&port.payload());
    crate::trace::ports::event(port, flags::PORTS, "closed", &[reason]);
}

/// The number that the next port gets, if nobody else takes it before.
pub fn next_number() -> u64 {
    let table = Class::Ports.read(&TABLE);
    let mut id = NEXT.load(Ordering::Relaxed) & LARGEST;
    while table.contains_key(&id) {
        id = (id + 1) & LARGEST;
    }
    id
}

/// Numbers are given out from `id` on (for tests). What the next one is.
pub fn set_next_number(id: u64) -> u64 {
    NEXT.store(id, Ordering::Relaxed);
    next_number()
}

pub fn exists(port: Term) -> bool {
    find(port).is_some()
}

pub fn set_name(port: Term, name: Option<Atom>) {
    if let Some(found) = find(port) {
        let before = std::mem::replace(&mut Class::Port.lock(&found.state).name, name);
        let tag = if name.is_some() { "register" } else { "unregister" };
        if let Some(name) = name.or(before) {
            crate::trace::ports::event(port, flags::PORTS, tag, &[name.into()]);
        }
    }
}

/// A sender that filled a busy port waits; our ports take everything and write it as they can.
pub fn check_suspend(_p: &mut Process) -> Result<(), Thrown> {
    Ok(())
}

/// Before the machine halts: everything queued goes out.
pub fn flush_all() {
    let ports: Vec<Arc<Port>> = Class::Ports.read(&TABLE).values().cloned().collect();
    for port in ports {
        port.flush();
        crate::inet::with(&port, |tcp| tcp.drain());
    }
}

pub fn count() -> usize {
    Class::Ports.read(&TABLE).len()
}

pub fn io_bytes() -> (u64, u64) {
    (BYTES_IN.load(Ordering::Relaxed), BYTES_OUT.load(Ordering::Relaxed))
}
