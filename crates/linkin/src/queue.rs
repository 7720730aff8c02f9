//! The queue of a driver's port: parts of binaries, as the vector that `writev` takes.

use crate::binary::{self, DriverBinary};
use libc::iovec;

/// The first entries, `gone` of them, are not in the queue any more.
#[derive(Default)]
pub struct Queue {
    vector: Vec<iovec>,
    /// Binaries in which the parts are. The queue has a reference to each.
    binaries: Vec<*mut DriverBinary>,
    gone: usize,
    bytes: usize,
}

// SAFETY: the parts belong to the queue, which has references to their binaries.
unsafe impl Send for Queue {}

/// A part of a binary. The reference belongs to it.
pub struct Part {
    binary: *mut DriverBinary,
    at: *mut u8,
    bytes: usize,
}

impl Part {
    pub fn copy(bytes: &[u8]) -> Part {
        let binary = binary::from_bytes(bytes);
        Part { binary, at: binary::data(binary), bytes: bytes.len() }
    }

    /// A part of the library's binary, which begins at this address.
    ///
    /// # Safety
    /// The binary is live, and the part is in it.
    // SAFETY: functions of the interface call it with what the library passes.
    pub unsafe fn of(binary: *mut DriverBinary, at: *mut u8, bytes: usize) -> Part {
        // SAFETY: by contract.
        unsafe { binary::retain(binary) };
        Part { binary, at, bytes }
    }
}

impl Queue {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What waits, in the form of `peekq`. It stays where it is until the queue changes.
    pub fn vector(&mut self) -> (&mut [iovec], &mut [*mut DriverBinary]) {
        (&mut self.vector[self.gone..], &mut self.binaries[self.gone..])
    }

    fn forget_gone(&mut self) {
        self.vector.drain(..self.gone);
        self.binaries.drain(..self.gone);
        self.gone = 0;
    }

    fn insert(&mut self, at: usize, part: Part) {
        self.bytes += part.bytes;
        self.vector.insert(at, iovec { iov_base: part.at.cast(), iov_len: part.bytes });
        self.binaries.insert(at, part.binary);
    }

    /// Adds parts, after what waits or before it.
    pub fn add(&mut self, parts: Vec<Part>, before: bool) {
        self.forget_gone();
        let first = if before { 0 } else { self.vector.len() };
        for (at, part) in (first..).zip(parts) {
            self.insert(at, part);
        }
    }

    /// Takes bytes off the front. Returns how many are left; None if there are not that many.
    pub fn remove(&mut self, mut bytes: usize) -> Option<usize> {
        if bytes > self.bytes {
            return None;
        }
        self.bytes -= bytes;
        while bytes > 0 {
            let front = &mut self.vector[self.gone];
            if bytes < front.iov_len {
                front.iov_base = front.iov_base.cast::<u8>().wrapping_add(bytes).cast();
                front.iov_len -= bytes;
                break;
            }
            bytes -= front.iov_len;
            // SAFETY: the queue's reference to the part.
            unsafe { binary::release(self.binaries[self.gone]) };
            self.gone += 1;
        }
        // Empty parts do not stay at the front.
        while self.vector.get(self.gone).is_some_and(|front| front.iov_len == 0) {
            // SAFETY: as above.
            unsafe { binary::release(self.binaries[self.gone]) };
            self.gone += 1;
        }
        if self.gone == self.vector.len() {
            self.forget_gone();
        }
        Some(self.bytes)
    }

    pub fn clear(&mut self) {
        self.forget_gone();
        for binary in self.binaries.drain(..) {
            // SAFETY: the queue's references.
            unsafe { binary::release(binary) };
        }
        self.vector.clear();
        self.bytes = 0;
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(queue: &mut Queue) -> Vec<u8> {
        let (vector, _) = queue.vector();
        // SAFETY: the parts are live.
        vector.iter().flat_map(|part| unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) }.to_vec()).collect()
    }

    #[test]
    fn parts_come_out_in_order_and_in_any_portions() {
        let mut queue = Queue::default();
        queue.add(vec![Part::copy(b"cd"), Part::copy(b"ef")], false);
        queue.add(vec![Part::copy(b"a"), Part::copy(b"b")], true);
        assert_eq!(queue.remove(7), None);
        assert_eq!(queue.remove(3), Some(3));
        assert_eq!(text(&mut queue), b"def");
        queue.add(vec![Part::copy(b"!")], true);
        assert_eq!(text(&mut queue), b"!def");
        assert_eq!(queue.remove(4), Some(0));
        assert!(queue.vector().0.is_empty());
    }
}
