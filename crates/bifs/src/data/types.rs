//! Type tests and sizes.

use heddle_runtime::process::{NativeResult, Process};
use heddle_term::bits::BitsView;
use heddle_term::{Kind, Term, big, fun};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "is_atom"/1 => is_atom,
        "is_binary"/1 => is_binary,
        "is_bitstring"/1 => is_bitstring,
        "is_boolean"/1 => is_boolean,
        "is_float"/1 => is_float,
        "is_function"/1 => is_function,
        "is_function"/2 => is_function_2,
        "is_integer"/1 => is_integer,
        "is_list"/1 => is_list,
        "is_map"/1 => is_map,
        "is_number"/1 => is_number,
        "is_pid"/1 => is_pid,
        "is_port"/1 => is_port,
        "is_record"/2 => is_record_2,
        "is_record"/3 => is_record_3,
        "is_reference"/1 => is_reference,
        "is_tuple"/1 => is_tuple,
        "size"/1 => size,
        "byte_size"/1 => byte_size,
        "bit_size"/1 => bit_size,
        "binary_part"/2 => binary_part_2,
        "binary_part"/3 => binary_part_3,
    }
}

macro_rules! tests {
    ($($name:ident = |$t:ident| $test:expr;)*) => {
        $(fn $name(_: &mut Process, a: &[Term]) -> NativeResult {
            let $t = a[0];
            Ok(Term::bool($test))
        })*
    };
}

tests! {
    is_atom = |t| t.is_atom();
    is_binary = |t| t.is_binary();
    is_bitstring = |t| t.is_bitstring();
    is_boolean = |t| heddle_natives::args::boolean(t).is_some();
    is_float = |t| t.is_float();
    is_function = |t| t.is_fun();
    is_integer = |t| t.is_integer();
    is_list = |t| t.is_list();
    is_map = |t| t.is_map();
    is_number = |t| t.is_number();
    is_pid = |t| t.is_pid();
    is_port = |t| t.is_port();
    is_reference = |t| t.is_reference();
    is_tuple = |t| t.is_tuple();
}

/// The number of arguments with which a fun is called.
pub fn fun_arity(term: Term) -> Option<u8> {
    match term.kind()? {
        Kind::Fun => Some(fun::entry(term).arity),
        Kind::ExportFun => Some(fun::export(term).mfa.arity),
        _ => None,
    }
}

fn is_function_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let arity = match a[1].as_small() {
        Some(n) if n >= 0 => n,
        None if a[1].is_kind(Kind::PosBig) => return Ok(Term::bool(false)),
        _ => return Err(p.badarg()),
    };
    Ok(Term::bool(fun_arity(a[0]).is_some_and(|n| n as i64 == arity)))
}

fn is_record_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[1].is_atom() {
        return Err(p.badarg());
    }
    Ok(Term::bool(a[0].as_tuple().is_some_and(|t| t.first() == Some(&a[1]))))
}

fn is_record_3(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[1].is_atom() || !a[2].is_small() {
        return Err(p.badarg());
    }
    let matches = |t: &[Term]| t.first() == Some(&a[1]) && a[2].as_small() == Some(t.len() as i64);
    Ok(Term::bool(a[0].as_tuple().is_some_and(matches)))
}

fn size(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(elements) = a[0].as_tuple() {
        return Ok(Term::small(elements.len() as i64));
    }
    match BitsView::of(a[0]) {
        Some(view) => Ok(Term::small((view.size_bits / 8) as i64)),
        None => Err(p.badarg()),
    }
}

fn byte_size(p: &mut Process, a: &[Term]) -> NativeResult {
    match BitsView::of(a[0]) {
        Some(view) => Ok(Term::small(view.len_bytes() as i64)),
        None => Err(p.badarg()),
    }
}

fn bit_size(p: &mut Process, a: &[Term]) -> NativeResult {
    match BitsView::of(a[0]) {
        Some(view) => Ok(Term::small(view.size_bits as i64)),
        None => Err(p.badarg()),
    }
}

/// Start and length of a part of `size` bytes that may be given backwards (`Length < 0`).
pub fn part(position: Term, length: Term, size: usize) -> Option<(usize, usize)> {
    let (position, length) = (big::to_i64(position)?, big::to_i64(length)?);
    let (start, end) = if length < 0 { (position.checked_add(length)?, position) } else { (position, position.checked_add(length)?) };
    (start >= 0 && end <= size as i64).then(|| (start as usize, (end - start) as usize))
}

fn binary_part_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = BitsView::of(a[0]).filter(BitsView::is_binary) else { return Err(p.badarg()) };
    let Some((start, length)) = part(a[1], a[2], (view.size_bits / 8) as usize) else { return Err(p.badarg()) };
    Ok(super::bytes::slice(&mut p.heap, a[0], start as u64 * 8, length as u64 * 8))
}

fn binary_part_2(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[1].as_tuple() {
        Some(&[position, length]) => binary_part_3(p, &[a[0], position, length]),
        _ => Err(p.badarg()),
    }
}
