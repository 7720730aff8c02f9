//! What holds for terms of all types: type tests, order, hashes, copies, the external format, exceptions.

use crate::env::{self, Env, EnvKind, Left};
use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::{Term, am, hash, order};
use libc::{c_int, c_uint, size_t};
use std::cmp::Ordering;

const BIN2TERM_SAFE: c_uint = 0x2000_0000;
const INTERNAL_HASH: c_int = 1;
const PHASH2: c_int = 2;

/// `ErlNifTermType`.
fn type_of(term: Term) -> c_int {
    match () {
        () if term.is_atom() => 1,
        () if term.is_bitstring() => 2,
        () if term.is_float() => 3,
        () if term.is_fun() => 4,
        () if term.is_integer() => 5,
        () if term.is_list() => 6,
        () if term.is_map() => 7,
        () if term.is_pid() => 8,
        () if term.is_port() => 9,
        () if term.is_reference() => 10,
        () if term.is_tuple() => 11,
        () => -1,
    }
}

api! { FUNCTIONS:
    fn enif_is_atom(_env: *mut Env, term: Term) -> c_int {
        term.is_atom() as c_int
    }
    fn enif_is_ref(_env: *mut Env, term: Term) -> c_int {
        term.is_reference() as c_int
    }
    fn enif_is_fun(_env: *mut Env, term: Term) -> c_int {
        term.is_fun() as c_int
    }
    fn enif_is_pid(_env: *mut Env, term: Term) -> c_int {
        term.is_pid() as c_int
    }
    fn enif_is_port(_env: *mut Env, term: Term) -> c_int {
        term.is_port() as c_int
    }
    fn enif_is_number(_env: *mut Env, term: Term) -> c_int {
        term.is_number() as c_int
    }
    fn enif_term_type(_env: *mut Env, term: Term) -> c_int {
        type_of(term)
    }
    fn enif_is_identical(a: Term, b: Term) -> c_int {
        order::exact_eq(a, b) as c_int
    }
    fn enif_compare(a: Term, b: Term) -> c_int {
        match order::cmp(a, b) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }
    fn enif_hash(kind: c_int, term: Term, salt: u64) -> u64 {
        match kind {
            INTERNAL_HASH => hash::salted_hash(term, salt),
            PHASH2 => hash::phash2(term, 1 << 27) as u64,
            _ => 0,
        }
    }
    fn enif_make_copy(env: *mut Env, term: Term) -> Term {
        env::copy(&mut *(*env).heap, term, (*env).kind == EnvKind::Independent)
    }

    // ---- exceptions ----

    fn enif_make_badarg(env: *mut Env) -> Term {
        (*env).raise(am::BADARG.into())
    }
    fn enif_raise_exception(env: *mut Env, reason: Term) -> Term {
        (*env).raise(reason)
    }
    fn enif_is_exception(env: *mut Env, term: Term) -> c_int {
        (term.is_none() && matches!((*env).outcome, Left::Exception(_))) as c_int
    }
    fn enif_has_pending_exception(env: *mut Env, reason: *mut Term) -> c_int {
        match (*env).outcome {
            Left::Exception(pending) => {
                if !reason.is_null() {
                    *reason = pending;
                }
                1
            }
            _ => 0,
        }
    }

    // ---- the external format ----

    fn enif_term_to_binary(_env: *mut Env, term: Term, to: *mut crate::api::binaries::Binary) -> c_int {
        match etf::try_encode(term, &EncodeOptions::default()) {
            Some(bytes) => crate::api::binaries::fill(to, &bytes),
            None => 0,
        }
    }
    fn enif_binary_to_term(env: *mut Env, data: *const u8, size: size_t, to: *mut Term, options: c_uint) -> size_t {
        if options & !BIN2TERM_SAFE != 0 {
            return 0;
        }
        let bytes = std::slice::from_raw_parts(data, size);
        let options = DecodeOptions { safe: options & BIN2TERM_SAFE != 0, allow_trailing: true, ..DecodeOptions::default() };
        match etf::decode(&mut *(*env).heap, bytes, &options) {
            Ok(decoded) => {
                *to = decoded.term;
                decoded.used
            }
            Err(_) => 0,
        }
    }
}
