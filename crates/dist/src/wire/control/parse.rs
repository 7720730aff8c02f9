//! A control message from its term.

use super::{Control, Malformed, Spawned, Target, op};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term, big};

/// Flags of a reply to a spawn request have fewer bits.
const REPLY_FLAG_BITS: u32 = 27;

/// The tuple of a known operation, which has as many fields as it must.
struct Fields<'a> {
    operation: u8,
    elements: &'a [Term],
}

impl Control {
    /// Checks all fields as stock does, but not to which nodes identifiers belong.
    pub fn parse(tuple: Term) -> Result<Control, Malformed> {
        let elements = tuple.as_tuple().ok_or(Malformed::NoOperation)?;
        let number = elements.first().and_then(|first| first.as_small()).ok_or(Malformed::NoOperation)?;
        let arity = u8::try_from(number).ok().and_then(arity).ok_or(Malformed::UnknownOperation(number))?;
        let fields = Fields { operation: number as u8, elements };
        if elements.len() != arity {
            return Err(Malformed::Arity { operation: fields.operation, arity: elements.len() });
        }
        fields.parse()
    }
}

/// The fields of an operation, with its number; None if there is no such operation.
fn arity(operation: u8) -> Option<usize> {
    Some(match operation {
        op::LINK | op::SEND | op::SEND_SENDER | op::ALIAS_SEND | op::GROUP_LEADER | op::PAYLOAD_EXIT | op::PAYLOAD_EXIT2 => 3,
        op::SEND_TT | op::SEND_SENDER_TT | op::ALIAS_SEND_TT | op::PAYLOAD_EXIT_TT | op::PAYLOAD_EXIT2_TT => 4,
        op::REG_SEND | op::EXIT | op::EXIT2 | op::UNLINK_ID | op::UNLINK_ID_ACK => 4,
        op::MONITOR_P | op::DEMONITOR_P | op::PAYLOAD_MONITOR_P_EXIT => 4,
        op::REG_SEND_TT | op::EXIT_TT | op::EXIT2_TT | op::MONITOR_P_EXIT | op::SPAWN_REPLY => 5,
        op::SPAWN_REQUEST | op::SPAWN_REPLY_TT => 6,
        op::SPAWN_REQUEST_TT => 7,
        _ => return None,
    })
}

