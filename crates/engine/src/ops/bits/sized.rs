//! Matching instructions whose sizes are known at run time only, and those of OTP 24.

use super::append::MAX_BITS;
use super::finish;
use super::floats::read_float;
use super::integers::{Unaligned, read_term};
use super::match_ctx::{Context, slice, slice_here};
use super::segment::{ALL, sized};
use super::utf::{Utf, read_utf};
use crate::ctx::{Ctx, Src, any, put};
use crate::{goto, load, next, ops, save};
use heddle_term::Term;

ops! {
    // context, dst, size (ALL: the rest), unit, flags, live, label
    fn get_integer(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, bits) = (m.at(), simple_bits(any(*ip.add(3), c, s), *ip.add(4)));
        let shift = at & 7;
        // An unsigned integer that is small, in a word that can be read as a whole.
        if bits.wrapping_sub(1) < 56 && bits <= m.left() && at - shift + 64 <= m.end() && *ip.add(5) == 0 {
            let word = u64::from_be((*m.base().add((at / 8) as usize).cast::<Unaligned<u64>>()).0);
            m.set_at(at + bits);
            put(*ip.add(2), c, s, Term::small(((word << shift) >> (64 - bits)) as i64));
            next!(ip, c, h, s, r; 8)
        }
        return get_integer_slow(ip, c, h, s, r);
    }
    fn get_integer_slow(ip, c, h, s, r) {
        if take_integer(ip, c, h, s) != 0 {
            return failed(ip, c, h, s, r);
        }
        load!(c, h, s);
        next!(ip, c, h, s, r; 8)
    }
    fn get_float(ip, c, h, s, r) {
        if take_float(ip, c, h, s) != 0 {
            return failed(ip, c, h, s, r);
        }
        load!(c, h, s);
        next!(ip, c, h, s, r; 8)
    }
    fn get_binary(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, size, unit) = (m.at(), any(*ip.add(3), c, s), *ip.add(4));
        let bits = if size == ALL { m.left() } else { simple_bits(size, unit) };
        // Other cases go to the slow function, which checks again.
        if bits <= m.left()
            && (size != ALL || unit == 1 || unit == 8 && bits & 7 == 0)
            && let Some((term, top)) = slice_here(h, s, m.original(), at, bits)
        {
            h = top;
            m.set_at(at + bits);
            put(*ip.add(2), c, s, term);
            next!(ip, c, h, s, r; 8)
        }
        return get_binary_slow(ip, c, h, s, r);
    }
    fn get_binary_slow(ip, c, h, s, r) {
        if take_binary(ip, c, h, s) != 0 {
            return failed(ip, c, h, s, r);
        }
        load!(c, h, s);
        next!(ip, c, h, s, r; 8)
    }
    fn failed(ip, c, h, s, r) {
        load!(c, h, s);
        goto!(*ip.add(7) as *const u64, c, h, s, r)
    }
    // context, size (ALL: the rest), unit, label
    fn skip_bits(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let bits = simple_bits(any(*ip.add(2), c, s), *ip.add(3));
        if bits <= m.left() {
            m.set_at(m.at() + bits);
            next!(ip, c, h, s, r; 5)
        }
        return skip_bits_slow(ip, c, h, s, r);
    }
    fn skip_bits_slow(ip, c, h, s, r) {
        if skip(ip, c, s) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
    // context, unit less one, label: for powers of two
    fn test_power<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        if m.left() & *ip.add(2) != 0 {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 4)
    }
    // context, unit, label
    fn test_unit<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let unit = *ip.add(2);
        if unit > 1 && !m.left().is_multiple_of(unit) {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 4)
    }
    // context, dst (a cell of 0: skip), flags, label
    fn get_utf8(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let at = m.at();
        if at & 7 != 0 || m.left() < 8 {
            return get_long_utf8(ip, c, h, s, r);
        }
        let byte = *m.base().add((at / 8) as usize);
        if byte >= 0x80 {
            return get_long_utf8(ip, c, h, s, r);
        }
        m.set_at(at + 8);
        if *ip.add(2) != 0 {
            put(*ip.add(2), c, s, Term::small(byte as i64));
        }
        next!(ip, c, h, s, r; 5)
    }
    fn get_long_utf8(ip, c, h, s, r) {
        if take_utf(ip, c, s, Utf::Utf8) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
    fn get_utf16(ip, c, h, s, r) {
        if take_utf(ip, c, s, Utf::Utf16) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
    fn get_utf32(ip, c, h, s, r) {
        if take_utf(ip, c, s, Utf::Utf32) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        next!(ip, c, h, s, r; 5)
    }
}

/// A size operand times its unit; the largest number if that is not simple.
#[inline(always)]
fn simple_bits(size: Term, unit: u64) -> u64 {
    if size.is_small() && (size.small_value() as u64) <= MAX_BITS { size.small_value() as u64 * unit } else { u64::MAX }
}

/// Bits that a segment takes of a context; None if they are not there.
unsafe fn bits_of(m: Context, size: Term, unit: u64) -> Option<u64> {
    // SAFETY: a context.
    unsafe {
        let left = m.left();
        if size == ALL {
            return (unit < 2 || left.is_multiple_of(unit)).then_some(left);
        }
        let bits = sized(size, unit).ok()?;
        (bits <= left).then_some(bits)
    }
}

#[inline(never)]
unsafe fn take_integer(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let Some(bits) = bits_of(m, any(*ip.add(3), c, s), *ip.add(4)) else { return 1 };
        let Some(term) = read_term(&mut p.heap, m.base(), m.at(), bits, *ip.add(5)) else { return 1 };
        m.set_at(m.at() + bits);
        let term = finish(c, *ip.add(6) as usize, 0, term);
        put(*ip.add(2), c, (*(*c).p).stop, term);
        0
    }
}

#[inline(never)]
unsafe fn take_float(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let Some(bits) = bits_of(m, any(*ip.add(3), c, s), *ip.add(4)) else { return 1 };
        let Some(value) = read_float(m.base(), m.at(), bits, *ip.add(5)) else { return 1 };
        m.set_at(m.at() + bits);
        let term = p.heap.float(value);
        let term = finish(c, *ip.add(6) as usize, 0, term);
        put(*ip.add(2), c, (*(*c).p).stop, term);
        0
    }
}

#[inline(never)]
unsafe fn take_binary(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let Some(bits) = bits_of(m, any(*ip.add(3), c, s), *ip.add(4)) else { return 1 };
        let at = m.at();
        m.set_at(at + bits);
        let term = slice(&mut p.heap, m.original(), at, bits);
        let term = finish(c, *ip.add(6) as usize, 0, term);
        put(*ip.add(2), c, (*(*c).p).stop, term);
        0
    }
}

#[inline(never)]
unsafe fn skip(ip: *const u64, c: *mut Ctx, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let m = Context::of(any(*ip.add(1), c, s));
        let Some(bits) = bits_of(m, any(*ip.add(2), c, s), *ip.add(3)) else { return 1 };
        m.set_at(m.at() + bits);
        0
    }
}

#[inline(never)]
unsafe fn take_utf(ip: *const u64, c: *mut Ctx, s: *mut u64, kind: Utf) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let m = Context::of(any(*ip.add(1), c, s));
        let Some((value, bits)) = read_utf(kind, m.base(), m.at(), m.end(), *ip.add(3)) else { return 1 };
        m.set_at(m.at() + bits);
        if *ip.add(2) != 0 {
            put(*ip.add(2), c, s, Term::small(value as i64));
        }
        0
    }
}
