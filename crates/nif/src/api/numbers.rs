//! Integers and floats.

use crate::env::Env;
use heddle_term::{Term, am, big};
use libc::{c_double, c_int, c_long, c_uint, c_ulong};

/// Stores the value if the term is an integer in the type's range.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it with the place that the library passes for the result.
unsafe fn store<T: TryFrom<i64>>(term: Term, to: *mut T) -> c_int {
    match big::to_i64(term).and_then(|v| T::try_from(v).ok()) {
        Some(value) => {
            // SAFETY: `to` comes from the library, for the result.
            unsafe { *to = value };
            1
        }
        None => 0,
    }
}

api! { FUNCTIONS:
    fn enif_get_int(_env: *mut Env, term: Term, to: *mut c_int) -> c_int {
        store(term, to)
    }
    fn enif_get_uint(_env: *mut Env, term: Term, to: *mut c_uint) -> c_int {
        store(term, to)
    }
    fn enif_get_long(_env: *mut Env, term: Term, to: *mut c_long) -> c_int {
        store(term, to)
    }
    fn enif_get_ulong(_env: *mut Env, term: Term, to: *mut c_ulong) -> c_int {
        match big::to_u64(term) {
            Some(value) => {
                *to = value;
                1
            }
            None => 0,
        }
    }
    fn enif_get_double(_env: *mut Env, term: Term, to: *mut c_double) -> c_int {
        match term.as_float() {
            Some(value) => {
                *to = value;
                1
            }
            None => 0,
        }
    }
    fn enif_make_int(env: *mut Env, value: c_int) -> Term {
        (*(*env).heap).integer(value as i64)
    }
    fn enif_make_uint(env: *mut Env, value: c_uint) -> Term {
        (*(*env).heap).integer(value as i64)
    }
    fn enif_make_long(env: *mut Env, value: c_long) -> Term {
        (*(*env).heap).integer(value)
    }
    fn enif_make_ulong(env: *mut Env, value: c_ulong) -> Term {
        (*(*env).heap).unsigned(value)
    }
    fn enif_make_double(env: *mut Env, value: c_double) -> Term {
        if !value.is_finite() {
            return (*env).raise(am::BADARG.into());
        }
        (*(*env).heap).float(value)
    }
}
