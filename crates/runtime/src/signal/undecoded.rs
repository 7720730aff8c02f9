//! Messages of other nodes that come while the process is suspended. They stay encoded, as in stock, until it goes on or its messages are looked at:
//! so a malformed one counts as a message until then, and only then ends its connection.

use crate::process::nodes::{ConnectionId, Encoded, nodes};
use crate::process::remote::Undecoded;
use crate::process::{FLAG_TASK, Process};
use crate::signal::inner_queue::Settled;
use crate::signal::remote::Payload;

/// True if a message of another node stays encoded now.
pub(crate) fn waits(p: &Process) -> bool {
    p.suspend_count > 0 && p.flags & FLAG_TASK == 0
}

/// The latest message in the queue stands for this one, until it is decoded.
pub(crate) fn is_latest(p: &mut Process, connection: ConnectionId, payload: Box<dyn Encoded>) {
    let node = p.messages.latest();
    p.relations.make().remote().undecoded.push_back(Undecoded { node, connection, payload });
}

/// Decodes the messages that are still encoded. Malformed ones leave the queue, and end their connections.
pub fn decode(p: &mut Process) {
    let Some(remote) = p.relations.get_mut().and_then(|inner| inner.remote.as_deref_mut()) else { return };
    let mut undecoded = std::mem::take(&mut remote.undecoded);
    if undecoded.is_empty() {
        return;
    }
    p.messages.settle(|node| {
        let Undecoded { connection, payload, .. } = undecoded.pop_front_if(|first| first.node == node)?;
        Some(match Payload::Encoded(payload).unpack() {
            Ok(content) => Settled::Content(content),
            Err(what) => {
                nodes().broken(connection, &what);
                Settled::Nothing
            }
        })
    });
}
