//! Segments of a chain. Each writes at a constant number of bytes from `build_base`; those whose sizes are known at run time only move
//! `build_base` past themselves.

use super::LITTLE;
use super::chain_sizes::{bits_of, bytes_of};
use super::integers::{Unaligned, write_term};
use super::utf::{Utf, write_utf};
use crate::ctx::{Src, any};
use crate::{give_up, goto, next, ops};
use heddle_term::{Header, Kind, Term};

/// Width and byte order of an integer as a type.
pub trait Layout {
    /// # Safety
    /// The bytes from `to` are writable.
    unsafe fn store(to: *mut u8, value: u64);
}

macro_rules! layouts {
    ($($name:ident: $type:ty, $order:ident;)*) => { $(
        pub struct $name;
        impl Layout for $name {
            #[inline(always)]
            unsafe fn store(to: *mut u8, value: u64) {
                // SAFETY: `to` is writable for the bytes of this width.
                unsafe { (*to.cast::<Unaligned<$type>>()).0 = (value as $type).$order() }
            }
        }
    )* };
}
layouts! {
    Int8: u8, to_be;
    Big16: u16, to_be;
    Big32: u32, to_be;
    Big64: u64, to_be;
    Little16: u16, to_le;
    Little32: u32, to_le;
    Little64: u64, to_le;
}

pub struct Big24;
impl Layout for Big24 {
    #[inline(always)]
    unsafe fn store(to: *mut u8, value: u64) {
        // SAFETY: `to` is writable for the bytes of this width.
        unsafe {
            Big16::store(to, value >> 8);
            *to.add(2) = value as u8;
        }
    }
}
pub struct Little24;
impl Layout for Little24 {
    #[inline(always)]
    unsafe fn store(to: *mut u8, value: u64) {
        // SAFETY: `to` is writable for the bytes of this width.
        unsafe {
            Little16::store(to, value);
            *to.add(2) = (value >> 16) as u8;
        }
    }
}

/// A number of bytes as a type.
pub struct Bytes<const N: usize>;
pub trait Count {
    const N: usize;
}
impl<const N: usize> Count for Bytes<N> {
    const N: usize = N;
}

/// Copies `n` bytes, few of them inline.
///
/// # Safety
/// Both have that many bytes and do not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: by contract; the two halves overlap inside the range.
    unsafe {
        match n {
            8..=16 => {
                let first = (*from.cast::<Unaligned<u64>>()).0;
                let last = (*from.add(n - 8).cast::<Unaligned<u64>>()).0;
                (*to.cast::<Unaligned<u64>>()).0 = first;
                (*to.add(n - 8).cast::<Unaligned<u64>>()).0 = last;
            }
            4..8 => {
                let first = (*from.cast::<Unaligned<u32>>()).0;
                let last = (*from.add(n - 4).cast::<Unaligned<u32>>()).0;
                (*to.cast::<Unaligned<u32>>()).0 = first;
                (*to.add(n - 4).cast::<Unaligned<u32>>()).0 = last;
            }
            0 => {}
            _ => std::ptr::copy_nonoverlapping(from, to, n),
        }
    }
}

