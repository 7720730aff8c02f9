//! Bit operations on integers as if they were two's complement of endless width.

use crate::big::{ArithError, Int, MAX_DIGITS, checked, from_digits, from_i128};
use crate::heap::Heap;
use crate::term::Term;

/// What is done to each pair of digits.
type Op = fn(u64, u64) -> u64;

#[inline]
pub fn band(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() & b.raw()));
    }
    // Where one is not negative, the other's higher digits do not count.
    bitwise(heap, a, b, |x, y| x & y, Some(false))
}

#[inline]
pub fn bor(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() | b.raw()));
    }
    // Where one is negative, the other's higher digits do not count.
    bitwise(heap, a, b, |x, y| x | y, Some(true))
}

#[inline]
pub fn bxor(heap: &mut Heap, a: Term, b: Term) -> Result<Term, ArithError> {
    if a.is_small() && b.is_small() {
        return Ok(Term::from_raw(a.raw() ^ b.raw()));
    }
    bitwise(heap, a, b, |x, y| x ^ y, None)
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

/// The lowest `len` digits in two's complement.
fn complement(int: &Int, len: usize) -> Vec<u64> {
    let all = int.digits();
    let mut digits = all[..all.len().min(len)].to_vec();
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
fn bitwise(heap: &mut Heap, a: Term, b: Term, op: Op, deciding: Option<bool>) -> Result<Term, ArithError> {
    let (Some(a), Some(b)) = (Int::of(a), Int::of(b)) else { return Err(ArithError::Badarith) };
    if let (Some(a), Some(b)) = (narrow(&a), narrow(&b)) {
        let (low, high) = (op(a as u64, b as u64), op((a >> 64) as u64, (b >> 64) as u64));
        return Ok(from_i128(heap, (high as i128) << 64 | low as i128));
    }
    wide(heap, &a, &b, op, deciding)
}

/// One of a digit at most, as is what programs hash and draw random numbers with.
fn narrow(int: &Int) -> Option<i128> {
    match *int.digits() {
        [] => Some(0),
        [digit] if int.negative => Some(-(digit as i128)),
        [digit] => Some(digit as i128),
        _ => None,
    }
}

/// `deciding`: an integer that is negative, or is not, decides all digits of the result above its own.
fn wide(heap: &mut Heap, a: &Int, b: &Int, op: Op, deciding: Option<bool>) -> Result<Term, ArithError> {
    let (x, y) = (a.digits().len(), b.digits().len());
    let len = match (deciding == Some(a.negative), deciding == Some(b.negative)) {
        (true, true) => x.min(y),
        (true, false) => x,
        (false, true) => y,
        (false, false) => x.max(y),
    };
    // One digit more holds the sign.
    let len = len + 1;
    let out = complement(a, len).iter().zip(complement(b, len)).map(|(&x, y)| op(x, y)).collect();
    from_complement(heap, out)
}

pub fn bsl(heap: &mut Heap, a: Term, count: Term) -> Result<Term, ArithError> {
    if let (Some(value), Some(n @ 0..64)) = (a.as_small(), count.as_small()) {
        return Ok(from_i128(heap, (value as i128) << n));
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
    match narrow(&int) {
        // 64 bits and a sign become 127.
        Some(value) if left && bits < 63 => Ok(from_i128(heap, value << bits)),
        Some(value) if !left => Ok(from_i128(heap, value >> bits.min(127))),
        _ => shift_wide(heap, &int, bits, left),
    }
}

fn shift_wide(heap: &mut Heap, int: &Int, bits: u64, left: bool) -> Result<Term, ArithError> {
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
    let lost = || digits[..words].iter().any(|&d| d != 0) || digits[words] & ((1u64 << rest) - 1) != 0;
    if int.negative && lost() {
        increment(&mut out);
    }
    Ok(from_digits(heap, int.negative, &out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::exact_eq;

    /// Integers of a digit take a short way; that of longer ones gives the same.
    #[test]
    fn both_ways_agree() {
        let mut heap = Heap::new();
        let edges = [0, 1, 2, 5, (1 << 59) - 1, 1 << 59, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        let all: Vec<Term> = edges.iter().flat_map(|&e| [e as i128, -(e as i128)]).map(|i| from_i128(&mut heap, i)).collect();
        // Miri takes some milliseconds for each pair.
        let step = if cfg!(miri) { 13 } else { 1 };
        for &a in all.iter().step_by(step) {
            for &b in all.iter().step_by(step) {
                let ops: [(Op, Option<bool>); 3] = [(|x, y| x & y, Some(false)), (|x, y| x | y, Some(true)), (|x, y| x ^ y, None)];
                for (op, deciding) in ops {
                    let (short, long) = (bitwise(&mut heap, a, b, op, deciding).unwrap(), wide_of(&mut heap, a, b, op, None));
                    assert!(exact_eq(short, long), "{a:?} {b:?}: {short:?} {long:?}");
                }
            }
            for bits in [1, 3, 4, 31, 61, 62, 63, 64, 65, 126, 127, 128, 200] {
                for left in [true, false].into_iter().filter(|_| a != Term::small(0)) {
                    let short = shift(&mut heap, a, Term::small(bits), left).unwrap();
                    let long = shift_wide(&mut heap, &Int::of(a).unwrap(), bits as u64, left).unwrap();
                    assert!(exact_eq(short, long), "{a:?} by {bits}: {short:?} {long:?}");
                }
            }
        }
    }

    fn wide_of(heap: &mut Heap, a: Term, b: Term, op: Op, deciding: Option<bool>) -> Term {
        wide(heap, &Int::of(a).unwrap(), &Int::of(b).unwrap(), op, deciding).unwrap()
    }

    /// What one of them decides alone is the same as what is reckoned over all digits.
    #[test]
    fn digits_above_a_deciding_one_do_not_count() {
        let mut heap = Heap::new();
        let mut all = Vec::new();
        for len in [1, 2, 3, 5] {
            for low in [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
                for high in [1, u64::MAX, 1 << 63] {
                    let mut digits = vec![low; len];
                    digits.push(high);
                    all.extend([false, true].map(|negative| from_digits(&mut heap, negative, &digits)));
                }
            }
        }
        all.extend([0, 1, -1, 5, -77, (1 << 59) - 1, -(1 << 59)].map(Term::small));
        // Miri takes some milliseconds for each pair.
        let step = if cfg!(miri) { 13 } else { 1 };
        for &a in all.iter().step_by(step) {
            for &b in all.iter().step_by(step) {
                let ops: [(Op, bool); 2] = [(|x, y| x & y, false), (|x, y| x | y, true)];
                for (op, deciding) in ops {
                    let (short, long) = (wide_of(&mut heap, a, b, op, Some(deciding)), wide_of(&mut heap, a, b, op, None));
                    assert!(exact_eq(short, long), "{a:?} {b:?}: {short:?} {long:?}");
                }
            }
        }
    }
}
