//! A port that carries the packets of a connection to another node: they go to the connection instead of to the port's owner, and the connection
//! says what the port writes.

use super::find;
use super::port::Port;
use super::port_task::PortTask;
use heddle_runtime::process::identity::PORT;
use heddle_runtime::task::{self, Owned, TaskNext};
use heddle_term::{Atom, Term};
use std::sync::Arc;

/// Bytes to write.
pub enum Piece {
    Own(Vec<u8>),
    /// Memory that others have as well.
    Shared(Box<dyn AsRef<[u8]> + Send>),
}

impl Piece {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Shared(bytes) => (**bytes).as_ref(),
        }
    }
}

/// What a port does for a connection. All calls come from the port's task, one at a time.
pub trait Channel: Send + Sync {
    /// A packet of the peer, without its length. False: the peer breaks the protocol, and the port ends.
    fn input(&self, packet: &[u8]) -> bool;
    /// Packets to write, each with its length in four bytes in front, in pieces: about `room` bytes, or none if there are none.
    fn output(&self, room: usize) -> Vec<Piece>;

    /// True if what is not sent yet is not for the peer any more, which broke the protocol and may never read it.
    fn discards(&self) -> bool {
        false
    }
    /// The port has ended, for this reason.
    fn ended(&self, reason: Term);
}

/// The port carries the channel from now on. False if it is no port that can. `done` is called with the answer, by the port's task or by the
/// calling thread.
pub fn carry(port: Term, channel: Arc<dyn Channel>, done: impl FnOnce(bool) + Send + 'static) {
    let Some(port) = find(port) else { return done(false) };
    task::call_soon(port.identity(), move |task: &mut PortTask, context| {
        done(task.carry(channel));
        task.pump(context)
    });
}

/// The connection has packets to write. May be called by any thread.
pub fn has_output(port: &Arc<Port>) {
    task::call_soon(port.identity(), |task: &mut PortTask, context| task.pump(context));
}

/// Ends the port, for a reason that its owner gets as well.
pub fn end(port: u64, reason: &'static str) {
    task::call_soon(port | PORT, move |_: &mut PortTask, _| TaskNext::Exit(Owned::atom(Atom::new(reason))));
}
