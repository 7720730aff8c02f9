//! Integers of any number of bits, from and to any bit position.

use super::{LITTLE, SIGNED};
use heddle_term::bits::copy_bits;
use heddle_term::{Heap, Kind, Term, big};

/// Read through a place, not by `read_unaligned`: that has a local whose address escapes in a debug build, and operations that inline it
/// would lose their tail call.
#[repr(C, packed)]
pub struct Unaligned<T: Copy>(pub T);

/// `bits` (0 to 64) bits from bit `at`, first bit most significant. `end` is a bit position up to which all bytes may be read.
///
/// # Safety
/// The bytes that hold bits `at .. at + bits` and those before `end` are readable.
#[inline(always)]
pub unsafe fn read(base: *const u8, at: u64, bits: u64, end: u64) -> u64 {
    let shift = at & 7;
    // SAFETY: by contract; eight bytes are read only if all lie before `end`.
    unsafe {
        if (at - shift) + 64 <= end && bits.wrapping_sub(1) < 64 - shift {
            let word = u64::from_be((*base.add((at / 8) as usize).cast::<Unaligned<u64>>()).0);
            (word << shift) >> (64 - bits)
        } else {
            read_bytes(base, at, bits)
        }
    }
}

#[inline(never)]
unsafe fn read_bytes(base: *const u8, at: u64, bits: u64) -> u64 {
    if bits == 0 {
        return 0;
    }
    let shift = at & 7;
    let bytes = (shift + bits).div_ceil(8);
    let mut value = 0u128;
    for i in 0..bytes {
        // SAFETY: only bytes that hold wanted bits.
        value = value << 8 | unsafe { *base.add((at / 8 + i) as usize) } as u128;
    }
    let value = (value >> (bytes * 8 - shift - bits)) as u64;
    if bits == 64 { value } else { value & ((1 << bits) - 1) }
}

/// `bits` (0 to 64) low bits of `value` from bit `at` on, most significant first.
///
/// # Safety
/// The bytes that hold the bits are writable.
#[inline(always)]
pub unsafe fn write(base: *mut u8, at: u64, bits: u64, value: u64) {
    if bits == 0 {
        return;
    }
    let bytes = (value << (64 - bits)).to_be_bytes();
    // SAFETY: the bytes that hold the bits are writable.
    unsafe {
        if at & 7 == 0 && bits & 7 == 0 {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.add((at / 8) as usize), (bits / 8) as usize);
        } else {
            copy_bits(bytes.as_ptr(), 0, base, at, bits);
        }
    }
}

/// A value whose bytes came in little endian order. A last incomplete byte holds the highest bits.
#[inline]
pub fn from_little(raw: u64, bits: u64) -> u64 {
    let (whole, rest) = (bits & !7, bits & 7);
    if whole == 0 {
        return raw;
    }
    let low = (raw >> rest).swap_bytes() >> (64 - whole);
    if rest == 0 { low } else { low | (raw & ((1 << rest) - 1)) << whole }
}

/// The reverse of `from_little`; bits of `value` above `bits` do not count.
#[inline]
pub fn to_little(value: u64, bits: u64) -> u64 {
    let (whole, rest) = (bits & !7, bits & 7);
    if whole == 0 {
        return value;
    }
    let low = (value << (64 - whole)).swap_bytes();
    if rest == 0 { low } else { low << rest | (value >> whole & ((1 << rest) - 1)) }
}

#[inline(always)]
pub fn sign_extend(value: u64, bits: u64) -> i64 {
    if bits == 0 {
        return 0;
    }
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

/// The integer in `bits` bits. None if it is larger than integers may be.
///
/// # Safety
/// As `read`.
#[inline(never)]
pub unsafe fn read_term(heap: &mut Heap, base: *const u8, at: u64, bits: u64, flags: u64) -> Option<Term> {
    if bits <= 64 {
        // SAFETY: the bytes that hold the bits are readable.
        let mut value = unsafe { read_bytes(base, at, bits) };
        if flags & LITTLE != 0 {
            value = from_little(value, bits);
        }
        return Some(if flags & SIGNED != 0 { heap.integer(sign_extend(value, bits)) } else { heap.unsigned(value) });
    }
    let len = bits.div_ceil(8) as usize;
    let rest = bits & 7;
    let mut bytes = vec![0u8; len];
    let little = flags & LITTLE != 0;
    let pad = if little { 0 } else { (8 - rest) & 7 };
    // SAFETY: the buffer has room for all bits; the source by contract.
    unsafe { copy_bits(base, at, bytes.as_mut_ptr(), pad, bits) };
    let top = if little { len - 1 } else { 0 };
    if rest != 0 {
        if little {
            bytes[top] >>= 8 - rest;
        }
        if flags & SIGNED != 0 && bytes[top] >> (rest - 1) & 1 == 1 {
            bytes[top] |= 0xffu8 << rest;
        }
    }
    if len > big::MAX_DIGITS * 8 && too_large(&bytes, little, flags & SIGNED != 0) {
        return None;
    }
    Some(big::from_bytes(heap, &bytes, !little, flags & SIGNED != 0))
}

fn too_large(bytes: &[u8], little: bool, signed: bool) -> bool {
    let top = if little { bytes[bytes.len() - 1] } else { bytes[0] };
    let fill = if signed && top & 0x80 != 0 { 0xff } else { 0 };
    let significant = if little {
        bytes.iter().rposition(|&b| b != fill).map_or(0, |i| i + 1)
    } else {
        bytes.len() - bytes.iter().position(|&b| b != fill).unwrap_or(bytes.len())
    };
    significant > big::MAX_DIGITS * 8
}

/// The low 64 bits of an integer term.
#[inline]
pub fn low_bits(term: Term) -> u64 {
    if term.is_small() {
        return term.small_value() as u64;
    }
    if term.is_kind(Kind::NegBig) { term.word(0).wrapping_neg() } else { term.word(0) }
}

/// Writes the low `bits` bits of an integer term.
///
/// # Safety
/// The bytes that hold the bits are writable; `term` is an integer.
pub unsafe fn write_term(base: *mut u8, at: u64, bits: u64, term: Term, flags: u64) {
    let little = flags & LITTLE != 0;
    // SAFETY: the bytes that hold the bits are writable, and `term` is an integer.
    unsafe {
        if bits <= 64 {
            let value = low_bits(term);
            return write(base, at, bits, if little { to_little(value, bits) } else { value });
        }
        let rest = bits & 7;
        let mut bytes = big::to_bytes(term, bits.div_ceil(8) as usize, !little);
        if !little {
            return copy_bits(bytes.as_ptr(), (8 - rest) & 7, base, at, bits);
        }
        if rest != 0
            && let Some(last) = bytes.last_mut()
        {
            *last <<= 8 - rest;
        }
        copy_bits(bytes.as_ptr(), 0, base, at, bits);
    }
}
