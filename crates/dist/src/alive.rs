//! The name by which others reach this node. The node has one from `erlang:setnode/2` until the process `net_kernel` ends.

use crate::monitors::{self, Change};
use crate::table;
use heddle_bifs::data::persistent_term;
use heddle_runtime::process::Process;
use heddle_runtime::{Package, names};
use heddle_term::{Atom, Heap, am, lives, node};
use std::sync::atomic::{AtomicU64, Ordering};

const NOBODY: u64 = u64::MAX;

/// The number of the process `net_kernel` while the node is alive.
/// Release where it is set, Acquire where it is read: a thread that sees it sees the node's name.
static NET_KERNEL: AtomicU64 = AtomicU64::new(NOBODY);

pub fn is_alive() -> bool {
    NET_KERNEL.load(Ordering::Acquire) != NOBODY
}

/// True if the node is alive, or gets its name from the first node that it connects with (`erlang:is_alive/0`, which is OTP's code).
pub fn may_connect() -> bool {
    if is_alive() {
        return true;
    }
    let mut heap = Heap::new();
    let key = heap.tuple(&[am::ERTS_INTERNAL.into(), Atom::new("dynamic_node_name").into()]);
    let is_dynamic = persistent_term::lookup(key).is_some_and(|value| value.is_atom_of(am::TRUE));
    heap.clear();
    is_dynamic
}

/// The process `net_kernel`, if the node is alive.
pub fn net_kernel() -> Option<u64> {
    Some(NET_KERNEL.load(Ordering::Acquire)).filter(|&pid| pid != NOBODY)
}

/// The node has this name from now on. False if it has one already, or if there is no process `net_kernel`.
pub fn begin(name: Atom, creation: u32) -> bool {
    let Some(kernel) = names::whereis(Atom::new("net_kernel")).filter(|kernel| kernel.is_local_pid()) else { return false };
    if is_alive() {
        return false;
    }
    // Creations below are kept for nodes of old releases, as in stock.
    let mut creation = creation.max(4);
    while lives::is_named(name.index(), creation) {
        creation = creation.wrapping_add(1).max(4);
    }
    node::set_current(name, creation);
    NET_KERNEL.store(kernel.payload(), Ordering::Release);
    monitors::tell(&Change { node: name, connection: None, is_visible: true, down: None });
    true
}

/// Called at the end of each process: with `net_kernel` end all connections and the node's name.
pub fn process_ends(p: &mut Process) {
    if NET_KERNEL.compare_exchange(p.pid(), NOBODY, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    let reason = Package::immediate(Atom::new("net_kernel_terminated").into());
    for connection in table::all().into_iter().filter_map(|node| node.connection()) {
        connection.shut("net_kernel_terminated");
    }
    let name = node::name();
    node::set_current(am::NONODE_NOHOST, 0);
    monitors::tell(&Change { node: name, connection: None, is_visible: true, down: Some(&reason) });
}
