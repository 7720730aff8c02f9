//! Operators as functions: comparison, booleans, arithmetic; and the arithmetic guard functions.

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::big::{self, ArithError, Rounding};
use heddle_term::{Term, am, order};
use std::cmp::Ordering;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "=:="/2 => exact_eq,
        "=/="/2 => exact_ne,
        "=="/2 => eq,
        "/="/2 => ne,
        "<"/2 => lt,
        "=<"/2 => le,
        ">"/2 => gt,
        ">="/2 => ge,
        "and"/2 => and,
        "or"/2 => or,
        "xor"/2 => xor,
        "not"/1 => not,
        "+"/1 => plus,
        "-"/1 => minus,
        "+"/2 => add,
        "-"/2 => sub,
        "*"/2 => mul,
        "/"/2 => divide,
        "div"/2 => div,
        "rem"/2 => rem,
        "band"/2 => band,
        "bor"/2 => bor,
        "bxor"/2 => bxor,
        "bnot"/1 => bnot,
        "bsl"/2 => bsl,
        "bsr"/2 => bsr,
        "abs"/1 => abs,
        "float"/1 => float,
        "trunc"/1 => trunc,
        "round"/1 => round,
        "floor"/1 => floor,
        "ceil"/1 => ceil,
        "min"/2 => min,
        "max"/2 => max,
    }
    "erts_internal" => { "cmp_term"/2 => cmp_term }
}

macro_rules! comparisons {
    ($($name:ident = |$a:ident, $b:ident| $test:expr;)*) => {
        $(fn $name(_: &mut Process, args: &[Term]) -> NativeResult {
            let ($a, $b) = (args[0], args[1]);
            Ok(Term::bool($test))
        })*
    };
}

comparisons! {
    exact_eq = |a, b| order::exact_eq(a, b);
    exact_ne = |a, b| !order::exact_eq(a, b);
    eq = |a, b| order::eq(a, b);
    ne = |a, b| !order::eq(a, b);
    lt = |a, b| order::cmp(a, b) == Ordering::Less;
    le = |a, b| order::cmp(a, b) != Ordering::Greater;
    gt = |a, b| order::cmp(a, b) == Ordering::Greater;
    ge = |a, b| order::cmp(a, b) != Ordering::Less;
}

fn min(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(if order::cmp(a[0], a[1]) == Ordering::Greater { a[1] } else { a[0] })
}

fn max(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(if order::cmp(a[0], a[1]) == Ordering::Less { a[1] } else { a[0] })
}

fn cmp_term(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(Term::small(order::cmp_exact(a[0], a[1]) as i64))
}

fn boolean(p: &mut Process, a: &[Term], op: fn(bool, bool) -> bool) -> NativeResult {
    match (heddle_natives::args::boolean(a[0]), heddle_natives::args::boolean(a[1])) {
        (Some(x), Some(y)) => Ok(Term::bool(op(x, y))),
        _ => Err(p.badarg()),
    }
}

fn and(p: &mut Process, a: &[Term]) -> NativeResult {
    boolean(p, a, |x, y| x & y)
}
fn or(p: &mut Process, a: &[Term]) -> NativeResult {
    boolean(p, a, |x, y| x | y)
}
fn xor(p: &mut Process, a: &[Term]) -> NativeResult {
    boolean(p, a, |x, y| x ^ y)
}
fn not(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[0].as_atom() {
        Some(am::TRUE) => Ok(Term::bool(false)),
        Some(am::FALSE) => Ok(Term::bool(true)),
        _ => Err(p.badarg()),
    }
}

fn arithmetic(p: &mut Process, result: Result<Term, ArithError>) -> NativeResult {
    result.map_err(|error| match error {
        ArithError::Badarith => p.badarith(),
        ArithError::SystemLimit => p.system_limit(),
    })
}

macro_rules! arithmetic {
    ($($name:ident/$arity:tt)*) => { $(arithmetic!(@ $name $arity);)* };
    (@ $name:ident 1) => {
        fn $name(p: &mut Process, a: &[Term]) -> NativeResult {
            let result = big::$name(&mut p.heap, a[0]);
            arithmetic(p, result)
        }
    };
    (@ $name:ident 2) => {
        fn $name(p: &mut Process, a: &[Term]) -> NativeResult {
            let result = big::$name(&mut p.heap, a[0], a[1]);
            arithmetic(p, result)
        }
    };
}

arithmetic! { add/2 sub/2 mul/2 divide/2 div/2 rem/2 band/2 bor/2 bxor/2 bnot/1 bsl/2 bsr/2 }

fn plus(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_number() { Ok(a[0]) } else { Err(p.badarith()) }
}

fn minus(p: &mut Process, a: &[Term]) -> NativeResult {
    let result = big::neg(&mut p.heap, a[0]);
    arithmetic(p, result)
}

fn abs(p: &mut Process, a: &[Term]) -> NativeResult {
    big::abs(&mut p.heap, a[0]).map_err(|_| p.badarg())
}

fn float(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_float() {
        return Ok(a[0]);
    }
    match big::to_f64(a[0]) {
        Some(value) => Ok(p.heap.float(value)),
        None => Err(p.badarg()),
    }
}

fn rounded(p: &mut Process, a: Term, rounding: Rounding) -> NativeResult {
    match a.as_float() {
        Some(value) => Ok(big::from_float(&mut p.heap, value, rounding)),
        None if a.is_integer() => Ok(a),
        None => Err(p.badarg()),
    }
}

fn trunc(p: &mut Process, a: &[Term]) -> NativeResult {
    rounded(p, a[0], Rounding::Trunc)
}
fn round(p: &mut Process, a: &[Term]) -> NativeResult {
    rounded(p, a[0], Rounding::Round)
}
fn floor(p: &mut Process, a: &[Term]) -> NativeResult {
    rounded(p, a[0], Rounding::Floor)
}
fn ceil(p: &mut Process, a: &[Term]) -> NativeResult {
    rounded(p, a[0], Rounding::Ceil)
}
