//! Integer arithmetic of any size, and the mixed integer/float arithmetic of `+ - * /`.
//!
//! Small integers and one-digit results are done in registers. Larger operands are slices of 64-bit digits in place; long
//! products and quotients go to `num-bigint`. See also `big_bits` (bit operations), `big_convert` (floats, bytes, text).

use crate::boxed::Kind;
use crate::heap::Heap;
use crate::term::Term;
use num_bigint::BigUint;

pub use crate::big_bits::{band, bnot, bor, bsl, bsr, bxor};
pub use crate::big_convert::{
    Rounding, SMALL_TEXT_BYTES, from_bytes, from_float, from_i128, from_text, from_u128, small_text, to_bytes, to_f64, to_i64, to_text,
    to_u64,
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArithError {
    Badarith,
    SystemLimit,
}

/// Largest integer, in 64-bit digits (from ERTS).
pub const MAX_DIGITS: usize = 65535;

/// From this many digits on both sides `num-bigint` multiplies (guessed: its Karatsuba starts at 32).
const LONG_DIGITS: usize = 24;

/// An integer as sign and magnitude, in place. The buffer holds the digit of a small one.
#[derive(Clone, Copy)]
pub(crate) struct Int<'a> {
    pub negative: bool,
    small: [u64; 1],
    big: Option<&'a [u64]>,
}

impl<'a> Int<'a> {
    pub fn of(term: Term) -> Option<Int<'a>> {
        if let Some(value) = term.as_small() {
            return Some(Int { negative: value < 0, small: [value.unsigned_abs()], big: None });
        }
        let negative = match term.kind()? {
            Kind::PosBig => false,
            Kind::NegBig => true,
            _ => return None,
        };
        Some(Int { negative, small: [0], big: Some(digits(term)) })
    }

    /// Magnitude without leading zeros; empty for zero.
    pub fn digits(&self) -> &[u64] {
        match self.big {
            Some(digits) => digits,
            None if self.small[0] == 0 => &[],
            None => &self.small,
        }
    }
}

/// Digits of a big integer in place; the caller checked the kind.
pub fn digits<'a>(term: Term) -> &'a [u64] {
    debug_assert!(term.is_big());
    // SAFETY: a big integer has `arity` digits after its header.
    unsafe { std::slice::from_raw_parts(term.ptr().add(1), term.header().arity()) }
}

/// Digits of a non-negative integer; None for everything else.
pub(crate) fn magnitude_of(term: Term) -> Option<Vec<u64>> {
    let int = Int::of(term)?;
    (!int.negative).then(|| int.digits().to_vec())
}

/// The term for sign and magnitude (leading zeros allowed). The size is not checked.
pub fn from_digits(heap: &mut Heap, negative: bool, digits: &[u64]) -> Term {
    let len = digits.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1);
    match digits[..len] {
        [] => Term::small(0),
        [one] if one <= 1 << 59 => {
            let value = if negative { -(one as i64) } else { one as i64 };
            heap.integer(value)
        }
        _ => heap.big_words(negative, &digits[..len]),
    }
}

pub(crate) fn checked(heap: &mut Heap, negative: bool, digits: &[u64]) -> Result<Term, ArithError> {
    let len = digits.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1);
    if len > MAX_DIGITS {
        return Err(ArithError::SystemLimit);
    }
    Ok(from_digits(heap, negative, &digits[..len]))
}

/// Both numbers, as integers or as floats.
enum Operands<'a> {
    Ints(Int<'a>, Int<'a>),
    Floats(f64, f64),
}

fn operands<'a>(a: Term, b: Term) -> Result<Operands<'a>, ArithError> {
    match (Int::of(a), Int::of(b)) {
        (Some(a), Some(b)) => Ok(Operands::Ints(a, b)),
        _ => Ok(Operands::Floats(number_to_f64(a)?, number_to_f64(b)?)),
    }
}

fn number_to_f64(term: Term) -> Result<f64, ArithError> {
    match term.as_float() {
        Some(value) => Ok(value),
        None => to_f64(term).ok_or(ArithError::Badarith),
    }
}

fn float_result(heap: &mut Heap, value: f64) -> Result<Term, ArithError> {
    if value.is_finite() { Ok(heap.float(value)) } else { Err(ArithError::Badarith) }
}

#[inline]
pub fn add(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(heap.integer(a.small_value() + b.small_value()));
    }
    add_slow(heap, a, b, false)
}

#[inline]
pub fn sub(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(heap.integer(a.small_value() - b.small_value()));
    }
    add_slow(heap, a, b, true)
}

#[cold]
#[inline(never)]
fn add_slow(heap: &mut Heap, a: Term, b: Term, subtract: bool) -> Result<Term, ArithError> {
    let (a, mut b) = match operands(a, b)? {
        Operands::Ints(a, b) => (a, b),
        Operands::Floats(a, b) => return float_result(heap, if subtract { a - b } else { a + b }),
    };
    b.negative ^= subtract;
    let (x, y) = (a.digits(), b.digits());
    if let ([x], [y]) = (x, y) {
        let signed = |negative: bool, d: u64| if negative { -(d as i128) } else { d as i128 };
        return Ok(from_i128(heap, signed(a.negative, *x) + signed(b.negative, *y)));
    }
    if a.negative == b.negative {
        return checked(heap, a.negative, &sum(x, y));
    }
    if less(x, y) {
        return checked(heap, b.negative, &difference(y, x));
    }
    checked(heap, a.negative, &difference(x, y))
}