impl Fields<'_> {
    fn parse(&self) -> Result<Control, Malformed> {
        Ok(match self.operation {
            // Field 2 was a cookie once. It may be anything.
            op::SEND => Control::Send { from: None, to: self.pid(3)?, token: None },
            op::SEND_TT => Control::Send { from: None, to: self.pid(3)?, token: self.token(4) },
            op::SEND_SENDER => Control::Send { from: Some(self.pid(2)?), to: self.pid(3)?, token: None },
            op::SEND_SENDER_TT => Control::Send { from: Some(self.pid(2)?), to: self.pid(3)?, token: self.token(4) },
            // Field 3 was a cookie once.
            op::REG_SEND => Control::SendName { from: self.pid(2)?, to: self.atom(4)?, token: None },
            op::REG_SEND_TT => Control::SendName { from: self.pid(2)?, to: self.atom(4)?, token: self.token(5) },
            op::ALIAS_SEND => Control::SendAlias { from: self.pid(2)?, alias: self.reference(3)?, token: None },
            op::ALIAS_SEND_TT => Control::SendAlias { from: self.pid(2)?, alias: self.reference(3)?, token: self.token(4) },
            op::LINK => Control::Link { from: self.pid(2)?, to: self.pid(3)? },
            op::UNLINK_ID => {
                let id = self.id(2)?;
                if id == 0 {
                    return Err(self.error(2, "integer from 1 to 2^64-1"));
                }
                Control::Unlink { id, from: self.pid(3)?, to: self.pid(4)? }
            }
            op::UNLINK_ID_ACK => Control::UnlinkAck { id: self.id(2)?, from: self.pid(3)?, to: self.pid(4)? },
            op::EXIT => self.exit(None, Some(4))?,
            op::EXIT_TT => self.exit(Some(4), Some(5))?,
            op::PAYLOAD_EXIT => self.exit(None, None)?,
            op::PAYLOAD_EXIT_TT => self.exit(Some(4), None)?,
            op::EXIT2 => self.exit2(None, Some(4))?,
            op::EXIT2_TT => self.exit2(Some(4), Some(5))?,
            op::PAYLOAD_EXIT2 => self.exit2(None, None)?,
            op::PAYLOAD_EXIT2_TT => self.exit2(Some(4), None)?,
            op::GROUP_LEADER => Control::GroupLeader { leader: self.pid(2)?, to: self.pid(3)? },
            op::MONITOR_P => Control::Monitor { from: self.pid(2)?, to: self.target(3)?, reference: self.reference(4)? },
            op::DEMONITOR_P => Control::Demonitor { from: self.pid(2)?, to: self.target(3)?, reference: self.reference(4)? },
            op::MONITOR_P_EXIT => self.monitor_exit(Some(5))?,
            op::PAYLOAD_MONITOR_P_EXIT => self.monitor_exit(None)?,
            op::SPAWN_REQUEST => self.spawn_request(None)?,
            op::SPAWN_REQUEST_TT => self.spawn_request(self.token(7))?,
            op::SPAWN_REPLY => self.spawn_reply(None)?,
            op::SPAWN_REPLY_TT => self.spawn_reply(self.token(6))?,
            other => return Err(Malformed::UnknownOperation(other as i64)),
        })
    }

    fn exit(&self, token: Option<usize>, reason: Option<usize>) -> Result<Control, Malformed> {
        let field = |n| self.field(n);
        Ok(Control::Exit { from: self.pid(2)?, to: self.pid(3)?, token: token.map(field), reason: reason.map(field) })
    }

    fn exit2(&self, token: Option<usize>, reason: Option<usize>) -> Result<Control, Malformed> {
        let field = |n| self.field(n);
        Ok(Control::Exit2 { from: self.pid(2)?, to: self.pid(3)?, token: token.map(field), reason: reason.map(field) })
    }

    fn monitor_exit(&self, reason: Option<usize>) -> Result<Control, Malformed> {
        let (from, to, reference) = (self.target(2)?, self.pid(3)?, self.reference(4)?);
        Ok(Control::MonitorExit { from, to, reference, reason: reason.map(|n| self.field(n)) })
    }

    fn spawn_request(&self, token: Option<Term>) -> Result<Control, Malformed> {
        let (reference, from, group_leader) = (self.reference(2)?, self.pid(3)?, self.pid(4)?);
        let function = || {
            let &[module, function, arity] = self.field(5).as_tuple()? else { return None };
            Some((module.as_atom()?, function.as_atom()?, arity.as_small()?))
        };
        let (module, function, arity) = function().ok_or(self.error(5, "tuple of module, function and arity"))?;
        Ok(Control::SpawnRequest { reference, from, group_leader, module, function, arity, options: self.field(6), token })
    }

    fn spawn_reply(&self, token: Option<Term>) -> Result<Control, Malformed> {
        let (reference, to) = (self.reference(2)?, self.pid(3)?);
        let flags = self.field(4).as_small().and_then(|flags| u32::try_from(flags).ok());
        let flags = flags.filter(|flags| flags >> REPLY_FLAG_BITS == 0).ok_or(self.error(4, "set of flags"))?;
        let result = match self.target(5)? {
            Target::Pid(pid) => Spawned::Pid(pid),
            Target::Name(error) => Spawned::Error(error),
        };
        Ok(Control::SpawnReply { reference, to, flags, result, token })
    }

    fn error(&self, field: usize, expected: &'static str) -> Malformed {
        Malformed::Field { operation: self.operation, field, expected }
    }

    /// Fields are counted from 1, and there are as many as the operation has.
    fn field(&self, n: usize) -> Term {
        self.elements.get(n - 1).copied().unwrap_or(Term::NIL)
    }

    fn token(&self, n: usize) -> Option<Term> {
        Some(self.field(n))
    }

    fn pid(&self, n: usize) -> Result<PidView, Malformed> {
        PidView::of(self.field(n)).ok_or(self.error(n, "pid"))
    }

    fn atom(&self, n: usize) -> Result<Atom, Malformed> {
        self.field(n).as_atom().ok_or(self.error(n, "atom"))
    }

    fn reference(&self, n: usize) -> Result<RefView, Malformed> {
        RefView::of(self.field(n)).ok_or(self.error(n, "reference"))
    }

    fn target(&self, n: usize) -> Result<Target, Malformed> {
        let term = self.field(n);
        let pid = PidView::of(term).map(Target::Pid);
        pid.or(term.as_atom().map(Target::Name)).ok_or(self.error(n, "pid or atom"))
    }

    fn id(&self, n: usize) -> Result<u64, Malformed> {
        big::to_u64(self.field(n)).ok_or(self.error(n, "integer from 0 to 2^64-1"))
    }
}
