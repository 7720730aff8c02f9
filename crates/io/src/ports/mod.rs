//! Ports: files, programs, sockets. A port is a native task (`runtime::task`) with the identity of a port. Other threads send it requests and
//! read what it publishes (`port`); only the task touches its state (`port_task`). A driver (`driver`) does the port's work. The poller
//! (`poll`) reports when the port's descriptors are ready.

pub mod channel;
pub mod data;
pub mod driver;
pub mod flush;
pub mod frame;
pub mod gate;
pub mod hooks;
mod message;
pub mod natives;
pub mod open;
pub mod options;
pub mod poll;
pub mod port;
pub mod port_task;
pub mod queue;
pub mod ram_file;
mod stream;
pub mod trace_file;
pub mod trace_ip;
pub mod tracing;

use driver::Driver;
use heddle_runtime::locks::LockClass;
use heddle_runtime::{proctab, task};
use heddle_term::Term;
use port::{Port, PortKind};
use port_task::PortTask;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// All ports by number. The identities themselves are in the process table.
static TABLE: RwLock<BTreeMap<u64, Arc<Port>>> = RwLock::new(BTreeMap::new());

pub static BYTES_IN: AtomicU64 = AtomicU64::new(0);
pub static BYTES_OUT: AtomicU64 = AtomicU64::new(0);

/// The port of an identifier or a registered name.
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
    LockClass::Ports.read(&TABLE).get(&id).cloned()
}

/// Numbers of all ports.
pub fn all() -> Vec<u64> {
    LockClass::Ports.read(&TABLE).keys().copied().collect()
}

/// What a new port works with.
struct Ends {
    driver: Box<dyn Driver>,
    /// The operating system's number of the program, for a port that started one.
    os_pid: Option<u32>,
}

/// A port without a task.
#[cfg(test)]
pub fn without_task(driver: Box<dyn Driver>) -> Arc<Port> {
    let settings = options::parse(Term::NIL).unwrap();
    Arc::new(Port::new(1, String::new(), PortKind::Driver, &settings, &Ends { driver, os_pid: None }, 0))
}

/// Makes a port and starts it. Returns None if there are too many.
fn start(label: String, kind: PortKind, o: &options::PortOptions, owner: u64, ends: Ends) -> Option<Arc<Port>> {
    begin(label, kind, o, owner, ends).ok()?
}

/// As `start`. An error is the driver's.
fn begin(label: String, kind: PortKind, o: &options::PortOptions, owner: u64, mut ends: Ends) -> std::io::Result<Option<Arc<Port>>> {
    let Some(id) = proctab::reserve_port() else { return Ok(None) };
    let port = Arc::new(Port::new(id & !heddle_runtime::process::identity::PORT, label, kind, o, &ends, owner));
    LockClass::Ports.write(&TABLE).insert(port.id, port.clone());
    crate::ports::tracing::opened(port.term(), Term::local_pid(owner), &port.label);
    if let Err(error) = ends.driver.begin(&port) {
        tracing::forget(port.term());
        forget(port.id);
        proctab::give_back(id);
        return Err(error);
    }
    task::start_port(&port_task::TYPE, id, owner, Box::new(PortTask::new(port.clone(), ends.driver)));
    Ok(Some(port))
}

/// Takes a port that ends out of the table.
fn forget(number: u64) {
    LockClass::Ports.write(&TABLE).remove(&number);
}

pub fn exists(port: Term) -> bool {
    find(port).is_some()
}

pub fn count() -> usize {
    proctab::port_count()
}

pub fn io_bytes() -> (u64, u64) {
    (BYTES_IN.load(Ordering::Relaxed), BYTES_OUT.load(Ordering::Relaxed))
}
