//! To which nodes the identifiers of a control message must belong.

use super::{Control, Malformed, Target};
use heddle_term::Atom;
use heddle_term::ident::{PidView, RefView};

impl Control {
    /// Checks that a control message of node `peer` to node `this` names processes of these two: the process that links, monitors, exits or
    /// asks for a process is one of the peer, and its partner is one of this node. Identifiers of this node may have an older creation: there
    /// is no such process any more, which the caller sees.
    pub fn check_nodes(&self, peer: Atom, this: Atom) -> Result<(), Malformed> {
        let sender = |pid: &PidView| self.expect(pid.node == peer, "a sender on its node");
        let receiver = |pid: &PidView| self.expect(pid.node == this, "a receiver on this node");
        let of_target = |target: &Target, of_pid: &dyn Fn(&PidView) -> Result<(), Malformed>| match target {
            Target::Pid(pid) => of_pid(pid),
            Target::Name(_) => Ok(()),
        };
        match self {
            // Stock forwards nothing: what is not of this node is dropped by the caller.
            Control::Send { .. } | Control::SendName { .. } | Control::SendAlias { .. } | Control::GroupLeader { .. } => Ok(()),
            Control::Link { from, to }
            | Control::Unlink { from, to, .. }
            | Control::UnlinkAck { from, to, .. }
            | Control::Exit { from, to, .. }
            | Control::Exit2 { from, to, .. } => sender(from).and_then(|()| receiver(to)),
            Control::Monitor { from, to, .. } | Control::Demonitor { from, to, .. } => sender(from).and_then(|()| of_target(to, &receiver)),
            Control::MonitorExit { from, to, .. } => of_target(from, &sender).and_then(|()| receiver(to)),
            Control::SpawnRequest { reference, from, .. } => sender(from).and_then(|()| self.reference_of(reference, peer)),
            Control::SpawnReply { reference, to, .. } => receiver(to).and_then(|()| self.reference_of(reference, this)),
        }
    }

    fn reference_of(&self, reference: &RefView, node: Atom) -> Result<(), Malformed> {
        self.expect(reference.node == node, "a reference of the node that asked")
    }

    fn expect(&self, is_so: bool, expected: &'static str) -> Result<(), Malformed> {
        if is_so { Ok(()) } else { Err(Malformed::Node { operation: self.operation(), expected }) }
    }
}
