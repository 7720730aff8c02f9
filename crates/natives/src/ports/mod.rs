//! Ports: files, programs, sockets. A port is a native task (`runtime::task`) with the identity of a port. Others send it requests and
//! find here what it tells of itself (`port`); its state is its own (`body`). The poller says when its descriptors are ready.

pub mod body;
pub mod flush;
pub mod frame;
pub mod gate;
pub mod hooks;
mod input;
pub mod natives;
pub mod open;
pub mod options;
mod output;
pub mod poll;
pub mod port;
pub mod queue;
pub mod ram_file;
pub mod trace_file;

use body::{Body, Driver};
use heddle_runtime::locks::Class;
use heddle_runtime::{proctab, task};
use heddle_term::Term;
use port::{Kind, Port};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// By number. The identities themselves are in the process table.
static TABLE: RwLock<BTreeMap<u64, Arc<Port>>> = RwLock::new(BTreeMap::new());

pub static BYTES_IN: AtomicU64 = AtomicU64::new(0);
pub static BYTES_OUT: AtomicU64 = AtomicU64::new(0);

/// By the port or its name.
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

/// Numbers of all ports.
pub fn all() -> Vec<u64> {
    Class::Ports.read(&TABLE).keys().copied().collect()
}

/// What a new port works on.
#[derive(Default)]
struct Ends {
    driver: Option<Driver>,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    os_pid: Option<u32>,
}

/// A new port, which runs; None if there are too many.
fn start(label: String, kind: Kind, o: &options::Options, owner: u64, ends: Ends) -> Option<Arc<Port>> {
    let id = proctab::reserve_port()?;
    let port = Arc::new(Port::new(id & !heddle_runtime::process::identity::PORT, label, kind, o, ends.os_pid, owner));
    Class::Ports.write(&TABLE).insert(port.id, port.clone());
    crate::trace::ports::opened(port.term(), Term::local_pid(owner), &port.label);
    task::start_port(&body::TYPE, id, owner, Box::new(Body::new(port.clone(), ends.driver, ends.input, ends.output)));
    Some(port)
}

/// The port ends.
fn forget(number: u64) {
    Class::Ports.write(&TABLE).remove(&number);
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