fn less(a: &[u64], b: &[u64]) -> bool {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev())).is_lt()
}

pub(crate) fn sum(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut out = Vec::with_capacity(long.len() + 1);
    let mut carry = false;
    for (i, &digit) in long.iter().enumerate() {
        let (s, c1) = digit.overflowing_add(short.get(i).copied().unwrap_or(0));
        let (s, c2) = s.overflowing_add(carry as u64);
        carry = c1 | c2;
        out.push(s);
    }
    if carry {
        out.push(1);
    }
    out
}

/// `a - b`, where `a` is not less.
fn difference(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = Vec::with_capacity(a.len());
    let mut borrow = false;
    for (i, &digit) in a.iter().enumerate() {
        let (s, b1) = digit.overflowing_sub(b.get(i).copied().unwrap_or(0));
        let (s, b2) = s.overflowing_sub(borrow as u64);
        borrow = b1 | b2;
        out.push(s);
    }
    out
}

#[inline]
pub fn mul(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        let product = a.small_value() as i128 * b.small_value() as i128;
        return Ok(match i64::try_from(product) {
            Ok(value) => heap.integer(value),
            Err(_) => from_i128(heap, product),
        });
    }
    mul_slow(heap, a, b)
}

#[cold]
#[inline(never)]
fn mul_slow(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    let (a, b) = match operands(a, b)? {
        Operands::Ints(a, b) => (a, b),
        Operands::Floats(a, b) => return float_result(heap, a * b),
    };
    let (x, y) = (a.digits(), b.digits());
    if x.len() + y.len() > MAX_DIGITS + 1 {
        return Err(ArithError::SystemLimit);
    }
    checked(heap, a.negative != b.negative, &product(x, y))
}

fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    if a.len().min(b.len()) >= LONG_DIGITS {
        return (to_biguint(a) * to_biguint(b)).to_u64_digits();
    }
    let mut out = vec![0u64; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, &y) in b.iter().enumerate() {
            let wide = x as u128 * y as u128 + out[i + j] as u128 + carry;
            out[i + j] = wide as u64;
            carry = wide >> 64;
        }
        out[i + b.len()] = carry as u64;
    }
    out
}

pub(crate) fn to_biguint(digits: &[u64]) -> BigUint {
    BigUint::new(digits.iter().flat_map(|&d| [d as u32, (d >> 32) as u32]).collect())
}

/// `A / B`: always a float.
pub fn divide(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    let (x, y) = (number_to_f64(a)?, number_to_f64(b)?);
    if y == 0.0 { Err(ArithError::Badarith) } else { float_result(heap, x / y) }
}

/// Integer `div`: truncates towards zero.
#[inline]
pub fn div(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() && b.small_value() != 0 {
        return Ok(heap.integer(a.small_value() / b.small_value()));
    }
    div_rem_slow(heap, a, b, true)
}

/// Integer `rem`: the sign is that of the dividend.
#[inline]
pub fn rem(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() && b.small_value() != 0 {
        return Ok(Term::small(a.small_value() % b.small_value()));
    }
    div_rem_slow(heap, a, b, false)
}

#[cold]
#[inline(never)]
fn div_rem_slow(heap: &mut Heap, a: Term, b: Term, quotient: bool) -> Result<Term, ArithError> {
    let (Some(a), Some(b)) = (Int::of(a), Int::of(b)) else { return Err(ArithError::Badarith) };
    let (x, y) = (a.digits(), b.digits());
    let sign = if quotient { a.negative != b.negative } else { a.negative };
    match y {
        [] => Err(ArithError::Badarith),
        _ if less(x, y) => Ok(from_digits(heap, sign, if quotient { &[] } else { x })),
        &[divisor] => {
            let (out, rest) = div_digit(x, divisor);
            Ok(if quotient { from_digits(heap, sign, &out) } else { from_digits(heap, sign, &[rest]) })
        }
        _ => {
            let (x, y) = (to_biguint(x), to_biguint(y));
            let out = if quotient { x / y } else { x % y };
            Ok(from_digits(heap, sign, &out.to_u64_digits()))
        }
    }
}

fn div_digit(digits: &[u64], divisor: u64) -> (Vec<u64>, u64) {
    let mut out = vec![0; digits.len()];
    let mut rest = 0u64;
    for (i, &digit) in digits.iter().enumerate().rev() {
        let wide = (rest as u128) << 64 | digit as u128;
        out[i] = (wide / divisor as u128) as u64;
        rest = (wide % divisor as u128) as u64;
    }
    (out, rest)
}

/// `-A`.
pub fn neg(heap: &mut Heap, a: Term) -> Result<Term, ArithError> {
    if let Some(value) = a.as_float() {
        return Ok(heap.float(-value));
    }
    let int = Int::of(a).ok_or(ArithError::Badarith)?;
    Ok(from_digits(heap, !int.negative, int.digits()))
}

/// `abs(A)`; the error is the caller's `badarg`.
pub fn abs(heap: &mut Heap, a: Term) -> Result<Term, ArithError> {
    if let Some(value) = a.as_float() {
        return Ok(if value.is_sign_negative() { heap.float(-value) } else { a });
    }
    let int = Int::of(a).ok_or(ArithError::Badarith)?;
    Ok(if int.negative { from_digits(heap, false, int.digits()) } else { a })
}
