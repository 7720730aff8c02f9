//! Clocks and unique integers.

use crate::env::Env;
use heddle_runtime::{refs, time};
use heddle_term::{Heap, Term};
use libc::c_int;

/// `ERL_NIF_TIME_ERROR`.
const ERROR: i64 = i64::MIN;

/// How many of the unit are a second.
fn per_second(unit: c_int) -> Option<i64> {
    match unit {
        0 => Some(1),
        1 => Some(1_000),
        2 => Some(1_000_000),
        3 => Some(1_000_000_000),
        _ => None,
    }
}

fn convert(value: i64, from: c_int, to: c_int) -> i64 {
    let (Some(from), Some(to)) = (per_second(from), per_second(to)) else { return ERROR };
    if to >= from { value.wrapping_mul(to / from) } else { value.div_euclid(from / to) }
}

const NS: c_int = 3;

/// `{MegaSeconds, Seconds, MicroSeconds}`.
fn triple(heap: &mut Heap, us: i64) -> Term {
    let second = 1_000_000;
    let parts = [us / second / second, us / second % second, us % second];
    heap.tuple(&parts.map(Term::small))
}

const POSITIVE: c_int = 1;
const MONOTONIC: c_int = 2;

api! { FUNCTIONS:
    fn enif_monotonic_time(unit: c_int) -> i64 {
        convert(time::monotonic_ns(), NS, unit)
    }
    fn enif_time_offset(unit: c_int) -> i64 {
        convert(time::offset_ns(), NS, unit)
    }
    fn enif_convert_time_unit(value: i64, from: c_int, to: c_int) -> i64 {
        convert(value, from, to)
    }
    fn enif_now_time(env: *mut Env) -> Term {
        triple(&mut *(*env).heap, time::unique_us())
    }
    fn enif_cpu_time(env: *mut Env) -> Term {
        triple(&mut *(*env).heap, time::cpu_ns() / 1000)
    }
    fn enif_make_unique_integer(env: *mut Env, properties: c_int) -> Term {
        let value = if properties & MONOTONIC != 0 { refs::unique_monotonic() } else { refs::unique() };
        let heap = &mut *(*env).heap;
        if properties & POSITIVE != 0 { heap.unsigned(value + 1) } else { refs::unique_term(heap, value) }
    }
    fn enif_make_ref(env: *mut Env) -> Term {
        (*(*env).heap).reference(refs::fresh().words())
    }
}
