//! Names that libraries give to locks and threads.

use libc::c_char;
use std::ffi::{CStr, CString};

/// A copy of the name; None if the library gives none.
///
/// # Safety
/// `name` is null or a C string.
// SAFETY: functions that make locks and threads call it with the name that the library passes.
pub unsafe fn copy(name: *const c_char) -> Option<CString> {
    // SAFETY: by contract.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}

pub fn pointer(name: &Option<CString>) -> *mut c_char {
    name.as_ref().map_or(std::ptr::null_mut(), |n| n.as_ptr().cast_mut())
}
