//! Counts the calls of a function, until it has been called so often that compiling it pays.

use crate::ctx::{FUNC_HEADER_CELLS, OpFn};
use crate::{ops, second_tier};
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells before a function's header: the operation of its entry, and the number of calls until it is compiled.
pub const CELLS: usize = 2;

/// Offset of the cell with the operation of the entry.
pub fn original(entry: u32) -> u32 {
    entry - (FUNC_HEADER_CELLS + CELLS) as u32
}

/// Offset of the cell that counts.
pub fn counter(entry: u32) -> u32 {
    original(entry) + 1
}

/// The operation that counts.
pub fn operation() -> u64 {
    count_call as *const () as u64
}

/// Counts the calls of the function with this entry.
pub fn count(cells: &mut [u64], entry: usize, calls: u64) {
    cells[original(entry as u32) as usize] = cells[entry];
    cells[counter(entry as u32) as usize] = calls;
    cells[entry] = operation();
}

ops! {
    // `ip` is the entry of a function with the two cells.
    fn count_call(ip, c, h, s, r) {
        let cells = ip.sub(FUNC_HEADER_CELLS + CELLS);
        // Two threads that count at the same time may count one call: it is an estimate.
        let counter = &*cells.add(1).cast::<AtomicU64>();
        let left = counter.load(Ordering::Relaxed).wrapping_sub(1);
        counter.store(left, Ordering::Relaxed);
        if left == 0 {
            return count_is_full(ip, c, h, s, r);
        }
        return (*(cells as *const OpFn))(ip, c, h, s, r);
    }
    #[cold]
    fn count_is_full(ip, c, h, s, r) {
        second_tier::request(ip);
        return (*(ip.sub(FUNC_HEADER_CELLS + CELLS) as *const OpFn))(ip, c, h, s, r);
    }
}
