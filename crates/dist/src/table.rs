//! All other nodes that this one has heard of, by name. A node is never forgotten: what is left of it is a name and a lock.

use crate::node::Node;
use heddle_term::Atom;
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

type Nodes = HashMap<Atom, &'static Node, foldhash::fast::FixedState>;

static NODES: LazyLock<RwLock<Nodes>> = LazyLock::new(RwLock::default);

pub fn find(name: Atom) -> Option<&'static Node> {
    NODES.read().unwrap_or_else(PoisonError::into_inner).get(&name).copied()
}

pub fn find_or_add(name: Atom) -> &'static Node {
    if let Some(node) = find(name) {
        return node;
    }
    let mut nodes = NODES.write().unwrap_or_else(PoisonError::into_inner);
    nodes.entry(name).or_insert_with(|| Box::leak(Box::new(Node::new(name))))
}

pub fn all() -> Vec<&'static Node> {
    NODES.read().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
}
