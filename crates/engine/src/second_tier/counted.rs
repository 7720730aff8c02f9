//! The cells in which the calls of a function are counted. They stand before its header.

use super::OPERATIONS;
use crate::header::FUNC_HEADER_CELLS;

/// The operation of the entry, and the number of calls until the function is compiled.
pub const CELLS: usize = 2;

/// In the cell that counts: what it has while it is noted if a function with machine code is entered.
pub const NOT_ENTERED: u64 = u64::MAX;
/// The function was entered. A thread that still counts asks for the function at once, which does nothing as it has machine code.
pub const ENTERED: u64 = 1;

/// Offset of the cell with the operation of the entry, or with its machine code while it has some.
pub fn original(entry: u32) -> u32 {
    entry - (FUNC_HEADER_CELLS + CELLS) as u32
}

/// Offset of the cell that counts.
pub fn counter(entry: u32) -> u32 {
    original(entry) + 1
}

/// Counts the calls of the function with this entry.
pub fn count(cells: &mut [u64], entry: usize, calls: u64) {
    let Some(operations) = OPERATIONS.get() else { return };
    cells[original(entry as u32) as usize] = cells[entry];
    cells[counter(entry as u32) as usize] = calls;
    cells[entry] = operations.count_call;
}
