//! Fuses operations that often follow each other: the loader puts the address of a function with the bodies of all of them in the cell of
//! the first. No cell moves and the others keep their own operations. So jumps into the middle, slow paths and stack traces are not
//! affected.
//!
//! The sequences in the table were counted (see `profile`) over the compiler, the shell's start and bench/programs.

use super::fused::{FusedCheck, Sequence};
use crate::ctx::OpFn;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A trie over the addresses of operations.
#[derive(Default)]
struct Node {
    /// The fused operations for the sequence that ends here, the most specific first.
    fused: Vec<Fused>,
    next: HashMap<usize, Node>,
}

struct Fused {
    checks: Vec<FusedCheck>,
    /// Number of operations that are done; those after them may begin a sequence of their own.
    done: usize,
    op: OpFn,
}

static TABLE: LazyLock<Node> = LazyLock::new(|| {
    let mut root = Node::default();
    for Sequence { ops, checks, done, fused } in super::fused::all() {
        let mut node = &mut root;
        for op in ops {
            node = node.next.entry(op).or_default();
        }
        let at = node.fused.partition_point(|other| other.checks.len() > checks.len());
        node.fused.insert(at, Fused { checks, done, op: fused });
    }
    root
});

/// A module's code before its labels have addresses.
pub struct Code<'a> {
    pub cells: &'a mut [u64],
    /// Offsets of the operations.
    pub ops: &'a [u32],
    /// Cells that stand for labels, in order, and the labels.
    pub fixups: &'a [(u32, u32)],
    /// Offset of each label.
    pub labels: &'a [u32],
}

impl Code<'_> {
    /// Replaces the first operation of each known sequence, the longest first.
    pub fn fuse(&mut self) {
        if cfg!(feature = "op-profile") {
            return;
        }
        let originals: Vec<usize> = self.ops.iter().map(|&at| self.cells[at as usize] as usize).collect();
        let mut i = 0;
        while i < self.ops.len() {
            let mut node = &*TABLE;
            let mut best: Option<&Fused> = None;
            for op in &originals[i..] {
                let Some(next) = node.next.get(op) else { break };
                node = next;
                best = node.fused.iter().find(|fused| self.holds(&fused.checks, i)).or(best);
            }
            match best {
                Some(fused) => {
                    self.cells[self.ops[i] as usize] = fused.op as usize as u64;
                    i += fused.done;
                }
                None => i += 1,
            }
        }
    }

    fn holds(&self, checks: &[FusedCheck], first: usize) -> bool {
        checks.iter().all(|check| match *check {
            FusedCheck::Cell { op, cell, value } => self.cells[self.ops[first + op] as usize + cell] == value,
            FusedCheck::Label { op, cell, to } => {
                let at = self.ops[first + op] + cell as u32;
                match self.fixups.binary_search_by_key(&at, |fixup| fixup.0) {
                    Ok(found) => self.labels[self.fixups[found].1 as usize] == self.ops[first + to],
                    Err(_) => false,
                }
            }
        })
    }
}
