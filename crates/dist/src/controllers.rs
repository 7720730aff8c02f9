//! Processes that carry connections, as that of TLS does.

use crate::connection::{Carrier, Connection};
use heddle_runtime::process::Process;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

static CONTROLLERS: LazyLock<Mutex<HashMap<u64, Arc<Connection>>>> = LazyLock::new(Mutex::default);
/// How many there are. Relaxed: a process that ends sees what it did itself.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn controllers() -> MutexGuard<'static, HashMap<u64, Arc<Connection>>> {
    CONTROLLERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The process, in which this is called, carries the connection from now on. False if it carries one already, or the connection is not pending.
pub fn begin(pid: u64, connection: &Arc<Connection>, flags: u64) -> bool {
    let mut all = controllers();
    if all.contains_key(&pid) || !connection.up(Carrier::Process(pid), flags) {
        return false;
    }
    all.insert(pid, connection.clone());
    COUNT.store(all.len(), Ordering::Relaxed);
    true
}

/// The connection that the process carries.
pub fn connection_of(pid: u64) -> Option<Arc<Connection>> {
    controllers().get(&pid).cloned()
}

/// Called at the end of each process.
pub fn process_ends(p: &mut Process) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let carried = {
        let mut all = controllers();
        let carried = all.remove(&p.pid());
        COUNT.store(all.len(), Ordering::Relaxed);
        carried
    };
    if let Some(connection) = carried {
        connection.ended(p.exit_reason);
    }
}