ops! {
    // source, byte offset, distance to give up, bits, flags
    fn put_integer<S: Src, L: Layout>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_small() {
            return put_other_integer::<S>(ip, c, h, s, r);
        }
        L::store((*c).build_base.add(*ip.add(2) as usize), source.small_value() as u64);
        next!(ip, c, h, s, r; 6)
    }
    // Large integers, and whole bytes that have no operation of their own
    fn put_other_integer<S: Src>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_integer() {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        write_term((*c).build_base.add(*ip.add(2) as usize), 0, *ip.add(4), source, *ip.add(5));
        next!(ip, c, h, s, r; 6)
    }
    // Fields that fill whole bytes together. First field: source, mask, distance to give up
    fn group_first<S: Src>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_small() {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        (*c).build_group = source.small_value() as u64 & *ip.add(2);
        next!(ip, c, h, s, r; 4)
    }
    // Further fields: source, mask, distance to give up, bits
    fn group_more<S: Src>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_small() {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        (*c).build_group = (*c).build_group << *ip.add(4) | source.small_value() as u64 & *ip.add(2);
        next!(ip, c, h, s, r; 5)
    }
    // byte offset
    fn group_end<N: Count>(ip, c, h, s, r) {
        let word = ((*c).build_group << (64 - 8 * N::N)).to_be();
        let to = (*c).build_base.add(*ip.add(1) as usize);
        let mut i = 0;
        while i < N::N {
            *to.add(i) = (word >> (8 * i)) as u8;
            i += 1;
        }
        next!(ip, c, h, s, r; 2)
    }
    // byte offset, bytes
    fn put_string<N: Count>(ip, c, h, s, r) {
        std::ptr::copy_nonoverlapping(ip.add(2) as *const u8, (*c).build_base.add(*ip.add(1) as usize), N::N);
        next!(ip, c, h, s, r; 2 + N::N.div_ceil(8))
    }
    // byte offset, number of bytes, cells of the bytes, bytes
    fn put_long_string(ip, c, h, s, r) {
        std::ptr::copy_nonoverlapping(ip.add(4) as *const u8, (*c).build_base.add(*ip.add(1) as usize), *ip.add(2) as usize);
        next!(ip, c, h, s, r; 4 + *ip.add(3) as usize)
    }
    // source, byte offset, distance to give up, 0 or LITTLE
    fn put_float<S: Src>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_boxed() || *source.ptr() != Header::new(Kind::Float, 1).raw() {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        let bits = source.word(0);
        let bits = if *ip.add(4) & LITTLE != 0 { bits.to_le() } else { bits.to_be() };
        (*(*c).build_base.add(*ip.add(2) as usize).cast::<Unaligned<u64>>()).0 = bits;
        next!(ip, c, h, s, r; 5)
    }
    // A binary's first bytes: source, byte offset, distance to give up, bytes
    fn put_part<S: Src>(ip, c, h, s, r) {
        let n = *ip.add(4);
        let Some((from, bytes)) = bytes_of(S::get(*ip.add(1), c, s)) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        if bytes < n {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        copy(from, (*c).build_base.add(*ip.add(2) as usize), n as usize);
        r -= super::copy_cost(n);
        next!(ip, c, h, s, r; 5)
    }

    // ---- sizes known at run time only: `chain_sizes` saw them ----

    // A whole binary: source, byte offset, distance to give up
    fn put_all<S: Src>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        // No compiler makes such code: a private append has lengthened this very slice, and the room was made for its old size.
        if source == (*c).build_term {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        let Some((from, bytes)) = bytes_of(source) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        let to = (*c).build_base.add(*ip.add(2) as usize);
        copy(from, to, bytes as usize);
        (*c).build_base = to.add(bytes as usize);
        r -= super::copy_cost(bytes);
        next!(ip, c, h, s, r; 4)
    }
    // A binary's first bytes: source, byte offset, distance to give up, unit, size
    fn put_sized(ip, c, h, s, r) {
        let Some(bits) = bits_of(any(*ip.add(5), c, s), *ip.add(4)) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        let Some((from, bytes)) = bytes_of(any(*ip.add(1), c, s)) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        if bytes < bits / 8 {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        let to = (*c).build_base.add(*ip.add(2) as usize);
        copy(from, to, (bits / 8) as usize);
        (*c).build_base = to.add((bits / 8) as usize);
        r -= super::copy_cost(bits / 8);
        next!(ip, c, h, s, r; 6)
    }
    // source, byte offset, distance to give up, unit, size, flags
    fn put_sized_integer(ip, c, h, s, r) {
        let Some(bits) = bits_of(any(*ip.add(5), c, s), *ip.add(4)) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        let source = any(*ip.add(1), c, s);
        let to = (*c).build_base.add(*ip.add(2) as usize);
        if bits > 64 || bits == 0 || !source.is_small() {
            return put_other_sized_integer(ip, c, h, s, r);
        }
        let mut value = source.small_value() as u64;
        let (n, little) = ((bits / 8) as usize, *ip.add(6) & LITTLE != 0);
        if !little {
            value = (value << (64 - bits)).to_be();
        }
        let mut i = 0;
        while i < n {
            *to.add(i) = (value >> (8 * i)) as u8;
            i += 1;
        }
        (*c).build_base = to.add(n);
        next!(ip, c, h, s, r; 7)
    }
    fn put_other_sized_integer(ip, c, h, s, r) {
        let source = any(*ip.add(1), c, s);
        let size = any(*ip.add(5), c, s);
        let Some(bits) = bits_of(size, *ip.add(4)) else { give_up!(ip, c, h, s, r; *ip.add(3)) };
        if !source.is_integer() {
            give_up!(ip, c, h, s, r; *ip.add(3))
        }
        let to = (*c).build_base.add(*ip.add(2) as usize);
        // A small integer in many bytes is its sign and eight bytes; only zero is common.
        if source == Term::small(0) {
            std::ptr::write_bytes(to, 0, (bits / 8) as usize);
        } else {
            write_term(to, 0, bits, source, *ip.add(6));
        }
        (*c).build_base = to.add((bits / 8) as usize);
        next!(ip, c, h, s, r; 7)
    }
    // source, byte offset
    fn put_utf8<S: Src>(ip, c, h, s, r) {
        let value = S::get(*ip.add(1), c, s).small_value() as u64;
        if value >= 0x80 {
            return put_long_utf8::<S>(ip, c, h, s, r);
        }
        let to = (*c).build_base.add(*ip.add(2) as usize);
        *to = value as u8;
        (*c).build_base = to.add(1);
        next!(ip, c, h, s, r; 3)
    }
    fn put_long_utf8<S: Src>(ip, c, h, s, r) {
        let value = S::get(*ip.add(1), c, s).small_value() as u32;
        let to = (*c).build_base.add(*ip.add(2) as usize);
        let bits = write_utf(Utf::Utf8, to, 0, value, 0);
        (*c).build_base = to.add((bits / 8) as usize);
        next!(ip, c, h, s, r; 3)
    }
}
