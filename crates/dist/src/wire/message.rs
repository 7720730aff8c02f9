//! An encoded message on its way out. It owns all that it needs: the sender's terms may go.

use heddle_term::bits::BitsView;
use heddle_term::refbin::RefBin;
use heddle_term::{Atom, Kind, Term};

/// Bytes of a large binary that the message shares with other owners.
pub struct HeldBytes {
    /// One reference is ours.
    block: *mut RefBin,
    at: *const u8,
    len: usize,
}

// SAFETY: the bytes do not change as long as the block is there, and blocks count their references atomically.
unsafe impl Send for HeldBytes {}
// SAFETY: as above.
unsafe impl Sync for HeldBytes {}

impl HeldBytes {
    /// The whole bytes of a bitstring that starts on a byte.
    pub(super) fn of(bits: Term) -> HeldBytes {
        let Some(view) = BitsView::of(bits) else { return HeldBytes::copy_of(&[]) };
        let (at, len) = (view.base.wrapping_add((view.offset_bits / 8) as usize), (view.size_bits / 8) as usize);
        let original = if bits.is_kind(Kind::SubBits) { bits.slot(2) } else { bits };
        if original.is_kind(Kind::BinRef) {
            let block = original.word(2) as *mut RefBin;
            // SAFETY: a BinRef owns a reference to a live block.
            unsafe { RefBin::retain(block) };
            return HeldBytes { block, at, len };
        }
        // SAFETY: the view has that many bytes.
        HeldBytes::copy_of(unsafe { std::slice::from_raw_parts(at, len) })
    }

    fn copy_of(bytes: &[u8]) -> HeldBytes {
        let block = RefBin::from_bytes(bytes);
        // SAFETY: the block is live: it has just been made.
        HeldBytes { block, at: unsafe { RefBin::bytes_of(block) }, len: bytes.len() }
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the block has these bytes, and we hold it.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Clone for HeldBytes {
    fn clone(&self) -> Self {
        // SAFETY: we hold the block.
        unsafe { RefBin::retain(self.block) };
        HeldBytes { block: self.block, at: self.at, len: self.len }
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        // SAFETY: one reference is ours, and it is given up here.
        unsafe { RefBin::release(self.block) };
    }
}

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
