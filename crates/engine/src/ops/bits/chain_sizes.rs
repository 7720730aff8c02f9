//! Sizes of a chain's segments that are known at run time only, summed up in `build_bits`.
//!
//! Cells: source or size, distance to give up, unit. `FIRST`: the sum starts here. They accept whole bytes only, so that every
//! segment of a chain starts at a byte.

use super::append::MAX_BITS;
use super::chain::Flag;
use super::utf::is_code_point;
use crate::ctx::{Ctx, Src};
use crate::{give_up, goto, next, ops};
use heddle_term::bits::data_of;
use heddle_term::{Kind, Term};

/// Address and number of the bytes of a source that is a binary and starts at a byte.
///
/// # Safety
/// The term is alive, and nothing moves it while the address is used.
#[inline(always)]
pub unsafe fn bytes_of(source: Term) -> Option<(*const u8, u64)> {
    if !source.is_boxed() {
        return None;
    }
    // SAFETY: the addresses stay inside the objects.
    unsafe {
        let (base, start, size) = match source.header().kind() {
            Kind::HeapBits | Kind::BinRef => {
                let (base, size) = data_of(source);
                (base, 0, size)
            }
            Kind::SubBits => (data_of(source.slot(2)).0, source.word(0), source.word(1)),
            _ => return None,
        };
        if (start | size) & 7 != 0 {
            return None;
        }
        Some((base.add((start / 8) as usize), size / 8))
    }
}

/// The number of bits of a size in a register times a unit.
#[inline(always)]
pub fn bits_of(size: Term, unit: u64) -> Option<u64> {
    // Larger than any bitstring may be, and small enough for the product.
    if !size.is_small() || size.small_value() as u64 > MAX_BITS {
        return None;
    }
    let bits = size.small_value() as u64 * unit;
    (bits & 7 == 0 && bits <= MAX_BITS).then_some(bits)
}

#[inline(always)]
unsafe fn add<FIRST: Flag>(c: *mut Ctx, bits: u64) {
    // SAFETY: the context of the running thread.
    unsafe { if FIRST::SET { (*c).build_bits = bits } else { (*c).build_bits += bits } }
}

ops! {
    // There are none
    fn no_sizes(ip, c, h, s, r) {
        (*c).build_bits = 0;
        next!(ip, c, h, s, r; 1)
    }
    // A whole binary
    fn size_of_all<S: Src, FIRST: Flag>(ip, c, h, s, r) {
        let Some((_, bytes)) = bytes_of(S::get(*ip.add(1), c, s)) else { give_up!(ip, c, h, s, r; *ip.add(2)) };
        let unit = *ip.add(3);
        if unit > 8 && !(bytes * 8).is_multiple_of(unit) {
            give_up!(ip, c, h, s, r; *ip.add(2))
        }
        add::<FIRST>(c, bytes * 8);
        next!(ip, c, h, s, r; 4)
    }
    // A size in a register
    fn size_of_sized<S: Src, FIRST: Flag>(ip, c, h, s, r) {
        let Some(bits) = bits_of(S::get(*ip.add(1), c, s), *ip.add(3)) else { give_up!(ip, c, h, s, r; *ip.add(2)) };
        add::<FIRST>(c, bits);
        next!(ip, c, h, s, r; 4)
    }
    fn size_of_utf8<S: Src, FIRST: Flag>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_small() || !is_code_point(source.small_value() as u64) {
            give_up!(ip, c, h, s, r; *ip.add(2))
        }
        let value = source.small_value() as u64;
        let bytes = 1 + (value >= 0x80) as u64 + (value >= 0x800) as u64 + (value >= 0x1_0000) as u64;
        add::<FIRST>(c, bytes * 8);
        next!(ip, c, h, s, r; 4)
    }
}
