//! Which sockets want to know that a process ended: its owner's, those that it waits for, and those that it closes.
//!
//! A socket notes each process once, when the process first matters to it, and forgets them all when it is closed. A process that ends
//! looks for its sockets here.

use super::socket::Socket;
use heddle_runtime::process::Process;
use heddle_runtime::proctab;
use heddle_term::{Heap, Term};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Sockets by process.
type Watched = HashMap<u64, Vec<Weak<Socket>>>;

/// Each process is in one of them, by its number, so that threads seldom meet.
static SHARDS: [Mutex<Option<Watched>>; 16] = [const { Mutex::new(None) }; 16];
/// Processes that are noted. SeqCst, all uses: a process that is noted is looked up afterwards (`watch`), and a process that ends is
/// marked before it looks here, so one of the two sees the other.
static NOTED: AtomicUsize = AtomicUsize::new(0);

fn shard(pid: u64) -> &'static Mutex<Option<Watched>> {
    &SHARDS[pid as usize % SHARDS.len()]
}

/// Has `Socket::process_ended` called when the process ends. Returns false if it has ended.
pub fn watch(socket: &Arc<Socket>, pid: u64) -> bool {
    {
        let mut watched = shard(pid).lock().unwrap();
        let sockets = watched.get_or_insert_default().entry(pid).or_default();
        if sockets.is_empty() {
            NOTED.fetch_add(1, Ordering::SeqCst);
        }
        sockets.push(Arc::downgrade(socket));
    }
    proctab::lookup(pid).is_some_and(|process| !process.state.load().is_exiting())
}

/// The socket forgets the process.
pub fn forget(socket: *const Socket, pid: u64) {
    let mut watched = shard(pid).lock().unwrap();
    let Some(watched) = watched.as_mut() else { return };
    let Some(sockets) = watched.get_mut(&pid) else { return };
    sockets.retain(|other| !std::ptr::eq(other.as_ptr(), socket));
    if sockets.is_empty() {
        watched.remove(&pid);
        NOTED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// References of the sockets that watch the process, as `process_info` shows them.
pub fn watchers(heap: &mut Heap, pid: u64) -> Vec<Term> {
    if NOTED.load(Ordering::SeqCst) == 0 {
        return Vec::new();
    }
    let sockets = shard(pid).lock().unwrap().as_ref().and_then(|watched| watched.get(&pid).cloned());
    // The lock is free again: the last reference to a socket may be dropped here.
    sockets.into_iter().flatten().filter_map(|socket| Some(socket.upgrade()?.term(heap))).collect()
}

/// Called for every process that ends.
pub fn at_exit(p: &mut Process) {
    if NOTED.load(Ordering::SeqCst) == 0 {
        return;
    }
    let pid = p.pid();
    let sockets = shard(pid).lock().unwrap().as_mut().and_then(|watched| watched.remove(&pid));
    if let Some(sockets) = sockets {
        NOTED.fetch_sub(1, Ordering::SeqCst);
        for socket in sockets.iter().filter_map(Weak::upgrade) {
            socket.process_ended(pid);
        }
    }
}
