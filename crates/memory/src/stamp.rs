//! A size and the thread that allocated it, in one word: what is sent from thread to thread carries it.

use crate::COUNTED;
use crate::own_row::own_row;
use crate::row::Row;

/// Lower 48 bits: the size; upper 16: the row of the thread that allocated.
#[derive(Clone, Copy)]
pub struct Stamp(u64);

const SIZE_BITS: u32 = 48;

impl Stamp {
    /// The bits of the word that are the size.
    pub const SIZE_MASK: u64 = (1 << SIZE_BITS) - 1;

    /// Of a block that the calling thread allocates; in the holder's unit.
    #[inline(always)]
    pub fn new(size: usize) -> Stamp {
        debug_assert!(size >> SIZE_BITS == 0);
        Stamp(if COUNTED { size as u64 | (own_row().number() as u64) << SIZE_BITS } else { size as u64 })
    }

    #[inline(always)]
    pub fn size(self) -> usize {
        (self.0 & Stamp::SIZE_MASK) as usize
    }

    /// Counts that the calling thread is about to free the block, if it is another's.
    #[inline(always)]
    pub fn leaves(self, bytes: usize) {
        if !COUNTED {
            return;
        }
        if (self.0 >> SIZE_BITS) as usize != own_row().number() {
            Row::freed_for_another(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stamp;
    use crate::mine;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_block_that_another_thread_frees_is_counted_by_it() {
        mine();
        let stamp = Stamp::new(12_345);
        assert_eq!(stamp.size(), 12_345);
        let foreign = || [mine().foreign_blocks.load(Ordering::Relaxed), mine().foreign_bytes.load(Ordering::Relaxed)];
        let before = foreign();
        stamp.leaves(100);
        assert_eq!(foreign(), before);
        std::thread::spawn(move || {
            let before = foreign();
            stamp.leaves(100);
            assert_eq!(foreign(), [before[0] + 1, before[1] + 100]);
        })
        .join()
        .unwrap();
    }
}
