//! The commands of `bs_match`, one operation each: bits are ensured first, then read without checks.

use super::integers::{Unaligned, from_little, read, read_term, sign_extend};
use super::match_ctx::Context;
use super::{LITTLE, SIGNED, finish};
use crate::ctx::{Ctx, Dst, Src, any, put};
use crate::{goto, load, next, ops, save};
use heddle_term::Term;
use heddle_term::bits::copy_bits;

/// Width of an integer as a type.
pub trait Width {
    const BITS: u64;
    /// # Safety
    /// `BITS` bits from `p` are readable.
    unsafe fn load(p: *const u8) -> u64;
}
pub struct W8;
pub struct W16;
pub struct W24;
pub struct W32;
impl Width for W8 {
    const BITS: u64 = 8;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> u64 {
        // SAFETY: `p` is readable for the bytes of this width.
        unsafe { *p as u64 }
    }
}
impl Width for W16 {
    const BITS: u64 = 16;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> u64 {
        // SAFETY: `p` is readable for the bytes of this width.
        u16::from_be(unsafe { (*p.cast::<Unaligned<u16>>()).0 }) as u64
    }
}
impl Width for W24 {
    const BITS: u64 = 24;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> u64 {
        // SAFETY: `p` is readable for the bytes of this width.
        unsafe { W16::load(p) << 8 | *p.add(2) as u64 }
    }
}
impl Width for W32 {
    const BITS: u64 = 32;
    #[inline(always)]
    unsafe fn load(p: *const u8) -> u64 {
        // SAFETY: `p` is readable for the bytes of this width.
        u32::from_be(unsafe { (*p.cast::<Unaligned<u32>>()).0 }) as u64
    }
}

