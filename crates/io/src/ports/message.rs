//! Messages to ports: `{Owner, {command, Data}}` and so on.

use super::data::Data;
use heddle_term::{Atom, Term};

/// What a message asks for.
pub(super) enum PortMessage {
    Command(Data),
    Close,
    Connect(Term),
}

/// Takes a message `{Owner, What}` apart; `in_parts`: see `Data::of`. Returns the owner that it names and what is asked for, or None for another form.
pub(super) fn parse(message: Term, in_parts: bool) -> Option<(Term, PortMessage)> {
    let &[owner, what] = message.as_tuple()? else { return None };
    if what.is_atom_of(Atom::new("close")) {
        return Some((owner, PortMessage::Close));
    }
    let &[kind, value] = what.as_tuple()? else { return None };
    let request = match kind.as_atom()?.name() {
        "command" => PortMessage::Command(Data::of(value, in_parts)?),
        "connect" if value.is_local_pid() => PortMessage::Connect(value),
        _ => return None,
    };
    Some((owner, request))
}

/// A message that a port got.
pub(super) struct Delayed {
    pub from: Term,
    /// The owner that it names and what it asks for; None for another form.
    pub request: Option<(Term, PortMessage)>,
}
