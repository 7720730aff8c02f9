//! A control message to bytes. No term is made.

use super::{Control, Spawned, Target};
use heddle_term::etf::{AtomWriter, PartsEncoder, Writer};
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, Term, am};

/// A field of a control message.
enum Field {
    Pid(PidView),
    Atom(Atom),
    Reference(RefView),
    Integer(u64),
    Term(Term),
    Function(Atom, Atom, i64),
    /// Where a cookie was once.
    NoCookie,
}

impl From<Target> for Field {
    fn from(target: Target) -> Field {
        match target {
            Target::Pid(pid) => Field::Pid(pid),
            Target::Name(name) => Field::Atom(name),
        }
    }
}

impl From<Spawned> for Field {
    fn from(result: Spawned) -> Field {
        match result {
            Spawned::Pid(pid) => Field::Pid(pid),
            Spawned::Error(error) => Field::Atom(error),
        }
    }
}

impl Control {
    /// Appends the control message as a tuple, without version byte.
    pub fn encode<A: AtomWriter>(&self, out: &mut PartsEncoder<A>) {
        use Field::{Function, Integer, NoCookie, Pid, Reference};
        match *self {
            Control::Send { from, to, token } => {
                let from = from.map_or(NoCookie, Pid);
                self.put(out, [from, Pid(to)], [token]);
            }
            Control::SendName { from, to, token } => self.put(out, [Pid(from), NoCookie, Field::Atom(to)], [token]),
            Control::SendAlias { from, alias, token } => self.put(out, [Pid(from), Reference(alias)], [token]),
            Control::Link { from, to } => self.put(out, [Pid(from), Pid(to)], []),
            Control::Unlink { id, from, to } | Control::UnlinkAck { id, from, to } => {
                self.put(out, [Integer(id), Pid(from), Pid(to)], []);
            }
            Control::Exit { from, to, token, reason } | Control::Exit2 { from, to, token, reason } => {
                self.put(out, [Pid(from), Pid(to)], [token, reason]);
            }
            Control::GroupLeader { leader, to } => self.put(out, [Pid(leader), Pid(to)], []),
            Control::Monitor { from, to, reference } | Control::Demonitor { from, to, reference } => {
                self.put(out, [Pid(from), to.into(), Reference(reference)], []);
            }
            Control::MonitorExit { from, to, reference, reason } => {
                self.put(out, [from.into(), Pid(to), Reference(reference)], [reason]);
            }
            Control::SpawnRequest { reference, from, group_leader, module, function, arity, options, token } => {
                let function = Function(module, function, arity);
                self.put(out, [Reference(reference), Pid(from), Pid(group_leader), function, Field::Term(options)], [token]);
            }
            Control::SpawnReply { reference, to, flags, result, token } => {
                self.put(out, [Reference(reference), Pid(to), Integer(flags as u64), result.into()], [token]);
            }
        }
    }

    /// Appends the operation, its fields, and terms as far as there are any.
    fn put<A: AtomWriter, const N: usize, const M: usize>(&self, out: &mut PartsEncoder<A>, fields: [Field; N], terms: [Option<Term>; M]) {
        let mut writer = out.writer();
        writer.tuple(1 + N + terms.iter().flatten().count());
        writer.integer(self.operation() as i64);
        for field in fields {
            match field {
                Field::Term(term) => out.term(term),
                field => leaf(&mut out.writer(), field),
            }
        }
        terms.into_iter().flatten().for_each(|term| out.term(term));
    }
}

fn leaf<A: AtomWriter>(writer: &mut Writer<A>, field: Field) {
    match field {
        Field::Pid(pid) => writer.pid(pid),
        Field::Atom(atom) => writer.atom(atom),
        Field::Reference(reference) => writer.reference(reference),
        Field::Integer(value) => writer.unsigned(value),
        Field::Function(module, function, arity) => {
            writer.tuple(3);
            writer.atom(module);
            writer.atom(function);
            writer.integer(arity);
        }
        Field::NoCookie => writer.atom(am::EMPTY),
        Field::Term(_) => writer.nil(),
    }
}
