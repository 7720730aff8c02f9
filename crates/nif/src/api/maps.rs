//! Maps and their iterators.

use crate::env::Env;
use heddle_term::map::{self};
use heddle_term::{Kind, Term};
use libc::{c_int, c_void, size_t};

/// `ErlNifMapIterator`. `index` is the number of the pair, 0 before the first one. The pairs of a large map lie in memory of their own.
#[repr(C)]
pub struct MapIterator {
    map: Term,
    size: u64,
    index: u64,
    pairs: *mut Vec<(Term, Term)>,
    unused: [*mut c_void; 3],
}

const FIRST: c_int = 1;
const LAST: c_int = 2;

/// Stores the map that was made and returns 1, or returns 0 if there is none.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it with the place that the library passes for the result.
unsafe fn store(made: Option<Term>, to: *mut Term) -> c_int {
    let Some(made) = made else { return 0 };
    // SAFETY: `to` comes from the library, for the result.
    unsafe { *to = made };
    1
}

/// An array of the library as a slice. The pointer may be null if the array is empty.
///
/// # Safety
/// There are `count` terms.
// SAFETY: `enif_make_map_from_arrays` calls it with the arrays and the length that the library passes.
unsafe fn pairs<'a>(terms: *mut Term, count: size_t) -> &'a [Term] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the library passes that many terms.
    unsafe { std::slice::from_raw_parts(terms, count) }
}

/// True if the iterator stands at a pair.
///
/// # Safety
/// The iterator was made by `enif_map_iterator_create`, and not destroyed yet.
// SAFETY: functions of the interface call it with the iterator that the library passes.
unsafe fn at_pair(iterator: *const MapIterator) -> c_int {
    // SAFETY: the library passes an iterator that was created.
    unsafe { ((*iterator).index >= 1 && (*iterator).index <= (*iterator).size) as c_int }
}

api! { FUNCTIONS:
    fn enif_is_map(_env: *mut Env, term: Term) -> c_int {
        term.is_map() as c_int
    }
    fn enif_get_map_size(_env: *mut Env, term: Term, to: *mut size_t) -> c_int {
        if !term.is_map() {
            return 0;
        }
        *to = map::size(term);
        1
    }
    fn enif_make_new_map(_env: *mut Env) -> Term {
        map::empty()
    }
    fn enif_make_map_put(env: *mut Env, term: Term, key: Term, value: Term, to: *mut Term) -> c_int {
        store(term.is_map().then(|| map::put(&mut *(*env).heap, term, key, value)), to)
    }
    fn enif_make_map_update(env: *mut Env, term: Term, key: Term, value: Term, to: *mut Term) -> c_int {
        store(if term.is_map() { map::update(&mut *(*env).heap, term, key, value) } else { None }, to)
    }
    fn enif_make_map_remove(env: *mut Env, term: Term, key: Term, to: *mut Term) -> c_int {
        store(term.is_map().then(|| map::remove(&mut *(*env).heap, term, key)), to)
    }
    fn enif_get_map_value(_env: *mut Env, term: Term, key: Term, to: *mut Term) -> c_int {
        store(if term.is_map() { map::get(term, key) } else { None }, to)
    }
    fn enif_make_map_from_arrays(env: *mut Env, keys: *mut Term, values: *mut Term, count: size_t, to: *mut Term) -> c_int {
        let all: Vec<(Term, Term)> = pairs(keys, count).iter().copied().zip(pairs(values, count).iter().copied()).collect();
        store(map::from_distinct_pairs(&mut *(*env).heap, &all), to)
    }
    fn enif_map_iterator_create(_env: *mut Env, term: Term, iterator: *mut MapIterator, entry: c_int) -> c_int {
        if !term.is_map() || (entry != FIRST && entry != LAST) {
            return 0;
        }
        let size = map::size(term) as u64;
        let all = if term.is_kind(Kind::FlatMap) {
            std::ptr::null_mut()
        } else {
            Box::into_raw(Box::new(map::MapIter::new(term).collect()))
        };
        let index = if entry == FIRST { 1 } else { size };
        *iterator = MapIterator { map: term, size, index, pairs: all, unused: [std::ptr::null_mut(); 3] };
        1
    }
    fn enif_map_iterator_destroy(_env: *mut Env, iterator: *mut MapIterator) {
        let all = std::mem::replace(&mut (*iterator).pairs, std::ptr::null_mut());
        if !all.is_null() {
            drop(Box::from_raw(all));
        }
    }
    fn enif_map_iterator_is_head(_env: *mut Env, iterator: *mut MapIterator) -> c_int {
        ((*iterator).index == 0) as c_int
    }
    fn enif_map_iterator_is_tail(_env: *mut Env, iterator: *mut MapIterator) -> c_int {
        ((*iterator).index > (*iterator).size) as c_int
    }
    fn enif_map_iterator_next(_env: *mut Env, iterator: *mut MapIterator) -> c_int {
        if (*iterator).index <= (*iterator).size {
            (*iterator).index += 1;
        }
        at_pair(iterator)
    }
    fn enif_map_iterator_prev(_env: *mut Env, iterator: *mut MapIterator) -> c_int {
        if (*iterator).index > 0 {
            (*iterator).index -= 1;
        }
        at_pair(iterator)
    }
    fn enif_map_iterator_get_pair(_env: *mut Env, iterator: *mut MapIterator, key: *mut Term, value: *mut Term) -> c_int {
        if at_pair(iterator) == 0 {
            return 0;
        }
        let at = (*iterator).index as usize - 1;
        (*key, *value) = if (*iterator).pairs.is_null() {
            let (keys, values) = map::flat_parts((*iterator).map);
            (keys[at], values[at])
        } else {
            let all: &Vec<(Term, Term)> = &*(*iterator).pairs;
            all[at]
        };
        1
    }
}
