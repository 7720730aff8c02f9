//! An encoded message on its way out. It owns all that it needs: the sender's terms may go.

use heddle_term::Atom;
use heddle_term::held::HeldBytes;

/// A control message and its payload as bytes, but for the header, which depends on what was sent before.
pub struct OutMessage {
    /// Atoms that the terms refer to by their places.
    pub(super) atoms: Vec<Atom>,
    pub(super) bytes: Vec<u8>,
    /// Bytes that belong at these places of `bytes`, in order.
    pub(super) held: Vec<(usize, HeldBytes)>,
    /// Bytes of the control message, which must be in the first packet.
    pub(super) control_bytes: usize,
    pub(super) len_bytes: usize,
}

impl OutMessage {
    /// Bytes of all terms, without headers.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Bytes of memory that are the message's own: large binaries are shared.
    pub fn own_bytes(&self) -> usize {
        size_of::<OutMessage>() + self.bytes.capacity() + self.held.len() * size_of::<(usize, HeldBytes)>()
    }
}
