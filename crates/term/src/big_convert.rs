//! Integers from and to machine integers, floats, bytes and text.

use crate::big::{Int, from_digits, to_biguint};
use crate::heap::Heap;
use crate::term::Term;
use num_bigint::BigUint;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    Trunc,
    Floor,
    Ceil,
    /// Half away from zero, as `erlang:round/1`.
    Round,
}

pub fn from_i128(heap: &mut Heap, value: i128) -> Term {
    let magnitude = value.unsigned_abs();
    from_digits(heap, value < 0, &[magnitude as u64, (magnitude >> 64) as u64])
}

pub fn from_u128(heap: &mut Heap, value: u128) -> Term {
    from_digits(heap, false, &[value as u64, (value >> 64) as u64])
}

pub fn to_i64(term: Term) -> Option<i64> {
    if let Some(value) = term.as_small() {
        return Some(value);
    }
    let int = Int::of(term)?;
    match (int.digits(), int.negative) {
        (&[d], false) => i64::try_from(d).ok(),
        (&[d], true) if d <= 1 << 63 => Some((d as i64).wrapping_neg()),
        _ => None,
    }
}

pub fn to_u64(term: Term) -> Option<u64> {
    let int = Int::of(term)?;
    match (int.digits(), int.negative) {
        ([], _) => Some(0),
        (&[d], false) => Some(d),
        _ => None,
    }
}

/// Digits of the largest integers that are floats: 1,024 bits.
const MAX_FLOAT_DIGITS: usize = 16;

/// An integer as a float; None if it is too large (or no integer). Digits are added up in floating point from the highest,
/// as stock does: the last bit may differ from that of correct rounding.
pub fn to_f64(term: Term) -> Option<f64> {
    if let Some(value) = term.as_small() {
        return Some(value as f64);
    }
    let int = Int::of(term)?;
    if int.digits().len() > MAX_FLOAT_DIGITS {
        return None;
    }
    let mut value = 0.0;
    for &digit in int.digits().iter().rev() {
        value = value * 18_446_744_073_709_551_616.0 + digit as f64;
    }
    value.is_finite().then_some(if int.negative { -value } else { value })
}

/// A finite float as an integer.
pub fn from_float(heap: &mut Heap, value: f64, rounding: Rounding) -> Term {
    let value = match rounding {
        Rounding::Trunc => value.trunc(),
        Rounding::Floor => value.floor(),
        Rounding::Ceil => value.ceil(),
        Rounding::Round => value.round(),
    };
    if value.abs() < (1u64 << 62) as f64 {
        return heap.integer(value as i64);
    }
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as usize - 1075;
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let mut digits = vec![0u64; exponent / 64 + 2];
    let wide = (mantissa as u128) << (exponent % 64);
    digits[exponent / 64] = wide as u64;
    digits[exponent / 64 + 1] = (wide >> 64) as u64;
    from_digits(heap, value < 0.0, &digits)
}

/// An integer from its bytes (two's complement if `signed`).
pub fn from_bytes(heap: &mut Heap, bytes: &[u8], big_endian: bool, signed: bool) -> Term {
    let mut digits = vec![0u64; bytes.len().div_ceil(8)];
    let mut put = |i: usize, byte: u8| digits[i / 8] |= (byte as u64) << (8 * (i % 8));
    if big_endian {
        bytes.iter().rev().enumerate().for_each(|(i, &b)| put(i, b));
    } else {
        bytes.iter().enumerate().for_each(|(i, &b)| put(i, b));
    }
    let top = if big_endian { bytes.first() } else { bytes.last() };
    let negative = signed && top.is_some_and(|b| b & 0x80 != 0);
    if negative {
        // Magnitude: complement and add one, within the width.
        let mut carry = true;
        for digit in &mut digits {
            let (value, overflow) = (!*digit).overflowing_add(carry as u64);
            (*digit, carry) = (value, overflow);
        }
        if !bytes.len().is_multiple_of(8) {
            let last = digits.len() - 1;
            digits[last] &= (1 << (8 * (bytes.len() % 8))) - 1;
        }
    }
    from_digits(heap, negative, &digits)
}

