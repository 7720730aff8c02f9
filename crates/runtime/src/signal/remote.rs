//! Signals from processes of other nodes. What they carry is still in the external format: the receiver decodes it, on its own scheduler. So the
//! thread that reads a connection only finds the receiver.

use crate::base::refs::RefId;
use crate::process::nodes::ConnectionId;
pub use crate::process::nodes::Encoded;
use crate::signal::package::Package;
use crate::trace::token::Token;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term};

pub struct RemoteSignal {
    pub connection: ConnectionId,
    pub what: Inbound,
}

pub enum Inbound {
    /// `alias`: the words of the alias to which it was sent, if it was.
    Message {
        alias: Option<RefId>,
        payload: Payload,
        token: Option<Box<Token>>,
    },
    Link {
        from: PidView,
    },
    Unlink {
        from: PidView,
        id: u64,
    },
    UnlinkAck {
        from: PidView,
        id: u64,
    },
    /// From a broken link or `exit/2`.
    Exit {
        from: PidView,
        reason: Payload,
        linked: bool,
        token: Option<Box<Token>>,
    },
    /// `watcher` monitors the receiver. `name`: the registered name that was used, if any.
    Monitor {
        watcher: PidView,
        reference: RefView,
        name: Option<Atom>,
    },
    Demonitor {
        reference: RefView,
    },
    /// A process that the receiver monitors ended.
    Down {
        reference: RefId,
        reason: Payload,
    },
    GroupLeader {
        leader: PidView,
    },
    /// The answer to a `spawn_request`: the new process, or why there is none.
    SpawnReply {
        reference: RefId,
        result: Result<PidView, Atom>,
        linked: bool,
        monitored: bool,
        token: Option<Box<Token>>,
    },
    /// The connection is gone.
    Disconnected,
}

/// A term of another node.
pub enum Payload {
    Encoded(Box<dyn Encoded>),
    Package(Package),
    Atom(Atom),
}

impl Payload {
    /// Decodes it into memory of its own. Error: what is wrong with it.
    pub fn unpack(&self) -> Result<Package, String> {
        let encoded = match self {
            Payload::Atom(atom) => return Ok(Package::immediate((*atom).into())),
            Payload::Package(package) => return Ok(Package::new(package.term())),
            Payload::Encoded(encoded) => encoded,
        };
        let mut done = Ok(());
        let package = Package::build(|heap| {
            encoded.decode(heap).unwrap_or_else(|what| {
                done = Err(what);
                Term::NIL
            })
        });
        done.map(|()| package)
    }
}
