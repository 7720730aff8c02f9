//! Another node, and whether there is a connection to it.

use crate::connection::Connection;
use heddle_runtime::nodes::ConnectionId;
use heddle_term::Atom;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of the next connection, of any node. Relaxed: only unique.
static NEXT: AtomicU32 = AtomicU32::new(1);

pub struct Node {
    pub name: Atom,
    /// The connection, if there is one or one is being made.
    connection: Mutex<Option<Arc<Connection>>>,
}

impl Node {
    pub fn new(name: Atom) -> Node {
        Node { name, connection: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Connection>>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, up or being made.
    pub fn connection(&self) -> Option<Arc<Connection>> {
        self.lock().clone()
    }

    /// The same; a new one, with true, if there was none. The caller has it made.
    pub fn connection_or_new(&self) -> (Arc<Connection>, bool) {
        let mut connection = self.lock();
        if let Some(connection) = &*connection {
            return (connection.clone(), false);
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let new = Arc::new(Connection::new(ConnectionId { node: self.name, number }));
        *connection = Some(new.clone());
        (new, true)
    }

    /// The connection with this number, if it is still the node's.
    pub fn numbered(&self, number: u32) -> Option<Arc<Connection>> {
        self.lock().as_ref().filter(|connection| connection.id.number == number).cloned()
    }

    /// The connection has ended: the next one may be made.
    pub fn forget(&self, connection: &Connection) {
        let mut current = self.lock();
        current.take_if(|current| current.id == connection.id);
    }
}
