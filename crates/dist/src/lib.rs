//! The distribution protocol: how this node speaks with other nodes.

pub mod wire;
