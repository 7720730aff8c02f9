//! A signal to another node, encoded and on its way out.

use crate::flags;
use crate::wire::OutMessage;
use heddle_runtime::RefId;

/// What the peer must be able to do for a signal. It may be sent before that is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// Its flag is `ALIAS`. Without it the signal is lost, as in stock.
    Aliases,
    /// Its flag is `SPAWN`. Without it the sender hears that this request is refused.
    Spawning(RefId),
}

pub struct Outgoing {
    /// The number of the process that sent it, or of a process that has ended. What one sender sends leaves in order.
    pub sender: u64,
    pub needs: Needs,
    pub message: OutMessage,
}

impl Outgoing {
    /// Bytes of its terms.
    pub fn bytes(&self) -> usize {
        self.message.len_bytes()
    }

    /// True if a peer with these flags takes it.
    pub fn is_for(&self, flags: u64) -> bool {
        let flag = match self.needs {
            Needs::Nothing => return true,
            Needs::Aliases => flags::ALIAS,
            Needs::Spawning(_) => flags::SPAWN,
        };
        flags & flag != 0
    }
}
