//! The nodes that are registered.

use std::collections::{BTreeMap, VecDeque};
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
    all: BTreeMap<Vec<u8>, (Registered, u32)>,
    /// Names that were given up, with their last creations, the latest one at the end.
    free: VecDeque<(Vec<u8>, u32)>,
    creations: u64,
}

/// Creations below are those of nodes of old releases.
const FIRST_CREATION: u32 = 4;
/// Names that are remembered when they are free, as in OTP's epmd.
const MAX_FREE: usize = 1000;

impl Names {
    /// The creation of the node's life that begins now; None if the name is taken.
    pub fn register(&mut self, name: Vec<u8>, node: Registered) -> Option<u32> {
        if self.all.contains_key(&name) {
            return None;
        }
        let creation = match self.free.iter().position(|(free, _)| *free == name) {
            // The next one.
            Some(place) => self.free.remove(place).map_or(0, |(_, last)| last.wrapping_add(1)),
            // Another one each time, also after the server was started again.
            None => {
                self.creations += 1;
                RandomState::new().hash_one(self.creations) as u32
            }
        };
        let creation = creation.max(FIRST_CREATION);
        self.all.insert(name, (node, creation));
        Some(creation)
    }

    pub fn find(&self, name: &[u8]) -> Option<&Registered> {
        self.all.get(name).map(|(node, _)| node)
    }

    /// The connection is closed: the name that it kept is free.
    pub fn forget(&mut self, connection: u64) {
        for (name, (_, creation)) in self.all.extract_if(.., |_, (node, _)| node.connection == connection) {
            self.free.push_back((name, creation));
        }
        let excess = self.free.len().saturating_sub(MAX_FREE);
        self.free.drain(..excess);
    }

    /// The connection that keeps the name.
    pub fn connection_of(&self, name: &[u8]) -> Option<u64> {
        self.all.get(name).map(|(node, _)| node.connection)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (String, &Registered)> {
        self.all.iter().map(|(name, (node, _))| (String::from_utf8_lossy(name).into_owned(), node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(connection: u64) -> Registered {
        Registered { port: 1, kind: 77, protocol: 0, highest: 6, lowest: 5, extra: Vec::new(), connection }
    }

    #[test]
    fn a_name_that_was_free_gets_the_next_creation() {
        let mut names = Names::default();
        let first = names.register(b"a".to_vec(), node(1)).expect("the name is free");
        assert!(names.register(b"a".to_vec(), node(2)).is_none());
        names.forget(1);
        assert!(names.is_empty());
        assert_eq!(names.register(b"a".to_vec(), node(3)), Some(first.wrapping_add(1).max(FIRST_CREATION)));
        for connection in 10..10 + 2 * MAX_FREE as u64 {
            names.register(connection.to_be_bytes().to_vec(), node(connection));
            names.forget(connection);
        }
        assert_eq!(names.free.len(), MAX_FREE);
    }
}
