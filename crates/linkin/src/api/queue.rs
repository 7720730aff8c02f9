//! The queue of a port.

use super::output::parts;
use crate::binary::{self, DriverBinary};
use crate::entry::IoVec;
use crate::instance::{self, PortHandle};
use crate::port::queue_changed;
use crate::queue::Part;
use crate::text::bytes;
use libc::{c_char, c_int, iovec, size_t};
use std::ptr::null_mut;

/// What functions return that have no number to return: -1.
const FAILED: size_t = size_t::MAX;

fn add(port: PortHandle, parts: impl FnOnce() -> Vec<Part>, before: bool) -> c_int {
    let Some(instance) = instance::of(port) else { return -1 };
    instance.queue.lock().unwrap().add(parts(), before);
    0
}

/// A part of a binary.
///
/// # Safety
/// A live binary of the library.
// SAFETY: functions of the interface call it with what the library passes.
unsafe fn part(binary: *mut DriverBinary, offset: usize, size: usize) -> Vec<Part> {
    if size == 0 {
        return Vec::new();
    }
    // SAFETY: by contract.
    vec![unsafe { Part::of(binary, binary::data(binary).wrapping_add(offset), size) }]
}

fn copy(bytes: &[u8]) -> Vec<Part> {
    if bytes.is_empty() { Vec::new() } else { vec![Part::copy(bytes)] }
}

/// The parts of a vector. Those that are in no binary are copied.
///
/// # Safety
/// A vector of the library.
// SAFETY: functions of the interface call it with what the library passes.
unsafe fn all(vector: *const IoVec, skip: usize) -> Vec<Part> {
    // SAFETY: by contract.
    let parts = unsafe { parts(vector, skip) };
    let part = |(bytes, binary): (&[u8], *mut DriverBinary)| {
        if binary.is_null() {
            return Part::copy(bytes);
        }
        // SAFETY: the bytes are in the binary.
        unsafe { Part::of(binary, bytes.as_ptr().cast_mut(), bytes.len()) }
    };
    parts.into_iter().map(part).collect()
}

api! { FUNCTIONS:
    fn driver_enq(port: PortHandle, at: *const c_char, size: size_t) -> c_int {
        add(port, || copy(bytes(at, size)), false)
    }
    fn driver_pushq(port: PortHandle, at: *const c_char, size: size_t) -> c_int {
        add(port, || copy(bytes(at, size)), true)
    }
    fn driver_enq_bin(port: PortHandle, binary: *mut DriverBinary, offset: size_t, size: size_t) -> c_int {
        add(port, || part(binary, offset, size), false)
    }
    fn driver_pushq_bin(port: PortHandle, binary: *mut DriverBinary, offset: size_t, size: size_t) -> c_int {
        add(port, || part(binary, offset, size), true)
    }
    fn driver_enqv(port: PortHandle, vector: *const IoVec, skip: size_t) -> c_int {
        if skip > (*vector).size { -1 } else { add(port, || all(vector, skip), false) }
    }
    fn driver_pushqv(port: PortHandle, vector: *const IoVec, skip: size_t) -> c_int {
        if skip > (*vector).size { -1 } else { add(port, || all(vector, skip), true) }
    }
    fn driver_deq(port: PortHandle, size: size_t) -> size_t {
        let Some(instance) = instance::of(port) else { return FAILED };
        let left = instance.queue.lock().unwrap().remove(size);
        queue_changed(&instance);
        left.unwrap_or(FAILED)
    }
    fn driver_sizeq(port: PortHandle) -> size_t {
        instance::of(port).map_or(FAILED, |instance| instance.queue.lock().unwrap().bytes())
    }
    fn driver_peekqv(port: PortHandle, to: *mut IoVec) -> size_t {
        let Some(instance) = instance::of(port) else {
            *to = IoVec { vsize: -1, size: 0, iov: null_mut(), binv: null_mut() };
            return FAILED;
        };
        let mut queue = instance.queue.lock().unwrap();
        let size = queue.bytes();
        let (vector, binaries) = queue.vector();
        *to = IoVec { vsize: vector.len() as c_int, size, iov: vector.as_mut_ptr(), binv: binaries.as_mut_ptr() };
        size
    }
    fn driver_peekq(port: PortHandle, count: *mut c_int) -> *mut iovec {
        let Some(instance) = instance::of(port) else {
            *count = -1;
            return null_mut();
        };
        let mut queue = instance.queue.lock().unwrap();
        let (vector, _) = queue.vector();
        *count = vector.len() as c_int;
        if vector.is_empty() { null_mut() } else { vector.as_mut_ptr() }
    }
}
