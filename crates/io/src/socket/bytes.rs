//! The bytes of binaries, as system calls take and leave them.

use heddle_term::bits::BitsView;
use heddle_term::{Heap, Term, list};
use std::cell::RefCell;

/// The bytes of a binary or of I/O data in a list. None for anything else. Stock takes lists too, where `socket` gives binaries.
pub fn of_data(term: &Term) -> Option<std::borrow::Cow<'_, [u8]>> {
    if term.is_cons() || term.is_nil() { list::iolist_to_vec(*term).ok().map(Into::into) } else { of(term) }
}

/// The bytes of a binary, in place where they begin at a byte. None for anything else.
pub fn of(term: &Term) -> Option<std::borrow::Cow<'_, [u8]>> {
    let view = BitsView::of(*term).filter(|bits| bits.is_binary())?;
    Some(match view.as_bytes() {
        Some(bytes) => bytes.into(),
        None => view.to_vec().into(),
    })
}

/// Largest room that a thread keeps.
const KEPT_BYTES: usize = 64 << 10;

thread_local! {
    /// Room for what is received, so that short data costs no memory of the asked size.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with room for `bytes` bytes.
pub fn with_room<R>(bytes: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
    if bytes > KEPT_BYTES {
        return f(&mut vec![0; bytes]);
    }
    ROOM.with_borrow_mut(|room| {
        if room.len() < bytes {
            room.resize(bytes.next_power_of_two(), 0);
        }
        f(&mut room[..bytes])
    })
}

/// `[Binary]` of what was received.
pub fn vector(heap: &mut Heap, bytes: &[u8]) -> Term {
    let bytes = heap.binary(bytes);
    heap.list(&[bytes])
}
