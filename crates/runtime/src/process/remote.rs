//! What a process has to do with processes of other nodes: links, monitors both ways, nodes that it monitors, spawn requests that are not answered
//! yet. Kept apart from `links`, whose maps know local processes alone: so a process without such relations pays nothing for them.
//!
//! Each relation remembers the connection over which it was made, and ends with it: see [`Nodes::relate`](super::nodes::Nodes::relate).

use super::links::AliasMode;
use super::nodes::{ConnectionId, Encoded, Target};
use crate::base::refs::RefId;
use crate::signal::package::Package;
use foldhash::fast::FixedState;
use heddle_term::Atom;
use heddle_term::ident::{PidView, RefView};
use std::collections::{HashMap, VecDeque};

type Map<K, V> = HashMap<K, V, FixedState>;

#[derive(Clone, Copy)]
pub struct RemoteLink {
    pub active: bool,
    /// Identifier of our unlink that is not acknowledged yet, or 0.
    pub unlinking: u64,
    pub connection: ConnectionId,
}

/// A monitor that this process made on a process of another node.
pub struct RemoteMonitoring {
    pub target: Target,
    pub connection: ConnectionId,
    pub alias: AliasMode,
    /// First element of the message instead of 'DOWN'.
    pub tag: Option<Package>,
}

/// A monitor on this process, made by a process of another node.
#[derive(Clone, Copy)]
pub struct RemoteWatcher {
    pub watcher: PidView,
    /// The registered name that was used, if any.
    pub name: Option<Atom>,
    pub connection: ConnectionId,
}

/// A `spawn_request` to another node without an answer.
pub struct Spawning {
    pub connection: ConnectionId,
    pub link: bool,
    /// A monitor is wanted, with this alias and tag.
    pub monitor: Option<(AliasMode, Option<Package>)>,
    /// First element of the answer; None: `spawn_reply`.
    pub tag: Option<Package>,
    pub tells_success: bool,
    pub tells_error: bool,
    /// The caller has abandoned it: a process that is started nevertheless is told to end.
    pub abandoned: bool,
}

/// A node that this process monitors (`monitor_node`).
#[derive(Clone, Copy)]
pub struct WatchedNode {
    pub connection: ConnectionId,
    /// How often it monitors the node: as many messages come.
    pub times: usize,
}

/// A message of another node that came while the process was suspended. Its place in the queue is taken by a node with this address.
pub struct Undecoded {
    pub node: usize,
    pub connection: ConnectionId,
    pub payload: Box<dyn Encoded>,
}

#[derive(Default)]
pub struct RemoteRelations {
    pub links: Map<PidView, RemoteLink>,
    pub monitoring: Map<RefId, RemoteMonitoring>,
    pub watchers: Map<RefView, RemoteWatcher>,
    pub spawning: Map<RefId, Spawning>,
    pub nodes: Map<Atom, WatchedNode>,
    /// In the order of the queue. Empty while the process is not suspended.
    pub undecoded: VecDeque<Undecoded>,
    /// The connections that tell this process when they end.
    pub connections: Vec<ConnectionId>,
    /// The process of another node that spawned this one.
    pub parent: Option<PidView>,
}
