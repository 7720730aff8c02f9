//! A signal to another node, encoded and on its way out.

use crate::wire::OutMessage;

pub struct Outgoing {
    /// The number of the process that sent it, or of a process that has ended. What one sender sends leaves in order.
    pub sender: u64,
    pub message: OutMessage,
}

impl Outgoing {
    /// Bytes of its terms.
    pub fn bytes(&self) -> usize {
        self.message.len_bytes()
    }
}
