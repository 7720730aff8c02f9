//! Lists and tuples.

use crate::env::Env;
use heddle_term::{Term, list};
use libc::{c_int, c_uint};
use std::slice;

/// An array of the library as a slice. The pointer may be null if the array is empty.
///
/// # Safety
/// There are `count` terms.
// SAFETY: functions of the interface call it with an array and its length, which the library passes.
unsafe fn array<'a>(terms: *const Term, count: c_uint) -> &'a [Term] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the library passes that many terms.
    unsafe { slice::from_raw_parts(terms, count as usize) }
}

api! { FUNCTIONS:
    fn enif_make_list_cell(env: *mut Env, head: Term, tail: Term) -> Term {
        (*(*env).heap).cons(head, tail)
    }
    fn enif_make_list_from_array(env: *mut Env, terms: *const Term, count: c_uint) -> Term {
        (*(*env).heap).list(array(terms, count))
    }
    fn enif_make_tuple_from_array(env: *mut Env, terms: *const Term, count: c_uint) -> Term {
        (*(*env).heap).tuple(array(terms, count))
    }
    fn enif_make_reverse_list(env: *mut Env, term: Term, to: *mut Term) -> c_int {
        match list::reverse(&mut *(*env).heap, term, Term::NIL) {
            Some(reversed) => {
                *to = reversed;
                1
            }
            None => 0,
        }
    }
    fn enif_get_list_cell(_env: *mut Env, term: Term, head: *mut Term, tail: *mut Term) -> c_int {
        if !term.is_cons() {
            return 0;
        }
        (*head, *tail) = (term.head(), term.tail());
        1
    }
    fn enif_get_list_length(_env: *mut Env, term: Term, to: *mut c_uint) -> c_int {
        match list::length(term) {
            Some(length) => {
                *to = length as c_uint;
                1
            }
            None => 0,
        }
    }
    fn enif_get_tuple(_env: *mut Env, term: Term, arity: *mut c_int, elements: *mut *const Term) -> c_int {
        match term.as_tuple() {
            Some(parts) => {
                *arity = parts.len() as c_int;
                *elements = parts.as_ptr();
                1
            }
            None => 0,
        }
    }
    fn enif_is_empty_list(_env: *mut Env, term: Term) -> c_int {
        term.is_nil() as c_int
    }
    fn enif_is_list(_env: *mut Env, term: Term) -> c_int {
        term.is_list() as c_int
    }
    fn enif_is_tuple(_env: *mut Env, term: Term) -> c_int {
        term.is_tuple() as c_int
    }
}
