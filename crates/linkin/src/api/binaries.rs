//! Binaries of drivers, whose references the library counts.

use crate::binary::{self, DriverBinary};
use libc::size_t;
use std::ptr::null_mut;

/// More bytes than any memory has.
const TOO_MANY: size_t = 1 << 47;

api! { FUNCTIONS:
    fn driver_alloc_binary(size: size_t) -> *mut DriverBinary {
        if size >= TOO_MANY { null_mut() } else { binary::allocate(size) }
    }
    fn driver_realloc_binary(old: *mut DriverBinary, size: size_t) -> *mut DriverBinary {
        if size >= TOO_MANY {
            return null_mut();
        }
        if old.is_null() { binary::allocate(size) } else { binary::resize(old, size) }
    }
    fn driver_free_binary(old: *mut DriverBinary) {
        if !old.is_null() {
            binary::release(old);
        }
    }
    fn driver_binary_get_refc(of: *mut DriverBinary) -> i64 {
        binary::references(of) as i64
    }
    fn driver_binary_inc_refc(of: *mut DriverBinary) -> i64 {
        binary::retain(of);
        binary::references(of) as i64
    }
    fn driver_binary_dec_refc(of: *mut DriverBinary) -> i64 {
        let left = binary::references(of) as i64 - 1;
        binary::release(of);
        left
    }
}
