//! Messages to ports: `{Owner, {command, Data}}` and so on.

use heddle_term::{Atom, Term, list};

/// What a message asks for.
pub(super) enum PortMessage {
    Command(Vec<u8>),
    Close,
    Connect(Term),
}

/// Takes a message `{Owner, What}` apart. Returns the owner that it names and what is asked for, or None for another form.
pub(super) fn parse(message: Term) -> Option<(Term, PortMessage)> {
    let &[owner, what] = message.as_tuple()? else { return None };
    if what.is_atom_of(Atom::new("close")) {
        return Some((owner, PortMessage::Close));
    }
    let &[kind, value] = what.as_tuple()? else { return None };
    let request = match kind.as_atom()?.name() {
        "command" => PortMessage::Command(list::iolist_to_vec(value).ok()?),
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
