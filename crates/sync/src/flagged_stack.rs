//! Flags, and a stack of nodes, in one word: a thread that puts a node there says with the same compare-and-swap what that means for the flags,
//! and one that changes the flags may take all nodes with it. So no thread sees one without the other.
//!
//! The flags are the lower bits; above them is the address of the newest node, which is 47 bits long and a multiple of 16. Nodes
//! are only put on top and taken all at once, so a node that comes back at an address that a thread saw before does no harm: that thread puts its
//! own on top of what is there.

use crate::atomic::{AtomicU64, Ordering};
use crate::word::Word;
use std::marker::PhantomData;
use std::ptr::{null_mut, with_exposed_provenance_mut};

/// Of a word's bits those that are flags.
pub const FLAG_BITS: u32 = 21;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;
/// Addresses are multiples of this.
pub const NODE_ALIGN: usize = 16;
const SHIFT: u32 = FLAG_BITS - NODE_ALIGN.trailing_zeros();
/// Instead of a node: there will be none.
const CLOSED: u64 = 1 << FLAG_BITS;

/// What can be put there.
///
/// # Safety
/// Nodes are aligned to `NODE_ALIGN` at least, and `set_next` writes to nothing but its node.
pub unsafe trait Node {
    /// # Safety
    /// The node is the caller's alone.
    unsafe fn set_next(node: *mut Self, next: *mut Self);
}

pub struct FlaggedStack<N> {
    word: AtomicU64,
    nodes: PhantomData<*mut N>,
}

// SAFETY: it is a word; nodes are only touched by the thread that is about to put them there, and by the one that took them.
unsafe impl<N: Send> Send for FlaggedStack<N> {}
// SAFETY: as above.
unsafe impl<N: Send> Sync for FlaggedStack<N> {}

/// The flags before and after a change.
pub type Change = (u32, u32);

fn node<N>(word: u64) -> *mut N {
    if word & !FLAGS == CLOSED { null_mut() } else { with_exposed_provenance_mut((word & !FLAGS) as usize >> SHIFT) }
}

fn flags(word: u64) -> u32 {
    (word & FLAGS) as u32
}

impl<N: Node> FlaggedStack<N> {
    pub fn new(flags: u32) -> FlaggedStack<N> {
        const { assert!(align_of::<N>() >= NODE_ALIGN) };
        FlaggedStack { word: AtomicU64::new(flags as u64), nodes: PhantomData }
    }

    #[inline(always)]
    pub fn flags(&self, order: Ordering) -> u32 {
        flags(self.word.load(order))
    }

    /// The flags, and the newest node.
    #[inline(always)]
    pub fn load(&self) -> (u32, *mut N) {
        // Acquire: pairs with all changes.
        let word = self.word.load(Ordering::Acquire);
        (flags(word), node(word))
    }

    #[inline(always)]
    pub fn change(&self, mut f: impl FnMut(u32) -> u32) -> Change {
        let (old, new) = self.word.change(|word| {
            let new = word & !FLAGS | f(flags(word)) as u64 & FLAGS;
            (new != word).then_some(new)
        });
        (flags(old), flags(new))
    }

    /// Puts a node on top and changes the flags. None if it is closed: the node is the caller's as before.
    ///
    /// # Safety
    /// The node is the caller's alone, and the thread that takes it may have it.
    #[inline(always)]
    pub unsafe fn push(&self, new: *mut N, mut f: impl FnMut(u32) -> u32) -> Option<Change> {
        debug_assert!(new.addr().is_multiple_of(NODE_ALIGN) && new.addr() << SHIFT >> SHIFT == new.addr());
        let address = (new.expose_provenance() as u64) << SHIFT;
        let mut is_closed = false;
        let (old, new) = self.word.change(|word| {
            is_closed = word & !FLAGS == CLOSED;
            // SAFETY: by contract; it is on no stack as long as this goes round.
            unsafe { N::set_next(new, node(word)) };
            // Never left out because nothing would change: a word that was read late may have this very node on top, from an earlier time.
            (!is_closed).then_some(address | f(flags(word)) as u64 & FLAGS)
        });
        (!is_closed).then_some((flags(old), flags(new)))
    }

    /// Changes the flags and takes all nodes, newest first, if `f` says so, which is told whether there are any.
    #[inline(always)]
    pub fn take(&self, mut f: impl FnMut(u32, bool) -> (u32, bool)) -> (Change, *mut N) {
        let mut takes = false;
        let (old, new) = self.word.change(|word| {
            let new;
            (new, takes) = f(flags(word), !node::<N>(word).is_null());
            // It stays closed.
            takes &= word & !FLAGS != CLOSED;
            let new = new as u64 & FLAGS | if takes { 0 } else { word & !FLAGS };
            (new != word).then_some(new)
        });
        ((flags(old), flags(new)), if takes { node(old) } else { null_mut() })
    }

    /// Takes all nodes; none can be put there from now on.
    pub fn close(&self) -> *mut N {
        node(self.word.change(|word| Some(word & FLAGS | CLOSED)).0)
    }
}

/// No node lies there.
const _: () = assert!(CLOSED >> SHIFT == NODE_ALIGN as u64);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[repr(align(16))]
    struct Number(u64, *mut Number);

    // SAFETY: aligned, and `1` is the next one.
    unsafe impl Node for Number {
        unsafe fn set_next(node: *mut Number, next: *mut Number) {
            // SAFETY: the node is the caller's alone.
            unsafe { (*node).1 = next };
        }
    }

    fn push(stack: &FlaggedStack<Number>, number: u64, flags: u32) -> Option<Change> {
        let node = Box::into_raw(Box::new(Number(number, null_mut())));
        // SAFETY: just made.
        let change = unsafe { stack.push(node, |f| f | flags) };
        if change.is_none() {
            // SAFETY: it is ours as before.
            drop(unsafe { Box::from_raw(node) });
        }
        change
    }

    fn numbers(mut first: *mut Number) -> Vec<u64> {
        let mut out = Vec::new();
        while !first.is_null() {
            // SAFETY: taken, so it is ours.
            let node = unsafe { Box::from_raw(first) };
            out.push(node.0);
            first = node.1;
        }
        out
    }

    #[test]
    fn flags_and_nodes_do_not_touch_each_other() {
        let most = (1 << FLAG_BITS) - 1;
        let stack = FlaggedStack::new(most);
        assert_eq!(push(&stack, 1, 0), Some((most, most)));
        assert_eq!(stack.change(|f| f & !5), (most, most & !5));
        assert_eq!(push(&stack, 2, 4), Some((most & !5, most & !1)));
        assert!(!stack.load().1.is_null());
        // Told that there are some, and left.
        let (change, none) = stack.take(|f, any| (if any { f & !2 } else { f }, false));
        assert!(none.is_null() && change.1 == most & !3);
        let (change, first) = stack.take(|f, any| (f | 1, any));
        assert_eq!((change, numbers(first)), ((most & !3, most & !2), vec![2, 1]));
        assert_eq!(stack.load(), (most & !2, null_mut()));
    }

    #[test]
    fn what_is_closed_stays_so_and_keeps_its_flags() {
        let stack = FlaggedStack::new(3);
        push(&stack, 1, 0);
        assert_eq!(numbers(stack.close()), [1]);
        assert_eq!(push(&stack, 2, 8), None);
        assert!(stack.close().is_null() && stack.load().1.is_null());
        assert_eq!(stack.change(|f| f | 8), (3, 11));
        let (_, nothing) = stack.take(|f, any| (f, !any));
        assert!(nothing.is_null());
        assert_eq!(push(&stack, 3, 0), None);
    }
}
