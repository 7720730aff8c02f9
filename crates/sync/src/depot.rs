//! Batches of something that threads leave for each other: a thread with too many puts one there, a thread with none takes one. Which one it gets
//! does not matter, so there is no order, and nothing to get wrong but that each is taken once.

use crate::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr::null_mut;

pub struct Depot<const PLACES: usize> {
    /// Null: nothing is there.
    places: [AtomicPtr<u8>; PLACES],
    /// How many batches there are, or soon will be. Relaxed: a hint where to look.
    count: AtomicUsize,
}

impl<const PLACES: usize> Depot<PLACES> {
    #[cfg(not(loom))]
    pub const fn new() -> Depot<PLACES> {
        Depot { places: [const { AtomicPtr::new(null_mut()) }; PLACES], count: AtomicUsize::new(0) }
    }

    #[cfg(loom)]
    pub fn new() -> Depot<PLACES> {
        Depot { places: std::array::from_fn(|_| AtomicPtr::new(null_mut())), count: AtomicUsize::new(0) }
    }

    /// How many there are, about.
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed).min(PLACES)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the batch, which is not null, is there for all now. False: there is no room.
    pub fn put(&self, batch: *mut u8) -> bool {
        let count = self.len();
        if count == PLACES {
            return false;
        }
        // Before it is there: so a taker, which counts too, does not come before this.
        self.count.fetch_add(1, Ordering::Relaxed);
        for place in self.places[count..].iter().chain(&self.places[..count]) {
            // Release: the taker reads what is in it. Looked at first: mostly the one at the count is empty.
            if place.load(Ordering::Relaxed).is_null()
                && place.compare_exchange(null_mut(), batch, Ordering::Release, Ordering::Relaxed).is_ok()
            {
                return true;
            }
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
        false
    }

    /// One of them, for the caller alone; null: none was found.
    pub fn take(&self) -> *mut u8 {
        let count = self.len();
        if count == 0 {
            return null_mut();
        }
        for place in self.places[..count].iter().rev().chain(&self.places[count..]) {
            if place.load(Ordering::Relaxed).is_null() {
                continue;
            }
            // Acquire: pairs with the Release above.
            let batch = place.swap(null_mut(), Ordering::Acquire);
            if !batch.is_null() {
                self.count.fetch_sub(1, Ordering::Relaxed);
                return batch;
            }
        }
        null_mut()
    }
}

impl<const PLACES: usize> Default for Depot<PLACES> {
    fn default() -> Self {
        Depot::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn so_many_go_in_and_each_comes_out_once() {
        let depot: Depot<3> = Depot::new();
        let batch = |n: usize| std::ptr::without_provenance_mut::<u8>(n);
        assert!(depot.take().is_null() && depot.is_empty());
        assert!((1..=3).all(|n| depot.put(batch(n))));
        assert!(!depot.put(batch(4)));
        assert_eq!((depot.take().addr(), depot.len()), (3, 2));
        assert!(depot.put(batch(4)));
        let mut left: Vec<usize> = std::iter::from_fn(|| Some(depot.take().addr()).filter(|&n| n != 0)).collect();
        left.sort();
        assert_eq!(left, [1, 2, 4]);
        assert!(depot.is_empty());
    }
}
