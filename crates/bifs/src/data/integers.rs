//! Integers from and to text.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Term, big};
use smallvec::SmallVec;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "integer_to_list"/1 => integer_to_list,
        "integer_to_list"/2 => integer_to_list,
        "integer_to_binary"/1 => integer_to_binary,
        "integer_to_binary"/2 => integer_to_binary,
    }
    "erts_internal" => {
        "list_to_integer"/2 => list_to_integer,
        "binary_to_integer"/2 => binary_to_integer,
    }
}

fn base(a: &[Term]) -> Option<u32> {
    match a.get(1) {
        None => Some(10),
        Some(term) => term.as_small().and_then(|n| u32::try_from(n).ok()).filter(|n| (2..=36).contains(n)),
    }
}

fn text(p: &mut Process, a: &[Term]) -> Result<String, heddle_runtime::Thrown> {
    match base(a) {
        Some(base) if a[0].is_integer() => {
            if a[0].is_big() {
                // The time grows with the square of the length.
                let digits = a[0].header().arity();
                long::work(p, digits * digits / 4)?;
            }
            Ok(big::to_text(a[0], base))
        }
        _ => Err(p.badarg()),
    }
}

fn integer_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    if let (Some(value), Some(base)) = (a[0].as_small(), base(a)) {
        let mut room = [0; big::SMALL_TEXT_BYTES];
        return Ok(p.heap.byte_list(big::small_text(value, base, &mut room)));
    }
    let text = text(p, a)?;
    Ok(p.heap.byte_list(text.as_bytes()))
}

fn integer_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    if let (Some(value), Some(base)) = (a[0].as_small(), base(a)) {
        let mut room = [0; big::SMALL_TEXT_BYTES];
        return Ok(p.heap.binary(big::small_text(value, base, &mut room)));
    }
    let text = text(p, a)?;
    Ok(p.heap.binary(text.as_bytes()))
}

/// From this many digits on the Erlang code of `list_to_integer` and similar functions does the work, in pieces (guessed: some 10 µs here).
const BIG_DIGITS: usize = 2000;

/// The number, or the atom that `erlang:list_to_integer` and similar functions turn into an exception.
fn parsed(p: &mut Process, text: &[u8], base: u32, malformed: &str) -> Term {
    if text.len() > BIG_DIGITS {
        return Atom::new("big").into();
    }
    p.bump(text.len() / 100);
    match big::from_text(&mut p.heap, text, base) {
        Some(Ok(number)) => number,
        Some(Err(_)) => heddle_term::am::SYSTEM_LIMIT.into(),
        None => Atom::new(malformed).into(),
    }
}

/// Returns {Integer, Rest}, or one of the atoms `no_integer`, `not_a_list`, `big`.
fn list_to_integer(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(base) = base(a) else { return Ok(heddle_term::am::BADARG.into()) };
    if a[0].is_nil() {
        return Ok(Atom::new("no_integer").into());
    }
    if !a[0].is_cons() {
        return Ok(Atom::new("not_a_list").into());
    }
    let mut text: SmallVec<[u8; 32]> = SmallVec::new();
    let mut rest = a[0];
    while rest.is_cons() {
        let Some(c) = rest.head().as_small().and_then(|c| u8::try_from(c).ok()) else { break };
        let sign = text.is_empty() && (c == b'-' || c == b'+');
        if !sign && !(c as char).is_digit(base) {
            break;
        }
        text.push(c);
        rest = rest.tail();
    }
    let number = parsed(p, &text, base, "no_integer");
    if number.is_atom() { Ok(number) } else { Ok(p.heap.tuple(&[number, rest])) }
}

fn binary_to_integer(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(view), Some(base)) = (BitsView::of(a[0]).filter(BitsView::is_binary), base(a)) else {
        return Ok(heddle_term::am::BADARG.into());
    };
    let size = (view.size_bits / 8) as usize;
    if size > BIG_DIGITS {
        // If this is a long number, the Erlang code that reads such is called.
        let is_good = |(i, b): (usize, u8)| (b as char).is_digit(base) || i == 0 && matches!(b, b'-' | b'+');
        if !(0..=BIG_DIGITS).map(|i| (i, view.byte_at(i as u64 * 8))).all(is_good) {
            return Ok(heddle_term::am::BADARG.into());
        }
        return Ok(Atom::new("big").into());
    }
    let mut copy = Vec::new();
    Ok(parsed(p, super::bytes::range(view, 0, size, &mut copy), base, "badarg"))
}
