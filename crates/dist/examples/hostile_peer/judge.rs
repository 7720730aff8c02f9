//! What the node must do with a packet, as the decoder of this project says.

use crate::random_pid::{self, is_harmless};
use crate::target::Target;
use heddle_dist::wire::{Assembler, AtomBudget, Control, Framing, Limits, WireError};
use heddle_term::ident::PidView;
use heddle_term::{Atom, Heap, Kind, Term};
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Accepted,
    /// The node closes the connection.
    Refused(String),
    /// The receiver closes it, if there is one.
    BadPayload(String),
    /// It would make an atom, of which there were enough; or it would reach a process that the node does not live without.
    Forbidden,
}

/// The receiving end of a connection, as the node has it.
pub struct Judge {
    assembler: Assembler,
    budget: Arc<AtomBudget>,
    own: Atom,
    heap: Heap,
}

impl Judge {
    /// `own` is the peer's name.
    pub fn new(framing: Framing, own: Atom, budget: Arc<AtomBudget>) -> Judge {
        Judge { assembler: Assembler::new(framing, Limits::default()), budget, own, heap: Heap::new() }
    }

    /// The verdict on the next packet. Unless it is `Accepted`, or `commits` is true, it is as if the packet had not been.
    pub fn judge(&mut self, target: &Target, packet: &[u8], commits: bool) -> Verdict {
        let before = (!commits).then(|| self.assembler.clone());
        let verdict = self.verdict(target, packet).unwrap_or_else(|error| match error {
            WireError::AtomBudget | WireError::AtomTableFull => Verdict::Forbidden,
            error => Verdict::Refused(error.to_string()),
        });
        self.heap.clear();
        if let (Some(before), true) = (before, verdict != Verdict::Accepted) {
            self.assembler = before;
        }
        verdict
    }

    /// True if the message must not be sent at all.
    pub fn forbids(&self, target: &Target, control: &Control, payload: Option<Term>) -> bool {
        is_dangerous(target, control) || payload.is_some_and(|term| stays_out(target, control, term))
    }

    fn verdict(&mut self, target: &Target, packet: &[u8]) -> Result<Verdict, WireError> {
        let Some(message) = self.assembler.receive(packet, &self.budget)? else { return Ok(Verdict::Accepted) };
        let (control, payload) = message.split(&mut self.heap, &self.budget)?;
        control.check_nodes(self.own, target.atom())?;
        if is_dangerous(target, &control) {
            return Ok(Verdict::Forbidden);
        }
        let Some(payload) = payload else { return Ok(Verdict::Accepted) };
        match payload.decode(&mut self.heap, &self.budget) {
            Ok(term) if stays_out(target, &control, term) => Ok(Verdict::Forbidden),
            Ok(_) => Ok(Verdict::Accepted),
            Err(WireError::AtomBudget | WireError::AtomTableFull) => Ok(Verdict::Forbidden),
            Err(error) => Ok(Verdict::BadPayload(error.to_string())),
        }
    }
}

/// True for a message that does harm in stock as well: some of the first processes end after an unknown request (`erl_prim_loader` after
/// `{Pid, Unknown}`), and others leave what they do not know in their queues.
fn stays_out(target: &Target, control: &Control, message: Term) -> bool {
    match control {
        Control::Send { to, .. } => to.is_ours() && target.is_protected(*to),
        Control::SendName { to, .. } => random_pid::is_of_node(*to) && message.is_kind(Kind::Tuple),
        _ => false,
    }
}

/// True if the node may rightly stop because of it.
fn is_dangerous(target: &Target, control: &Control) -> bool {
    let protects = |pid: &PidView| pid.is_ours() && target.is_protected(*pid);
    match control {
        Control::Link { to, .. } | Control::Exit { to, .. } | Control::Exit2 { to, .. } | Control::GroupLeader { to, .. } => protects(to),
        Control::SpawnRequest { module, function, .. } => !is_harmless(*module, *function),
        // What a process asked for itself.
        Control::MonitorExit { to, .. } | Control::SpawnReply { to, .. } => protects(to),
        _ => false,
    }
}