ops! {
    // context, bits, label
    fn ensure_at_least<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        if m.left() < *ip.add(2) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 4)
    }
    // context, bits, label, unit of what is left after the bits
    fn ensure_unit<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let bits = *ip.add(2);
        if m.left() < bits || !(m.left() - bits).is_multiple_of(*ip.add(4)) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
    // As `ensure_unit`, for a unit that is a power of two; the last cell is the unit less one
    fn ensure_power<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (left, bits) = (m.left(), *ip.add(2));
        if left < bits || (left - bits) & *ip.add(4) != 0 {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
    // `ensure_power` and `unsigned` in one: context, bits, label, unit less one, dst
    fn ensure_unsigned<S: Src, D: Dst, W: Width>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        let left = m.end() - at;
        if left < bits || (left - bits) & *ip.add(4) != 0 {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        if at & 7 != 0 {
            return unaligned::<S, D, W>(ip, c, h, s, r);
        }
        let value = W::load(m.base().add((at / 8) as usize));
        m.set_at(at + W::BITS);
        D::set(*ip.add(5), c, s, Term::small(value as i64));
        next!(ip, c, h, s, r; 6)
    }
    #[cold]
    fn unaligned<S: Src, D: Dst, W: Width>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let at = m.at();
        let value = read(m.base(), at, W::BITS, m.end());
        m.set_at(at + W::BITS);
        D::set(*ip.add(5), c, s, Term::small(value as i64));
        next!(ip, c, h, s, r; 6)
    }
    // Reads up to 64 bits for the fields after it: context, bits
    fn load_fields<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        let shift = at & 7;
        if shift + bits > 64 || at - shift + 64 > m.end() {
            return load_fields_at_end::<S>(ip, c, h, s, r);
        }
        let word = u64::from_be((*m.base().add((at / 8) as usize).cast::<Unaligned<u64>>()).0);
        (*c).build_group = word << shift;
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 3)
    }
    // `ensure_power` and `load_fields` in one: context, bits to read, bits to ensure, label, unit less one
    fn ensure_fields<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits, wanted) = (m.at(), *ip.add(2), *ip.add(3));
        let left = m.end() - at;
        if left < wanted || (left - wanted) & *ip.add(5) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        let shift = at & 7;
        if shift + bits > 64 || at - shift + 64 > m.end() {
            return ensured_fields_at_end::<S>(ip, c, h, s, r);
        }
        let word = u64::from_be((*m.base().add((at / 8) as usize).cast::<Unaligned<u64>>()).0);
        (*c).build_group = word << shift;
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 6)
    }
    fn ensured_fields_at_end<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        (*c).build_group = read(m.base(), at, bits, m.end()) << (64 - bits);
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 6)
    }
    fn load_fields_at_end<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        (*c).build_group = read(m.base(), at, bits, m.end()) << (64 - bits);
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 3)
    }
    // A field of the loaded bits: dst, bits before it, 64 less its number of bits
    fn field<D: Dst>(ip, c, h, s, r) {
        D::set(*ip.add(1), c, s, Term::small(((*c).build_group << *ip.add(2) >> *ip.add(3)) as i64));
        next!(ip, c, h, s, r; 4)
    }
    // Two fields
    fn field_pair<D1: Dst, D2: Dst>(ip, c, h, s, r) {
        let word = (*c).build_group;
        D1::set(*ip.add(1), c, s, Term::small((word << *ip.add(2) >> *ip.add(3)) as i64));
        D2::set(*ip.add(4), c, s, Term::small((word << *ip.add(5) >> *ip.add(6)) as i64));
        next!(ip, c, h, s, r; 7)
    }
    fn signed_field<D: Dst>(ip, c, h, s, r) {
        D::set(*ip.add(1), c, s, Term::small(((*c).build_group << *ip.add(2)) as i64 >> *ip.add(3)));
        next!(ip, c, h, s, r; 4)
    }
    // context, bits before the field, 64 less its bits, label, value, bits from the field to where the context is
    fn field_equal<S: Src>(ip, c, h, s, r) {
        if (*c).build_group << *ip.add(2) >> *ip.add(3) != *ip.add(5) {
            let m = Context::of(S::get(*ip.add(1), c, s));
            m.set_at(m.at() - *ip.add(6));
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 7)
    }
    // `equal` of whole bytes: context, bits, label, value
    fn equal_bytes<S: Src, W: Width>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let at = m.at();
        if at & 7 != 0 {
            return equal::<S>(ip, c, h, s, r);
        }
        if W::load(m.base().add((at / 8) as usize)) != *ip.add(4) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        m.set_at(at + W::BITS);
        next!(ip, c, h, s, r; 5)
    }
    // context, bits, label
    fn ensure_exactly<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        if m.left() != *ip.add(2) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 4)
    }
    // context, bits
    fn skip<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        m.set_at(m.at() + *ip.add(2));
        next!(ip, c, h, s, r; 3)
    }
    // context, bits (1 to 64), label, value
    fn equal<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        if read(m.base(), at, bits, m.end()) != *ip.add(4) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 5)
    }
    // Unsigned, big endian: context, dst
    fn unsigned<S: Src, D: Dst, W: Width>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let at = m.at();
        m.set_at(at + W::BITS);
        let base = m.base();
        let value = if at & 7 == 0 { W::load(base.add((at / 8) as usize)) } else { read(base, at, W::BITS, m.end()) };
        D::set(*ip.add(2), c, s, Term::small(value as i64));
        next!(ip, c, h, s, r; 3)
    }
    // Up to 59 bits: context, dst, bits, flags
    fn small_integer<S: Src, D: Dst>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits, flags) = (m.at(), *ip.add(3), *ip.add(4));
        m.set_at(at + bits);
        let mut value = read(m.base(), at, bits, m.end());
        if flags & LITTLE != 0 {
            value = from_little(value, bits);
        }
        let value = if flags & SIGNED != 0 { sign_extend(value, bits) } else { value as i64 };
        D::set(*ip.add(2), c, s, Term::small(value));
        next!(ip, c, h, s, r; 5)
    }
    // Any size: context, dst, bits, flags, live, label
    fn integer(ip, c, h, s, r) {
        let code = take_integer(ip, c, h, s);
        load!(c, h, s);
        if code != 0 {
            goto!(*ip.add(6) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 7)
    }
    // Bits that were ensured or not: context, bits, label, cells of the bytes, bytes...
    fn match_string<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(2));
        if m.left() < bits || !same_bits(m.base(), at, ip.add(5) as *const u8, bits) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        m.set_at(at + bits);
        next!(ip, c, h, s, r; 5 + *ip.add(4) as usize)
    }
}

#[inline(never)]
unsafe fn take_integer(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader; the bits were ensured.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(3));
        let Some(term) = read_term(&mut p.heap, m.base(), at, bits, *ip.add(4)) else { return 1 };
        m.set_at(at + bits);
        let term = finish(c, *ip.add(5) as usize, 0, term);
        put(*ip.add(2), c, (*(*c).p).stop, term);
        0
    }
}

/// True if `bits` bits from bit `at` of `base` on are those of `bytes`.
///
/// # Safety
/// Both have that many bits.
#[inline(never)]
pub unsafe fn same_bits(base: *const u8, at: u64, bytes: *const u8, bits: u64) -> bool {
    let len = (bits / 8) as usize;
    let rest = bits & 7;
    // SAFETY: both have that many bits.
    unsafe {
        if at & 7 == 0 {
            let from = base.add((at / 8) as usize);
            if std::slice::from_raw_parts(from, len) != std::slice::from_raw_parts(bytes, len) {
                return false;
            }
        } else {
            for i in 0..len {
                if read(base, at + 8 * i as u64, 8, 0) != *bytes.add(i) as u64 {
                    return false;
                }
            }
        }
        if rest == 0 {
            return true;
        }
        let mut last = 0u8;
        copy_bits(base, at + 8 * len as u64, &mut last, 0, rest);
        last == *bytes.add(len) & !(0xffu8 >> rest)
    }
}
