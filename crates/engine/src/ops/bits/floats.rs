//! Floats of 16, 32 and 64 bits.

use super::LITTLE;
use super::integers::{from_little, read, to_little, write};

/// The float in `bits` bits; None if there is none of that size, or for infinities and NaNs. No bits at all are 0.0.
///
/// # Safety
/// The bytes that hold the bits are readable.
pub unsafe fn read_float(base: *const u8, at: u64, bits: u64, flags: u64) -> Option<f64> {
    if !matches!(bits, 0 | 16 | 32 | 64) {
        return None;
    }
    // SAFETY: the bytes that hold the bits are readable.
    let mut raw = unsafe { read(base, at, bits, 0) };
    if flags & LITTLE != 0 {
        raw = from_little(raw, bits);
    }
    let value = match bits {
        0 => 0.0,
        16 => from_half(raw as u16),
        32 => f32::from_bits(raw as u32) as f64,
        _ => f64::from_bits(raw),
    };
    value.is_finite().then_some(value)
}

/// Writes a float of 16, 32 or 64 bits. What is too large for the size becomes an infinity, as with stock.
///
/// # Safety
/// The bytes that hold the bits are writable.
pub unsafe fn write_float(base: *mut u8, at: u64, bits: u64, value: f64, flags: u64) {
    let raw = match bits {
        16 => to_half(value) as u64,
        32 => (value as f32).to_bits() as u64,
        _ => value.to_bits(),
    };
    // SAFETY: the bytes that hold the bits are writable.
    unsafe { write(base, at, bits, if flags & LITTLE != 0 { to_little(raw, bits) } else { raw }) };
}

pub fn from_half(half: u16) -> f64 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = (half >> 10 & 31) as i32;
    let fraction = (half & 1023) as f64;
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Rounds to nearest, ties to even.
pub fn to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Smallest normal: 2^-14. Below, the unit is 2^-24.
    if magnitude < 2f64.powi(-14) {
        return sign | (magnitude * 2f64.powi(24)).round_ties_even() as u16;
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let fraction = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    // A fraction of 2048 carries into the exponent by itself.
    sign | (((exponent + 15) as u16) << 10).wrapping_add(fraction - 1024)
}
