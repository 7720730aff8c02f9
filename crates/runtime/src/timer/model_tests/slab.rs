//! The slab against a set of the nodes that are taken. Thresholds: a chunk has 512 nodes; one empty chunk stays, others are freed.

use crate::base::qsbr;
use crate::timer::node::Node;
use crate::timer::slab::{CHUNK_NODES, Directory, Slab};
use heddle_model::{Random, Subject, run};
use std::cell::Cell;
use std::collections::HashMap;

const CHUNK: u64 = CHUNK_NODES as u64;

struct Places {
    tested: Slab,
    directory: &'static Directory,
    /// Each with its generation.
    taken: Vec<(*const Node, u64)>,
    /// By index: the last generation that was there.
    last: HashMap<u32, u64>,
}

/// A slab, its directory, and the last generation by index.
type Idle = (Slab, &'static Directory, HashMap<u32, u64>);

thread_local! {
    // A slab keeps an empty chunk for good: the one of a sequence that ended well serves the next.
    static IDLE: Cell<Option<Idle>> = const { Cell::new(None) };
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Takes this many nodes.
    Take(u64),
    /// Frees this many nodes, from that place of the taken ones on.
    GiveBack(u64, u64),
    /// An index and a generation that are over or never were.
    Find(u64),
}

impl Subject for Places {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 4 * CHUNK];

    fn new() -> Self {
        let (tested, directory, last) =
            IDLE.take().unwrap_or_else(|| (Slab::new(), Box::leak(Box::new(Directory::new(0))), HashMap::new()));
        Places { tested, directory, taken: Vec::new(), last }
    }

    fn operation(random: &mut Random) -> Operation {
        match random.below(20) {
            0 => Operation::Find(random.below(8 * CHUNK)),
            _ if random.grows() => Operation::Take(1 + random.key() / 32),
            _ => Operation::GiveBack(random.bits(), 1 + random.key() / 32),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Take(count) => {
                for _ in 0..count {
                    let node = self.tested.take(self.directory).expect("fewer than there may be");
                    // SAFETY: just taken.
                    let (index, generation) = unsafe { ((*node).index, (*node).claim.generation()) };
                    let before = self.last.insert(index, generation);
                    assert!(before.is_none_or(|before| before < generation), "{index} has generation {generation} after {before:?}");
                    assert!(std::ptr::eq(self.directory.find(index).expect("it is taken"), node));
                    self.taken.push((node, generation));
                }
            }
            Operation::GiveBack(at, count) => {
                for _ in 0..count.min(self.taken.len() as u64) {
                    let (node, generation) = self.taken.swap_remove(at as usize % self.taken.len());
                    // SAFETY: it is taken.
                    assert_eq!(unsafe { (*node).claim.generation() }, generation);
                    self.tested.give_back(self.directory, node);
                }
            }
            Operation::Find(index) => {
                if let Some(node) = self.directory.find(index as u32) {
                    assert_eq!(node.index, index as u32);
                    let last = self.last.get(&(index as u32)).copied().unwrap_or(0);
                    assert!(node.claim.generation() >= last);
                }
            }
        }
    }

    fn check(&mut self) {
        assert_eq!(self.tested.check(self.directory), self.taken.len());
        let needed = self.taken.len().div_ceil(CHUNK_NODES);
        assert!(self.tested.chunks() >= needed);
    }

    fn end(&mut self) {
        for (node, _) in self.taken.drain(..) {
            self.tested.give_back(self.directory, node);
        }
        assert_eq!(self.tested.check(self.directory), 0);
        assert!(self.tested.chunks() <= 1);
        let tested = std::mem::replace(&mut self.tested, Slab::new());
        // Chunks that were freed can go.
        qsbr::quiescent();
        IDLE.set(Some((tested, self.directory, std::mem::take(&mut self.last))));
    }
}

#[test]
fn the_slab_behaves_like_a_set_of_places() {
    qsbr::online();
    run::<Places>();
    qsbr::offline();
}
