//! Processes that wait for an answer: of an operation that takes time (`Caller`), or of a send (`Sender`).

use super::deadline::Deadline;
use super::reason::Reason;
use crate::ports::port::Port;
use heddle_term::etf::{self, DecodeOptions};
use heddle_term::{Atom, Heap, Term, am};

/// A process that waits for the result of an operation.
#[derive(Clone, Copy)]
pub struct Caller {
    pub pid: u64,
    pub reference: u16,
    /// When the operation has taken as long as it may.
    pub deadline: Deadline,
}

impl Caller {
    /// `{inet_async, Port, Reference, Result}`; false when the caller is gone.
    pub fn tell(self, port: &Port, result: impl FnOnce(&mut Heap) -> Term) -> bool {
        port.send(self.pid, |heap| {
            let result = result(heap);
            heap.tuple(&[Atom::new("inet_async").into(), port.term(), Term::small(self.reference as i64), result])
        })
    }
    pub fn ok(self, port: &Port) -> bool {
        self.tell(port, |_| am::OK.into())
    }
    pub fn fail(self, port: &Port, reason: Reason) -> bool {
        self.tell(port, |heap| error(heap, reason))
    }
    /// The reply to the request that began the operation.
    pub fn reply(self) -> Vec<u8> {
        self.reference.to_be_bytes().to_vec()
    }
}

/// A process that sent data, and the reference that it expects in the answer (external format).
#[derive(Clone)]
pub struct Sender {
    pub pid: u64,
    pub reference: Vec<u8>,
    /// When the send has taken as long as it may. Set where the sender begins to wait.
    pub deadline: Deadline,
}

impl Sender {
    /// Takes a command `<<Size:16, Reference:Size/binary, Data/binary>>` apart. None for another format.
    pub fn parse(pid: u64, command: &[u8]) -> Option<(Sender, &[u8])> {
        let (size, rest) = command.split_at_checked(2)?;
        let (reference, data) = rest.split_at_checked(u16::from_be_bytes([size[0], size[1]]) as usize)?;
        Some((Sender { pid, reference: reference.to_vec(), deadline: Deadline::NEVER }, data))
    }

    /// `{inet_reply, Port, Result, Reference}`.
    pub fn tell(&self, port: &Port, result: impl FnOnce(&mut Heap) -> Term) {
        port.send(self.pid, |heap| {
            let mut message = vec![Atom::new("inet_reply").into(), port.term(), result(heap)];
            let options = DecodeOptions { allow_trailing: true, ..Default::default() };
            message.extend(etf::decode(heap, &self.reference, &options).map(|decoded| decoded.term).ok());
            heap.tuple(&message)
        });
    }
    pub fn ok(&self, port: &Port) {
        self.tell(port, |_| am::OK.into());
    }
    pub fn fail(&self, port: &Port, reason: Reason) {
        self.tell(port, |heap| error(heap, reason));
    }
}

/// `{error, Reason}`.
pub fn error(heap: &mut Heap, reason: Reason) -> Term {
    heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()])
}
