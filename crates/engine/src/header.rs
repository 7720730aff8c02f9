//! The cells before a function's entry.

/// Cells of the header before a function's entry: func_info, module, function, arity.
pub const FUNC_HEADER_CELLS: usize = 4;

/// Arity of the function whose entry is at `entry`.
///
/// # Safety
/// `entry` is a function entry with a header (not an export's stub).
pub unsafe fn entry_arity(entry: *const u64) -> usize {
    // SAFETY: the header's last cell, before the entry, holds the arity.
    unsafe { *entry.sub(1) as usize }
}
