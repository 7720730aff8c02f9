//! The fast form of `bs_create_bin`: a chain of operations, one for each segment, between a beginning that makes the room and an end.
//!
//! The loader makes a chain if all segments are whole bytes (or fields that fill whole bytes together), see `loader::bits_chain`. Its
//! layout:
//!
//!   sizes of segments that are known at run time only (`chain_sizes`)
//!   begin: the room, in `build_base`
//!   segments (`chain_segments`), each at a constant distance from `build_base`
//!   end: the destination is set, the rest is skipped
//!   rollback, if the bitstring is appended to
//!   create_bin with all of the segments
//!
//! A chain does only the common cases. In any other case (a wrong type, a source that starts inside a byte, a shared block) it gives up.
//! Then `create_bin` does the whole instruction from the start, and programs see its exceptions. What the chain has built stays on the heap
//! as garbage. Nothing collects after the beginning.

use super::append::{CHECKED_BITS, MIN_BYTES, has_room};
use super::finish;
use crate::collect::{make_room, put_off};
use crate::ctx::{Ctx, Dst, OUT_YIELD, Src, fits, put};
use crate::{goto, load, next, ops, save};
use heddle_term::area::is_fixed;
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::refbin::RefBin;
use heddle_term::{Header, Kind, Term};
use std::sync::atomic::Ordering;

const SUB_WORDS: usize = 4;
const SUB_HEADER: u64 = Header::new(Kind::SubBits, SUB_WORDS - 1).raw();
const REF_WORDS: usize = 4;
const REF_HEADER: u64 = Header::new(Kind::BinRef, REF_WORDS - 1).raw();

/// Leaves the chain: continues with the cells `$n` further.
#[macro_export]
macro_rules! give_up {
    ($ip:ident, $c:ident, $h:ident, $s:ident, $r:ident; $n:expr) => {
        goto!($ip.add($n as usize), $c, $h, $s, $r)
    };
}

