//! Control messages: what a node wants of another, apart from the term that may come with it.

mod encode;
mod malformed;
mod origin;
mod parse;

pub use malformed::Malformed;

use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term};

/// The process that is meant, or the name of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Pid(PidView),
    Name(Atom),
}

/// What became of a request to spawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spawned {
    Pid(PidView),
    /// Why there is no process.
    Error(Atom),
}

/// In `flags` of `SpawnReply`: the processes are linked.
pub const SPAWN_FLAG_LINK: u32 = 1;
/// In `flags` of `SpawnReply`: the requester monitors the process.
pub const SPAWN_FLAG_MONITOR: u32 = 2;

/// A control message. Terms are of the heap that it was decoded into, or for encoding of any heap. `token` is a trace token, if there is
/// one. Nothing says that identifiers belong to the nodes that they should: see `check_nodes`.
#[derive(Clone, Copy, Debug)]
pub enum Control {
    /// Payload: the message. `from` is missing if the sender's node is old or not written in Erlang.
    Send {
        from: Option<PidView>,
        to: PidView,
        token: Option<Term>,
    },
    /// Payload: the message.
    SendName {
        from: PidView,
        to: Atom,
        token: Option<Term>,
    },
    /// Payload: the message.
    SendAlias {
        from: PidView,
        alias: RefView,
        token: Option<Term>,
    },
    Link {
        from: PidView,
        to: PidView,
    },
    /// `id` is not 0.
    Unlink {
        id: u64,
        from: PidView,
        to: PidView,
    },
    /// Must be sent before any other signal to that process.
    UnlinkAck {
        id: u64,
        from: PidView,
        to: PidView,
    },
    /// A linked process has ended. Payload: the reason, unless it is here (of nodes without `DFLAG_EXIT_PAYLOAD`).
    Exit {
        from: PidView,
        to: PidView,
        token: Option<Term>,
        reason: Option<Term>,
    },
    /// `exit/2`. Payload: as for `Exit`.
    Exit2 {
        from: PidView,
        to: PidView,
        token: Option<Term>,
        reason: Option<Term>,
    },
    GroupLeader {
        leader: PidView,
        to: PidView,
    },
    Monitor {
        from: PidView,
        to: Target,
        reference: RefView,
    },
    Demonitor {
        from: PidView,
        to: Target,
        reference: RefView,
    },
    /// The monitored process `from` has ended. Payload: as for `Exit`.
    MonitorExit {
        from: Target,
        to: PidView,
        reference: RefView,
        reason: Option<Term>,
    },
    /// Payload: the list of arguments. `reference` is also that of the monitor, if one was asked for. `arity` is what the sender says.
    SpawnRequest {
        reference: RefView,
        from: PidView,
        group_leader: PidView,
        module: Atom,
        function: Atom,
        arity: i64,
        options: Term,
        token: Option<Term>,
    },
    SpawnReply {
        reference: RefView,
        to: PidView,
        flags: u32,
        result: Spawned,
        token: Option<Term>,
    },
}

/// Numbers of operations, the first element of a control message. Names ending in `TT` have a trace token.
mod op {
    pub const LINK: u8 = 1;
    pub const SEND: u8 = 2;
    pub const EXIT: u8 = 3;
    pub const REG_SEND: u8 = 6;
    pub const GROUP_LEADER: u8 = 7;
    pub const EXIT2: u8 = 8;
    pub const SEND_TT: u8 = 12;
    pub const EXIT_TT: u8 = 13;
    pub const REG_SEND_TT: u8 = 16;
    pub const EXIT2_TT: u8 = 18;
    pub const MONITOR_P: u8 = 19;
    pub const DEMONITOR_P: u8 = 20;
    pub const MONITOR_P_EXIT: u8 = 21;
    pub const SEND_SENDER: u8 = 22;
    pub const SEND_SENDER_TT: u8 = 23;
    pub const PAYLOAD_EXIT: u8 = 24;
    pub const PAYLOAD_EXIT_TT: u8 = 25;
    pub const PAYLOAD_EXIT2: u8 = 26;
    pub const PAYLOAD_EXIT2_TT: u8 = 27;
    pub const PAYLOAD_MONITOR_P_EXIT: u8 = 28;
    pub const SPAWN_REQUEST: u8 = 29;
    pub const SPAWN_REQUEST_TT: u8 = 30;
    pub const SPAWN_REPLY: u8 = 31;
    pub const SPAWN_REPLY_TT: u8 = 32;
    pub const ALIAS_SEND: u8 = 33;
    pub const ALIAS_SEND_TT: u8 = 34;
    pub const UNLINK_ID: u8 = 35;
    pub const UNLINK_ID_ACK: u8 = 36;
}

impl Control {
    /// The number of the operation.
    pub fn operation(&self) -> u8 {
        let either = |token: &Option<Term>, without, with| if token.is_some() { with } else { without };
        match self {
            Control::Send { from: None, token, .. } => either(token, op::SEND, op::SEND_TT),
            Control::Send { from: Some(_), token, .. } => either(token, op::SEND_SENDER, op::SEND_SENDER_TT),
            Control::SendName { token, .. } => either(token, op::REG_SEND, op::REG_SEND_TT),
            Control::SendAlias { token, .. } => either(token, op::ALIAS_SEND, op::ALIAS_SEND_TT),
            Control::Link { .. } => op::LINK,
            Control::Unlink { .. } => op::UNLINK_ID,
            Control::UnlinkAck { .. } => op::UNLINK_ID_ACK,
            Control::Exit { reason: Some(_), token, .. } => either(token, op::EXIT, op::EXIT_TT),
            Control::Exit { reason: None, token, .. } => either(token, op::PAYLOAD_EXIT, op::PAYLOAD_EXIT_TT),
            Control::Exit2 { reason: Some(_), token, .. } => either(token, op::EXIT2, op::EXIT2_TT),
            Control::Exit2 { reason: None, token, .. } => either(token, op::PAYLOAD_EXIT2, op::PAYLOAD_EXIT2_TT),
            Control::GroupLeader { .. } => op::GROUP_LEADER,
            Control::Monitor { .. } => op::MONITOR_P,
            Control::Demonitor { .. } => op::DEMONITOR_P,
            Control::MonitorExit { reason: Some(_), .. } => op::MONITOR_P_EXIT,
            Control::MonitorExit { reason: None, .. } => op::PAYLOAD_MONITOR_P_EXIT,
            Control::SpawnRequest { token, .. } => either(token, op::SPAWN_REQUEST, op::SPAWN_REQUEST_TT),
            Control::SpawnReply { token, .. } => either(token, op::SPAWN_REPLY, op::SPAWN_REPLY_TT),
        }
    }

    /// True if a payload comes with it.
    pub fn has_payload(&self) -> bool {
        match self {
            Control::Send { .. } | Control::SendName { .. } | Control::SendAlias { .. } | Control::SpawnRequest { .. } => true,
            Control::Exit { reason, .. } | Control::Exit2 { reason, .. } | Control::MonitorExit { reason, .. } => reason.is_none(),
            Control::Link { .. }
            | Control::Unlink { .. }
            | Control::UnlinkAck { .. }
            | Control::GroupLeader { .. }
            | Control::Monitor { .. }
            | Control::Demonitor { .. }
            | Control::SpawnReply { .. } => false,
        }
    }
}
