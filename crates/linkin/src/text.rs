//! Text and bytes that libraries pass.

use libc::c_char;
use std::ffi::CStr;

/// A C string, one character a byte.
///
/// # Safety
/// A C string.
// SAFETY: functions of the interface call it with the string that the library passes.
pub unsafe fn latin1(text: *const c_char) -> String {
    // SAFETY: by contract.
    unsafe { CStr::from_ptr(text) }.to_bytes().iter().map(|&byte| byte as char).collect()
}

/// The bytes at an address, which may be null if there are none.
///
/// # Safety
/// There are as many bytes, and they live as long as the result is used.
// SAFETY: functions of the interface call it with the buffer that the library passes, and use the result before they return.
pub unsafe fn bytes<'a>(at: *const c_char, size: usize) -> &'a [u8] {
    if at.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(at.cast(), size) }
}
