//! A list to which all may add, and of which one takes everything. Adding is one compare-and-swap; the taker gets them in the
//! order in which they came.

use crate::atomic::{AtomicPtr, Ordering};
use std::ptr::null_mut;

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

pub struct Stack<T> {
    /// Release in `push`, Acquire in `take` and `is_empty`: the nodes that are seen are whole.
    top: AtomicPtr<Node<T>>,
}

// SAFETY: nodes are only reached by the thread that took them, whole, from `top`.
unsafe impl<T: Send> Send for Stack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T> Default for Stack<T> {
    fn default() -> Stack<T> {
        Stack { top: AtomicPtr::new(null_mut()) }
    }
}

impl<T> Stack<T> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.top.load(Ordering::Acquire).is_null()
    }

    pub fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: null_mut() }));
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: still ours alone.
            unsafe { (*node).next = top };
            // Release: the taker sees what is in it.
            match self.top.compare_exchange_weak(top, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => top = seen,
            }
        }
    }

    /// Everything that is there, oldest first.
    pub fn take(&self) -> Vec<T> {
        let mut out = Vec::new();
        if self.is_empty() {
            return out;
        }
        // Acquire: pairs with the pushes. A node is looked into by its taker alone, so none can come back while it is looked at.
        let mut node = self.top.swap(null_mut(), Ordering::Acquire);
        while !node.is_null() {
            // SAFETY: the list was taken whole; every node came from a box.
            let Node { value, next } = *unsafe { Box::from_raw(node) };
            out.push(value);
            node = next;
        }
        out.reverse();
        out
    }
}

impl<T> Drop for Stack<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Stack;

    #[test]
    fn what_is_taken_comes_in_order_and_once() {
        let stack = Stack::default();
        stack.push(1);
        stack.push(2);
        assert_eq!(stack.take(), [1, 2]);
        assert!(stack.is_empty());
        stack.push(3);
        assert_eq!(stack.take(), [3]);
        assert_eq!(stack.take(), []);
    }
}
