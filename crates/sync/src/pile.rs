//! A list of things that carry their own links: all may add, one takes everything. Nothing is allocated, and a thread that adds learns how
//! many there are, so that one may be told before there are too many.
//!
//! A thing is known by its address (below 2^48, not 0). It may be on a pile once at a time.

use crate::atomic::{AtomicU64, Ordering};

const COUNT_SHIFT: u32 = 48;
const ADDRESS: u64 = (1 << COUNT_SHIFT) - 1;
const MAX: u64 = (1 << (64 - COUNT_SHIFT)) - 1;

/// The address of the thing on top, and above that how many there are, or `MAX`.
pub struct Pile(AtomicU64);

impl Default for Pile {
    fn default() -> Pile {
        Pile(AtomicU64::new(0))
    }
}

impl Pile {
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: what is there is only looked at after `take`.
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Puts the thing at `address` on top: `link` is its own link. How many there are now (no more than 2^16 - 1 are counted).
    /// It belongs to its taker from here on.
    pub fn push(&self, address: u64, link: &AtomicU64) -> u64 {
        debug_assert!(address != 0 && address <= ADDRESS);
        let mut top = self.0.load(Ordering::Relaxed);
        loop {
            // Relaxed: the exchange publishes it.
            link.store(top & ADDRESS, Ordering::Relaxed);
            let count = (top >> COUNT_SHIFT) + 1;
            let count = count.min(MAX);
            // Release: the taker sees the link and what was done to the thing before.
            match self.0.compare_exchange_weak(top, count << COUNT_SHIFT | address, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return count,
                Err(seen) => top = seen,
            }
        }
    }

    /// Takes everything: the address of the thing that came last, or 0. Its link is the address of the one before, and so on to 0.
    pub fn take(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        // Acquire: pairs with all pushes; each went on from the one before.
        self.0.swap(0, Ordering::Acquire) & ADDRESS
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_taken_once() {
        let links: Vec<AtomicU64> = (0..5).map(|_| AtomicU64::new(77)).collect();
        let pile = Pile::default();
        assert_eq!(pile.take(), 0);
        for address in 1..5u64 {
            assert_eq!(pile.push(address, &links[address as usize]), address);
        }
        let mut found = Vec::new();
        let mut address = pile.take();
        while address != 0 {
            found.push(address);
            address = links[address as usize].load(Ordering::Relaxed);
        }
        assert_eq!(found, [4, 3, 2, 1]);
        assert!(pile.is_empty());
        assert_eq!(pile.push(2, &links[2]), 1);
    }
}