ops! {
    // A bitstring on the heap: heap need, live, words of the object, its bits
    fn begin_small(ip, c, h, s, r) {
        let words = *ip.add(3) as usize;
        if !fits(h, s, words + *ip.add(1) as usize) {
            return begin_small_full(ip, c, h, s, r);
        }
        *h = Header::new(Kind::HeapBits, 0).raw() + ((words as u64 - 1) << 8);
        *h.add(1) = *ip.add(4);
        // The bytes after the last one.
        *h.add(words - 1) = 0;
        (*c).build_term = Term::boxed(h);
        (*c).build_base = h.add(2).cast::<u8>();
        h = h.add(words);
        next!(ip, c, h, s, r; 5)
    }
    #[cold]
    fn begin_small_full(ip, c, h, s, r) {
        save!(c, h, s);
        let (need, live) = ((*ip.add(1) + *ip.add(3)) as usize, *ip.add(2) as usize);
        if put_off(ip, c, need, live, r) {
            return OUT_YIELD;
        }
        make_room(c, need, live);
        load!(c, h, s);
        goto!(ip, c, h, s, r)
    }
    // Any size: heap need, live, constant bits, distance to give up; `build_bits` are added
    fn begin_any(ip, c, h, s, r) {
        let bits = *ip.add(3) + (*c).build_bits;
        if bits >= CHECKED_BITS && !has_room(bits) {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let words = 2 + bits.div_ceil(64) as usize;
        if bits <= 8 * HEAP_BITS_MAX_BYTES as u64 && fits(h, s, words + *ip.add(1) as usize) {
            *h = Header::new(Kind::HeapBits, 0).raw() + ((words as u64 - 1) << 8);
            *h.add(words - 1) = 0;
            // After the line above, as this is the last word of an empty one.
            *h.add(1) = bits;
            (*c).build_term = Term::boxed(h);
            (*c).build_base = h.add(2).cast::<u8>();
            h = h.add(words);
            next!(ip, c, h, s, r; 5)
        }
        return begin_large(ip, c, h, s, r);
    }
    #[cold]
    fn begin_large(ip, c, h, s, r) {
        let bits = *ip.add(3) + (*c).build_bits;
        if bits <= 8 * HEAP_BITS_MAX_BYTES as u64 {
            save!(c, h, s);
            make_room(c, *ip.add(1) as usize + 2 + bits.div_ceil(64) as usize, *ip.add(2) as usize);
            load!(c, h, s);
            goto!(ip, c, h, s, r)
        }
        new_block(ip, c, h, s, bits);
        load!(c, h, s);
        next!(ip, c, h, s, r; 5)
    }
    // In the room after the newest slice of a block that only this process has: heap need, live, constant bits, distance to give up, unit,
    // source. `PRIVATE`: only this instruction has the source, so the source itself is made longer. `ANY`: `build_bits` are added.
    fn begin_append<S: Src, PRIVATE: Flag, ANY: Flag>(ip, c, h, s, r) {
        let source = S::get(*ip.add(6), c, s);
        let bits = if ANY::SET { *ip.add(3) + (*c).build_bits } else { *ip.add(3) };
        if !source.is_boxed() || *source.ptr() != SUB_HEADER {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let sub = source.ptr();
        let owner = Term::from_raw(*sub.add(3));
        let (start, size) = (*sub.add(1), *sub.add(2));
        let end = start + size;
        // Every process has the literals, and several may have a message: their blocks may be in use by others, whatever the count says.
        if *owner.ptr() != REF_HEADER || (end | size & (*ip.add(5) - 1)) & 7 != 0 || is_fixed(owner) {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let block = *owner.ptr().add(3) as *mut RefBin;
        let used = RefBin::used_bits(block);
        if RefBin::refcount(block) != 1 || used.load(Ordering::Relaxed) != end {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let new_words = if PRIVATE::SET { 0 } else { SUB_WORDS };
        if end + bits > RefBin::capacity_bytes(block) as u64 * 8 || !fits(h, s, *ip.add(1) as usize + new_words) {
            return begin_append_full::<S, PRIVATE, ANY>(ip, c, h, s, r);
        }
        // Relaxed: the only reference is this process'.
        used.store(end + bits, Ordering::Relaxed);
        if PRIVATE::SET {
            *sub.add(2) = size + bits;
            (*c).build_term = source;
        } else {
            *h = SUB_HEADER;
            *h.add(1) = start;
            *h.add(2) = size + bits;
            *h.add(3) = owner.raw();
            (*c).build_term = Term::boxed(h);
            h = h.add(SUB_WORDS);
        }
        (*c).build_base = RefBin::data(block).add((end / 8) as usize);
        next!(ip, c, h, s, r; 7)
    }
    // All the rest of a chain: appends the bits in `build_group`, up to 56, at any bit. Cells as `begin_append`, then dst, cells to skip
    fn append_group<S: Src, PRIVATE: Flag>(ip, c, h, s, r) {
        let source = S::get(*ip.add(6), c, s);
        let bits = *ip.add(3);
        if !source.is_boxed() || *source.ptr() != SUB_HEADER {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let sub = source.ptr();
        let owner = Term::from_raw(*sub.add(3));
        let (start, size) = (*sub.add(1), *sub.add(2));
        let end = start + size;
        if *owner.ptr() != REF_HEADER || size & (*ip.add(5) - 1) != 0 || is_fixed(owner) {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let block = *owner.ptr().add(3) as *mut RefBin;
        let used = RefBin::used_bits(block);
        if RefBin::refcount(block) != 1 || used.load(Ordering::Relaxed) != end {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        let new_words = if PRIVATE::SET { 0 } else { SUB_WORDS };
        if end + bits > RefBin::capacity_bytes(block) as u64 * 8 || !fits(h, s, *ip.add(1) as usize + new_words) {
            return begin_append_full::<S, PRIVATE, No>(ip, c, h, s, r);
        }
        // Relaxed: the only reference is this process'.
        used.store(end + bits, Ordering::Relaxed);
        let shift = end & 7;
        let to = RefBin::data(block).add((end / 8) as usize);
        let mut word = (*c).build_group << (64 - shift - bits);
        if shift != 0 {
            // The bits before stay.
            word |= ((*to as u64) << 56) & !(u64::MAX >> shift);
        }
        let bytes = (shift + bits).div_ceil(8) as usize;
        let mut i = 0;
        while i < bytes {
            *to.add(i) = (word >> (56 - 8 * i)) as u8;
            i += 1;
        }
        if PRIVATE::SET {
            *sub.add(2) = size + bits;
            put(*ip.add(7), c, s, source);
        } else {
            *h = SUB_HEADER;
            *h.add(1) = start;
            *h.add(2) = size + bits;
            *h.add(3) = owner.raw();
            put(*ip.add(7), c, s, Term::boxed(h));
            h = h.add(SUB_WORDS);
        }
        next!(ip, c, h, s, r; *ip.add(8) as usize)
    }
    // The block, the heap or both are full. The checks of `begin_append` are made again afterwards.
    #[cold]
    fn begin_append_full<S: Src, PRIVATE: Flag, ANY: Flag>(ip, c, h, s, r) {
        let bits = if ANY::SET { *ip.add(3) + (*c).build_bits } else { *ip.add(3) };
        let source = S::get(*ip.add(6), c, s);
        let end = source.word(0) + source.word(1);
        // For a slice from the middle the bytes before it would be copied as well.
        let twice = 2 * (end + bits);
        if twice >= CHECKED_BITS && !has_room(twice) || source.word(0) != 0 {
            give_up!(ip, c, h, s, r; *ip.add(4))
        }
        grow(c, h, s, source.slot(2), end + bits);
        make_append_room(ip, c, h, s, if PRIVATE::SET { 0 } else { SUB_WORDS });
        load!(c, h, s);
        goto!(ip, c, h, s, r)
    }
    // dst, cells to skip
    fn end<D: Dst>(ip, c, h, s, r) {
        D::set(*ip.add(1), c, s, (*c).build_term);
        next!(ip, c, h, s, r; *ip.add(2) as usize)
    }
    // Undoes `begin_append`: constant bits, 1 if it was private
    #[cold]
    fn rollback<ANY: Flag>(ip, c, h, s, r) {
        let bits = if ANY::SET { *ip.add(1) + (*c).build_bits } else { *ip.add(1) };
        let sub = (*c).build_term.ptr();
        let block = *Term::from_raw(*sub.add(3)).ptr().add(3) as *const RefBin;
        // Relaxed: as `begin_append`.
        RefBin::used_bits(block).store(*sub.add(1) + *sub.add(2) - bits, Ordering::Relaxed);
        // If it was not private, no program sees the slice, and a shorter one is as good.
        *sub.add(2) -= bits;
        next!(ip, c, h, s, r; 2)
    }
}

/// A choice as a type.
pub trait Flag {
    const SET: bool;
}
pub struct Yes;
pub struct No;
impl Flag for Yes {
    const SET: bool = true;
}
impl Flag for No {
    const SET: bool = false;
}

#[inline(never)]
unsafe fn new_block(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, bits: u64) {
    // SAFETY: cells as emitted by the loader; the block is ours.
    unsafe {
        let p = save!(c, h, s);
        let block = RefBin::allocate((bits / 8) as usize);
        let term = p.heap.bin_ref(block, bits);
        (*c).build_term = finish(c, *ip.add(2) as usize, *ip.add(1) as usize, term);
        (*c).build_base = RefBin::data(block);
    }
}

/// Makes room for `bits` bits in a block that only this process has. Its other slices find its address through `owner`, whose own size
/// stays as it was, in case programs see the owner itself.
#[inline(never)]
unsafe fn grow(c: *mut Ctx, h: *mut u64, s: *mut u64, owner: Term, bits: u64) {
    // SAFETY: the caller checked that `owner` has the only reference.
    unsafe {
        let p = save!(c, h, s);
        let cell = owner.ptr().add(3);
        let block = *cell as *mut RefBin;
        let old = RefBin::capacity_bytes(block);
        if bits <= old as u64 * 8 {
            return;
        }
        let block = RefBin::grow(block, (2 * bits.div_ceil(8) as usize).max(MIN_BYTES));
        *cell = block as u64;
        let more = (RefBin::capacity_bytes(block) - old) / 8;
        let is_old = (owner.ptr() as usize).wrapping_sub(p.old_start as usize) < p.old_end as usize - p.old_start as usize;
        let list = if is_old { &mut p.old_off_heap } else { &mut p.heap.off_heap };
        list.virtual_words += more;
    }
}

/// Makes room for the heap need of a `begin_append`. Also collects if the process holds much outside of its heap.
#[inline(never)]
unsafe fn make_append_room(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, new_words: usize) {
    // SAFETY: the tops are saved; all sources are live registers (`loader::bits_chain`).
    unsafe {
        let p = &mut *(*c).p;
        let need = *ip.add(1) as usize + new_words;
        if p.heap.off_heap.virtual_words > p.vheap_limit_words || !fits(h, s, need) {
            make_room(c, need, *ip.add(2) as usize);
        }
    }
}