/// The low `len` bytes of an integer, two's complement. The caller checked that it is an integer.
pub fn to_bytes(term: Term, len: usize, big_endian: bool) -> Vec<u8> {
    let Some(int) = Int::of(term) else { return vec![0; len] };
    let mut out = Vec::with_capacity(len);
    let mut carry = true;
    for i in 0..len.div_ceil(8) {
        let mut digit = int.digits().get(i).copied().unwrap_or(0);
        if int.negative {
            let (value, overflow) = (!digit).overflowing_add(carry as u64);
            (digit, carry) = (value, overflow);
        }
        out.extend_from_slice(&digit.to_le_bytes());
    }
    out.truncate(len);
    if big_endian {
        out.reverse();
    }
    out
}

/// Text in base 2 to 36, upper case. The caller checked that it is an integer.
pub fn to_text(term: Term, base: u32) -> String {
    if let Some(value) = term.as_small() {
        let mut room = [0; SMALL_TEXT_BYTES];
        return small_text(value, base, &mut room).iter().map(|&byte| byte as char).collect();
    }
    let Some(int) = Int::of(term) else { return String::new() };
    if int.digits().is_empty() {
        return "0".into();
    }
    let mut text = to_biguint(int.digits()).to_str_radix(base);
    text.make_ascii_uppercase();
    if int.negative {
        text.insert(0, '-');
    }
    text
}

/// Room for the text of a small integer in base 2.
pub const SMALL_TEXT_BYTES: usize = 65;

/// The text of a small integer, at the end of `room`.
#[inline]
pub fn small_text(value: i64, base: u32, room: &mut [u8; SMALL_TEXT_BYTES]) -> &[u8] {
    let mut at = room.len();
    let mut left = value.unsigned_abs();
    // With a known base a division is a multiplication.
    let digit = |left: &mut u64| {
        let digit = match base {
            10 => {
                let digit = *left % 10;
                *left /= 10;
                digit
            }
            16 => {
                let digit = *left % 16;
                *left /= 16;
                digit
            }
            _ => {
                let digit = *left % base as u64;
                *left /= base as u64;
                digit
            }
        };
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit as usize]
    };
    loop {
        at -= 1;
        room[at] = digit(&mut left);
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        room[at] = b'-';
    }
    &room[at..]
}

/// The value of text that is digits alone, so few that it is a small integer. None for other text.
#[inline]
fn small_from_digits(digits: &[u8], base: u32) -> Option<i64> {
    // 17 digits of base 10 and 11 digits of base 36 are below 2^59.
    if digits.is_empty() || digits.len() > if base <= 10 { 17 } else { 11 } {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => return None,
        } as i64;
        if digit >= base as i64 {
            return None;
        }
        value = value * base as i64 + digit;
    }
    Some(value)
}

/// An integer from text: optional sign, then digits of base 2 to 36. None if malformed.
/// A value beyond the VM's limit is `Some(Err(SystemLimit))`.
pub fn from_text(heap: &mut Heap, text: &[u8], base: u32) -> Option<Result<Term, crate::big::ArithError>> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if let Some(value) = small_from_digits(digits, base) {
        return Some(Ok(Term::small(if negative { -value } else { value })));
    }
    if digits.is_empty() || !digits.iter().all(|&c| (c as char).is_digit(base)) {
        return None;
    }
    // 4,194,240 bits are at most that many digits of base 2; do not parse what cannot fit.
    let bits_at_least = (digits.len() - 1 - digits.iter().take_while(|&&c| c == b'0').count().min(digits.len() - 1)) as f64;
    if bits_at_least * (base as f64).log2() > (crate::big::MAX_DIGITS * 64 + 64) as f64 {
        return Some(Err(crate::big::ArithError::SystemLimit));
    }
    let value = BigUint::parse_bytes(digits, base)?;
    Some(crate::big::checked(heap, negative, &value.to_u64_digits()))
}
