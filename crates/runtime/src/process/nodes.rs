//! What the runtime asks of the distribution. Like [`Host`](super::host::Host), with one implementation, in the crate `dist`. Without it this
//! node is alone.

use super::{NativeResult, Process};
use crate::trace::token::Token;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Heap, Kind, Term};
use std::sync::OnceLock;

/// A connection to another node. The next connection to the same node has another number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionId {
    pub node: Atom,
    pub number: u32,
}

/// A process of another node: its pid, or a name there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Pid(PidView),
    Name(Atom),
}

/// Where a message to another node goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    Pid(PidView),
    Name(Atom, Atom),
    Alias(RefView),
}

impl Destination {
    /// The destination on another node that a term names: a pid, an alias, `{Name, Node}`. None for any other term, for a reference that is no
    /// alias, and for what was of this node in an earlier life.
    pub fn of(term: Term) -> Option<Destination> {
        let to = match term.kind()? {
            Kind::ExtPid => Destination::Pid(PidView::of(term)?),
            Kind::ExtRef => Destination::Alias(RefView::of(term).filter(|reference| reference.count == 5)?),
            Kind::Tuple => match term.as_tuple()? {
                &[name, node] => Destination::Name(name.as_atom()?, node.as_atom()?),
                _ => return None,
            },
            _ => return None,
        };
        (to.node() != heddle_term::node::name()).then_some(to)
    }

    pub fn node(&self) -> Atom {
        match *self {
            Destination::Pid(pid) => pid.node,
            Destination::Name(_, node) => node,
            Destination::Alias(alias) => alias.node,
        }
    }
}

/// A signal to a process of another node that is no message. Terms are of the caller, and are read before the call returns.
pub enum Outbound {
    Link {
        to: PidView,
    },
    Unlink {
        to: PidView,
        id: u64,
    },
    UnlinkAck {
        to: PidView,
        id: u64,
    },
    /// `linked`: over a link; else of `exit/2`.
    Exit {
        to: PidView,
        reason: Term,
        linked: bool,
        token: Option<Box<Token>>,
    },
    Monitor {
        target: Target,
        reference: RefView,
    },
    Demonitor {
        target: Target,
        reference: RefView,
    },
    /// The process, which `watcher` monitors by its pid or by this name, ended. A name that no process has: the sender is no process.
    Down {
        name: Option<Atom>,
        watcher: PidView,
        reference: RefView,
        reason: Term,
    },
    GroupLeader {
        leader: PidView,
        member: PidView,
    },
}

/// The result of `Dest ! Message` for a destination on another node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sending {
    Ok,
    /// There is no connection, and there will be none.
    NoConnection,
    /// The connection has too much to send: nothing was sent.
    Busy,
    /// To encode it takes too long for a normal scheduler: nothing was sent. A dirty scheduler sends it.
    Long,
    /// It has a part that is too large for the external format.
    TooLarge,
}

/// What came of a signal to a process of another node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signalled {
    Ok,
    /// The connection has ended.
    Ended,
    /// Its reason has a part that is too large for the external format. Other signals than those of `exit/2` end the connection then.
    TooLarge,
}

/// A term in the external format, as the distribution received it.
pub trait Encoded: Send {
    /// Error: what is wrong with it.
    fn decode(&self, heap: &mut Heap) -> Result<Term, String>;
}

/// Another node, as `system_info` and crash dumps show it.
pub struct KnownNode {
    pub name: Atom,
    /// None: there is no connection, or it is not up yet.
    pub up: Option<NodeUp>,
}

/// A connection that is up.
pub struct NodeUp {
    pub is_visible: bool,
    pub creation: u32,
    /// The port or process that carries the connection.
    pub carrier: Option<Term>,
}

pub trait Nodes: Sync {
    /// `Dest ! Message`. `connect`: a connection is made if there is none; the message waits for it.
    fn send(&self, p: &mut Process, to: Destination, message: Term, token: Option<Box<Token>>, connect: bool) -> Sending;
    /// Makes a native wait that found the connection to a node busy. It is called again with these arguments.
    fn wait(&self, p: &mut Process, args: &[Term], node: Atom) -> super::Thrown;
    /// The connection to the node, or one that is being made. None: there is none, and `connect` is false or this node is not alive.
    fn connection(&self, node: Atom, connect: bool) -> Option<ConnectionId>;
    /// The process with the number `from` sends a signal over a connection.
    fn signal(&self, connection: ConnectionId, from: u64, signal: &Outbound) -> Signalled;
    /// The result of a native that has sent a signal to the node: at once, or when the connection is not busy any more.
    fn returns(&self, p: &mut Process, node: Atom, result: Term) -> NativeResult;
    /// The process gets `Inbound::Disconnected` when the connection ends. False if it has ended.
    fn relate(&self, connection: ConnectionId, pid: u64) -> bool;
    /// Takes `relate` back: the process ends.
    fn unrelate(&self, connection: ConnectionId, pid: u64);
    /// A payload of the connection cannot be decoded: the peer breaks the protocol.
    fn broken(&self, connection: ConnectionId, what: &str);
    /// True if this node has a name by which others can reach it.
    fn is_alive(&self) -> bool;
    /// The node that identifiers show by this number, and its creation, if a connection to it is up.
    fn shown_as(&self, number: u64) -> Option<(Atom, u32)>;
    /// The nodes that have a connection, or had one.
    fn known(&self) -> Vec<KnownNode>;
    /// The connections that are up: the node, and the port or process that carries it.
    fn carriers(&self) -> Vec<(Atom, Term)> {
        self.known().into_iter().filter_map(|node| Some((node.name, node.up?.carrier?))).collect()
    }
    /// `process_flag(monitor_nodes | {monitor_nodes, Options}, Value)`.
    fn monitor_nodes(&self, p: &mut Process, options: Term, value: Term) -> NativeResult;
}

static NODES: OnceLock<&'static dyn Nodes> = OnceLock::new();

/// The distribution answers from now on. Called before there are processes.
pub fn install(nodes: &'static dyn Nodes) {
    let _ = NODES.set(nodes);
}

#[inline]
pub fn nodes() -> &'static dyn Nodes {
    NODES.get().copied().unwrap_or(&Alone)
}

/// Without the distribution, as in tests of this crate.
struct Alone;

impl Nodes for Alone {
    fn send(&self, _: &mut Process, _: Destination, _: Term, _: Option<Box<Token>>, _: bool) -> Sending {
        Sending::NoConnection
    }
    fn wait(&self, p: &mut Process, args: &[Term], _: Atom) -> super::Thrown {
        p.again(args)
    }
    fn connection(&self, _: Atom, _: bool) -> Option<ConnectionId> {
        None
    }
    fn signal(&self, _: ConnectionId, _: u64, _: &Outbound) -> Signalled {
        Signalled::Ended
    }
    fn returns(&self, _: &mut Process, _: Atom, result: Term) -> NativeResult {
        Ok(result)
    }
    fn relate(&self, _: ConnectionId, _: u64) -> bool {
        false
    }
    fn unrelate(&self, _: ConnectionId, _: u64) {}
    fn broken(&self, _: ConnectionId, _: &str) {}
    fn is_alive(&self) -> bool {
        false
    }
    fn shown_as(&self, _: u64) -> Option<(Atom, u32)> {
        None
    }
    fn known(&self) -> Vec<KnownNode> {
        Vec::new()
    }
    fn monitor_nodes(&self, p: &mut Process, _: Term, _: Term) -> NativeResult {
        Err(p.badarg())
    }
}
