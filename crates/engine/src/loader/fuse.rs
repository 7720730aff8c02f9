//! Operations that often follow each other become one: the loader puts the address of a function that has the bodies of all of
//! them in the cell of the first. No cell moves and the others keep their own operations, so that jumps into the middle, slow
//! ways out and stack traces need to know nothing of it.
//!
//! Which sequences are in the table was counted (see `profile`) over the compiler, the shell's start and bench/programs.

use crate::ctx::OpFn;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A trie over the addresses of operations.
#[derive(Default)]
struct Node {
    fused: Option<OpFn>,
    next: HashMap<usize, Node>,
}

static TABLE: LazyLock<Node> = LazyLock::new(|| {
    let mut root = Node::default();
    for (sequence, fused) in super::fused::all() {
        let mut node = &mut root;
        for op in sequence {
            node = node.next.entry(op).or_default();
        }
        node.fused = Some(fused);
    }
    root
});

/// Replaces the first operation of each known sequence, the longest first. `ops` are the offsets of the operations.
pub fn fuse(cells: &mut [u64], ops: &[u32]) {
    if cfg!(feature = "op-profile") {
        return;
    }
    let originals: Vec<usize> = ops.iter().map(|&at| cells[at as usize] as usize).collect();
    let mut i = 0;
    while i < ops.len() {
        let mut node = &*TABLE;
        let mut best = None;
        for (n, op) in originals[i..].iter().enumerate() {
            let Some(next) = node.next.get(op) else { break };
            node = next;
            if let Some(fused) = node.fused {
                best = Some((n + 1, fused));
            }
        }
        match best {
            Some((n, fused)) => {
                cells[ops[i] as usize] = fused as usize as u64;
                i += n;
            }
            None => i += 1,
        }
    }
}
