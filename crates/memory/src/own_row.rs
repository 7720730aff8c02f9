//! Where the calling thread finds its row: one word of the thread, loaded by one instruction.
//!
//! A `thread_local!` costs a call where it is used by another crate than its own (compilers place no more than that before they
//! know that the program is no library; at link time it is too late to take back what a call spoils), and all that allocates and
//! frees is in other crates. A program knows where its threads' words lie, and this is a part of programs only: so the word is declared
//! and read as a program would, for processors where that is known.

use crate::row::Row;
use crate::rows::SHARED;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod word {
    use super::{Row, SHARED};

    // A word of the thread that holds the address of SHARED when the thread begins.
    std::arch::global_asm!(
        ".pushsection .tdata.heddle_row,\"awT\",@progbits",
        ".balign 8",
        ".globl heddle_row",
        ".hidden heddle_row",
        ".type heddle_row,@object",
        ".size heddle_row,8",
        "heddle_row:",
        ".quad {shared}",
        ".popsection",
        shared = sym SHARED,
    );

    #[inline(always)]
    pub fn get() -> *const Row {
        let row;
        // SAFETY: it loads the word above, which is there as long as the thread.
        unsafe {
            std::arch::asm!("movq %fs:heddle_row@TPOFF, {}", out(reg) row, options(att_syntax, pure, readonly, nostack, preserves_flags));
        }
        row
    }

    pub fn set(row: &'static Row) {
        // SAFETY: it stores to the word above, which the thread alone sees.
        unsafe {
            std::arch::asm!("movq {}, %fs:heddle_row@TPOFF", in(reg) std::ptr::from_ref(row), options(att_syntax, nostack, preserves_flags));
        }
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
mod word {
    use super::{Row, SHARED};
    use std::cell::Cell;

    thread_local! {
        static ROW: Cell<*const Row> = const { Cell::new(&raw const SHARED) };
    }

    #[inline(always)]
    pub fn get() -> *const Row {
        ROW.get()
    }

    pub fn set(row: &'static Row) {
        ROW.set(row);
    }
}

/// The calling thread's row; the shared one if it has none of its own yet, or no more.
#[inline(always)]
pub fn own_row() -> &'static Row {
    // SAFETY: it is never null, and all rows stay.
    unsafe { &*word::get() }
}

/// By a thread that took the row, or gives its own back.
pub(crate) fn set(row: &'static Row) {
    word::set(row);
}

#[cfg(test)]
mod tests {
    use super::{own_row, set};
    use crate::rows::SHARED;

    #[test]
    fn threads_begin_with_the_shared_row_and_have_words_of_their_own() {
        static OTHER: crate::row::Row = crate::row::Row::new(7);
        set(&OTHER);
        assert!(std::ptr::eq(own_row(), &OTHER));
        let is_shared = std::thread::spawn(|| {
            let is_shared = std::ptr::eq(own_row(), &SHARED);
            set(&SHARED);
            is_shared
        });
        assert!(is_shared.join().unwrap());
        assert!(std::ptr::eq(own_row(), &OTHER));
        set(&SHARED);
    }
}
