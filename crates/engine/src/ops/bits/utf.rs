//! Unicode code points in UTF-8, UTF-16 and UTF-32.

use super::LITTLE;
use super::integers::{from_little, read, write};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Utf {
    Utf8,
    Utf16,
    Utf32,
}

#[inline]
pub fn is_code_point(value: u64) -> bool {
    value < 0xd800 || (0xe000..0x11_0000).contains(&value)
}

/// The code point at bit `at`, and the number of its bits. `end` is where the bitstring ends.
///
/// # Safety
/// The bytes before `end` are readable.
#[inline(never)]
pub unsafe fn read_utf(kind: Utf, base: *const u8, at: u64, end: u64, flags: u64) -> Option<(u32, u64)> {
    let get = |from: u64, bits: u64| {
        if from + bits > end {
            return None;
        }
        // SAFETY: the bits lie before `end`.
        let raw = unsafe { read(base, from, bits, end) };
        Some(if flags & LITTLE != 0 { from_little(raw, bits) } else { raw } as u32)
    };
    match kind {
        Utf::Utf8 => {
            let first = get(at, 8)?;
            let (len, lowest) = match first {
                0..0x80 => return Some((first, 8)),
                0xc2..0xe0 => (2, 0x80),
                0xe0..0xf0 => (3, 0x800),
                0xf0..0xf5 => (4, 0x1_0000),
                _ => return None,
            };
            let mut value = first & (0x7f >> len);
            for i in 1..len {
                let byte = get(at + 8 * i, 8)?;
                if byte & 0xc0 != 0x80 {
                    return None;
                }
                value = value << 6 | byte & 0x3f;
            }
            (value >= lowest && is_code_point(value as u64)).then_some((value, 8 * len))
        }
        Utf::Utf16 => {
            let first = get(at, 16)?;
            match first {
                0xd800..0xdc00 => {
                    let second = get(at + 16, 16)?;
                    (second & 0xfc00 == 0xdc00).then(|| (0x1_0000 + ((first & 0x3ff) << 10 | second & 0x3ff), 32))
                }
                0xdc00..0xe000 => None,
                _ => Some((first, 16)),
            }
        }
        Utf::Utf32 => {
            let value = get(at, 32)?;
            is_code_point(value as u64).then_some((value, 32))
        }
    }
}

/// Bits that a code point takes; for any other value the maximum.
pub fn size_of_utf(kind: Utf, value: u64) -> u64 {
    match kind {
        Utf::Utf8 => match value {
            0..0x80 => 8,
            0x80..0x800 => 16,
            0x800..0x1_0000 => 24,
            _ => 32,
        },
        Utf::Utf16 if value < 0x1_0000 => 16,
        _ => 32,
    }
}

/// Writes a code point. Returns the number of its bits.
///
/// # Safety
/// The bytes that hold the bits are writable; `value` is a code point.
pub unsafe fn write_utf(kind: Utf, base: *mut u8, at: u64, value: u32, flags: u64) -> u64 {
    let size = size_of_utf(kind, value as u64);
    let tail = |shift: u32| 0x80 | (value >> shift & 0x3f) as u64;
    let little = |unit: u64, bits: u64| if flags & LITTLE != 0 { super::integers::to_little(unit, bits) } else { unit };
    let raw = match (kind, size) {
        (Utf::Utf8, 8) => value as u64,
        (Utf::Utf8, 16) => (0xc0 | value as u64 >> 6) << 8 | tail(0),
        (Utf::Utf8, 24) => (0xe0 | value as u64 >> 12) << 16 | tail(6) << 8 | tail(0),
        (Utf::Utf8, _) => (0xf0 | value as u64 >> 18) << 24 | tail(12) << 16 | tail(6) << 8 | tail(0),
        (Utf::Utf16, 16) => little(value as u64, 16),
        (Utf::Utf16, _) => {
            let value = value as u64 - 0x1_0000;
            little(0xd800 | value >> 10, 16) << 16 | little(0xdc00 | value & 0x3ff, 16)
        }
        (Utf::Utf32, _) => little(value as u64, 32),
    };
    // SAFETY: the bytes that hold the bits are writable.
    unsafe { write(base, at, size, raw) };
    size
}
