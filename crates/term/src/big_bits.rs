//! Bit operations on integers as if they were two's complement of endless width.

use crate::big::{ArithError, Int, MAX_DIGITS, checked, from_digits};
use crate::heap::Heap;
use crate::term::Term;

#[inline]
pub fn band(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() & b.raw()));
    }
    bitwise(heap, a, b, |x, y| x & y)
}

#[inline]
pub fn bor(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() | b.raw()));
    }
    bitwise(heap, a, b, |x, y| x | y)
}

#[inline]
pub fn bxor(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() ^ b.raw()));
    }
    bitwise(heap, a, b, |x, y| x ^ y)
}

pub fn bnot(heap: &mut Heap, a: Term) -> Result<Term, ArithError> {
    if let Some(value) = a.as_small() {
        return Ok(Term::small(!value));
    }
    let int = Int::of(a).ok_or(ArithError::Badarith)?;
    // -A - 1
    let mut digits = int.digits().to_vec();
    if int.negative {
        decrement(&mut digits);
    } else {
        increment(&mut digits);
    }
    checked(heap, !int.negative, &digits)
}

fn increment(digits: &mut Vec<u64>) {
    for digit in digits.iter_mut() {
        let (value, carry) = digit.overflowing_add(1);
        *digit = value;
        if !carry {
            return;
        }
    }
    digits.push(1);
}

fn decrement(digits: &mut [u64]) {
    for digit in digits.iter_mut() {
        let (value, borrow) = digit.overflowing_sub(1);
        *digit = value;
        if !borrow {
            return;
        }
    }
}

/// Two's complement digits, `len` of them.
fn complement(int: &Int, len: usize) -> Vec<u64> {
    let mut digits = int.digits().to_vec();
    if int.negative {
        decrement(&mut digits);
        digits.iter_mut().for_each(|d| *d = !*d);
        digits.resize(len, u64::MAX);
    } else {
        digits.resize(len, 0);
    }
    digits
}

/// The integer of two's complement digits.
fn from_complement(heap: &mut Heap, mut digits: Vec<u64>) -> Result<Term, ArithError> {
    let negative = digits.last().is_some_and(|d| d >> 63 == 1);
    if negative {
        digits.iter_mut().for_each(|d| *d = !*d);
        increment(&mut digits);
    }
    checked(heap, negative, &digits)
}

#[cold]
#[inline(never)]
fn bitwise(heap: &mut Heap, a: Term, b: Term, op: fn(u64, u64) -> u64) -> Result<Term, ArithError> {
    let (Some(a), Some(b)) = (Int::of(a), Int::of(b)) else { return Err(ArithError::Badarith) };
    // One digit more than the longer one holds the sign.
    let len = a.digits().len().max(b.digits().len()) + 1;
    let out = complement(&a, len).iter().zip(complement(&b, len)).map(|(&x, y)| op(x, y)).collect();
    from_complement(heap, out)
}

pub fn bsl(heap: &mut Heap, a: Term, count: Term) -> Result<Term, ArithError> {
    if let (Some(value), Some(n @ 0..64)) = (a.as_small(), count.as_small()) {
        return Ok(crate::big::from_i128(heap, (value as i128) << n));
    }
    shift(heap, a, count, true)
}

pub fn bsr(heap: &mut Heap, a: Term, count: Term) -> Result<Term, ArithError> {
    if let (Some(value), Some(n @ 0..)) = (a.as_small(), count.as_small()) {
        return Ok(Term::small(value >> n.min(63)));
    }
    shift(heap, a, count, false)
}

#[cold]
#[inline(never)]
fn shift(heap: &mut Heap, a: Term, count: Term, left: bool) -> Result<Term, ArithError> {
    let (Some(int), Some(by)) = (Int::of(a), Int::of(count)) else { return Err(ArithError::Badarith) };
    if int.digits().is_empty() {
        return Ok(a);
    }
    let left = left != by.negative;
    let bits = match by.digits() {
        [] => return Ok(a),
        &[bits] if bits <= (MAX_DIGITS as u64 + 1) * 64 => bits,
        _ if left => return Err(ArithError::SystemLimit),
        _ => return Ok(Term::small(if int.negative { -1 } else { 0 })),
    };
    let (words, rest) = ((bits / 64) as usize, (bits % 64) as u32);
    if left {
        let mut out = vec![0; words];
        let mut carry = 0u64;
        for &digit in int.digits() {
            let wide = (digit as u128) << rest;
            out.push(wide as u64 | carry);
            carry = (wide >> 64) as u64;
        }
        out.push(carry);
        return checked(heap, int.negative, &out);
    }
    let digits = int.digits();
    if words >= digits.len() {
        return Ok(Term::small(if int.negative { -1 } else { 0 }));
    }
    let mut out: Vec<u64> = Vec::with_capacity(digits.len() - words + 1);
    for i in words..digits.len() {
        let high = digits.get(i + 1).copied().unwrap_or(0);
        out.push(((high as u128) << 64 | digits[i] as u128).wrapping_shr(rest) as u64);
    }
    // Shifting right rounds towards minus infinity.
    let lost = digits[..words].iter().any(|&d| d != 0) || digits[words] & ((1u64 << rest) - 1) != 0;
    if int.negative && lost {
        increment(&mut out);
    }
    Ok(from_digits(heap, int.negative, &out))
}
