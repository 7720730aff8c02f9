//! An encoded message on its way out. It owns all that it needs: the sender's terms may go.

use heddle_term::Atom;
use heddle_term::etf::VERSION;
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
    /// Each term has a version byte in front.
    pub(super) has_versions: bool,
}

impl OutMessage {
    /// Bytes of all terms, without headers.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Puts the version bytes in front of the terms: the packets will have no header. The message was encoded before that was known.
    pub(super) fn add_versions(&mut self) {
        let has_payload = self.len_bytes > self.control_bytes;
        let mut add = |place: usize| {
            self.bytes.insert(place, VERSION);
            self.held.iter_mut().filter(|(at, _)| *at >= place).for_each(|(at, _)| *at += 1);
            self.len_bytes += 1;
        };
        // Control messages hold no binaries, so the payload begins at this place of `bytes` as well.
        if has_payload {
            add(self.control_bytes);
        }
        add(0);
        self.control_bytes += 1;
        self.has_versions = true;
    }

    /// Bytes of memory that are the message's own: large binaries are shared.
    pub fn own_bytes(&self) -> usize {
        size_of::<OutMessage>() + self.bytes.capacity() + self.held.len() * size_of::<(usize, HeldBytes)>()
    }
}
