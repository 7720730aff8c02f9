//! The nodes that are registered.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// What a node said of itself.
pub struct Registered {
    pub port: u16,
    /// 77: visible, 72: hidden.
    pub kind: u8,
    pub protocol: u8,
    pub highest: u16,
    pub lowest: u16,
    pub extra: Vec<u8>,
    /// The connection that keeps the name.
    pub connection: u64,
}

#[derive(Default)]
pub struct Names {
    all: BTreeMap<Vec<u8>, Registered>,
    creations: u64,
}

/// Creations below are those of nodes of old releases.
const FIRST_CREATION: u32 = 4;

impl Names {
    /// The creation of the node's life that begins now; None if the name is taken.
    pub fn register(&mut self, name: Vec<u8>, node: Registered) -> Option<u32> {
        if self.all.contains_key(&name) {
            return None;
        }
        self.all.insert(name, node);
        self.creations += 1;
        // Another one each time, also after the server was started again.
        let chance = RandomState::new().hash_one(self.creations) as u32;
        Some(chance.max(FIRST_CREATION))
    }

    pub fn find(&self, name: &[u8]) -> Option<&Registered> {
        self.all.get(name)
    }

    /// The connection is closed: the name that it kept is free.
    pub fn forget(&mut self, connection: u64) {
        self.all.retain(|_, node| node.connection != connection);
    }

    /// The connection that keeps the name.
    pub fn connection_of(&self, name: &[u8]) -> Option<u64> {
        self.all.get(name).map(|node| node.connection)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (String, &Registered)> {
        self.all.iter().map(|(name, node)| (String::from_utf8_lossy(name).into_owned(), node))
    }
}
