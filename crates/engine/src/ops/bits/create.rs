//! `bs_create_bin`, `bs_init_writable`.

use super::append::{self, MAX_BITS, Target};
use super::copy_cost;
use super::finish;
use super::segment::{ALL, APPEND, STRING, Segment, Wrong};
use crate::ctx::{Ctx, any, put};
use crate::ops::errors::raise;
use crate::{goto, load, next, ops, save};
use heddle_term::bits::copy_bits;
use heddle_term::heap::Heap;
use heddle_term::{Kind, Term};

/// Cells before the segments, and cells of one.
pub const HEAD_CELLS: usize = 7;
pub const SEGMENT_CELLS: usize = 3;

ops! {
    // label (0: raise), live, heap need, dst, segments, cells in all, then each segment: type | flags << 8 | unit << 16 |
    // number << 32, source, size. Of a string: distance of its bytes from this cell, in bytes, and their number.
    fn create_bin(ip, c, h, s, r) {
        let code = create(ip, c, h, s);
        load!(c, h, s);
        r -= std::mem::take(&mut (*(*c).p).extra_reductions) as i64;
        if code == 0 {
            next!(ip, c, h, s, r; *ip.add(6) as usize)
        }
        if *ip.add(1) != 0 {
            goto!(*ip.add(1) as *const u64, c, h, s, r)
        }
        return raise(ip, c, h, s, r);
    }
    // X0: size in bytes, becomes an empty binary with room
    fn init_writable(ip, c, h, s, r) {
        new_writable(c, h, s);
        load!(c, h, s);
        next!(ip, c, h, s, r; 1)
    }
}

#[inline(always)]
unsafe fn segment(ip: *const u64, i: usize, c: *mut Ctx, s: *mut u64) -> Segment {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let cell = ip.add(HEAD_CELLS + SEGMENT_CELLS * i);
        let head = *cell;
        let kind = head & 0xff;
        let (source, size) = if kind == STRING {
            (Term::from_raw(*cell.add(1)), Term::from_raw(*cell.add(2)))
        } else {
            (any(*cell.add(1), c, s), any(*cell.add(2), c, s))
        };
        Segment { kind, flags: head >> 8 & 0xff, unit: head >> 16 & 0xffff, number: head >> 32, source, size }
    }
}

/// 0: done. 1: failed, the exception is set if there is no label.
#[inline(never)]
unsafe fn create(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let n = *ip.add(5) as usize;
        match build(ip, c, s, &mut p.heap, n) {
            Ok((term, bits)) => {
                p.bump(copy_cost(bits / 8) as usize);
                let term = finish(c, *ip.add(2) as usize, *ip.add(3) as usize, term);
                put(*ip.add(4), c, (*(*c).p).stop, term);
                0
            }
            Err((i, wrong)) => {
                if *ip.add(1) == 0 {
                    segment(ip, i, c, s).explain(p, wrong);
                }
                1
            }
        }
    }
}

/// Returns the bitstring, and the number of bits written.
unsafe fn build(ip: *const u64, c: *mut Ctx, s: *mut u64, heap: &mut Heap, n: usize) -> Result<(Term, u64), (usize, Wrong)> {
    // SAFETY: cells as emitted by the loader; the target has room for the sizes that were summed up.
    unsafe {
        let mut total = 0;
        let mut first_bits = 0;
        let mut too_large = None;
        for i in 0..n {
            let segment = segment(ip, i, c, s);
            let bits = match segment.bits() {
                Ok(bits) => bits,
                // An error in a later size goes first, as in stock.
                Err(Wrong::Limit) if segment.size.is_small() => MAX_BITS + 1,
                Err(wrong) => return Err((i, wrong)),
            };
            if i == 0 {
                first_bits = bits;
            }
            total += bits;
            if total > MAX_BITS {
                too_large.get_or_insert(i);
                total = MAX_BITS + 1;
            }
        }
        if let Some(i) = too_large {
            return Err((i, Wrong::Limit));
        }
        let mut i = 0;
        let mut appended = None;
        let mut written = total;
        let mut target = if n > 0 && (*ip.add(HEAD_CELLS)) & 0xff == APPEND {
            let first = segment(ip, 0, c, s);
            if !first.source.is_bitstring() {
                return Err((0, Wrong::Type));
            }
            if first.size == ALL {
                if first.splits(first_bits) {
                    return Err((0, Wrong::Unit));
                }
                i = 1;
                appended = Some(total - first_bits);
                let target = append::append(heap, first.source, total - first_bits).ok_or((0, Wrong::Limit))?;
                if first.source.is_kind(Kind::SubBits) && first.source.slot(2) == target.term.slot(2) {
                    written -= first_bits;
                }
                target
            } else {
                append::fresh(heap, total).ok_or((n - 1, Wrong::Limit))?
            }
        } else {
            append::fresh(heap, total).ok_or((n.saturating_sub(1), Wrong::Limit))?
        };
        while i < n {
            let segment = segment(ip, i, c, s);
            if let Err(wrong) = write(ip, &segment, &mut target) {
                if let Some(bits) = appended {
                    append::give_back(&target, bits);
                }
                return Err((i, wrong));
            }
            i += 1;
        }
        Ok((target.term, written))
    }
}

#[inline(always)]
unsafe fn write(ip: *const u64, segment: &Segment, target: &mut Target) -> Result<(), Wrong> {
    // SAFETY: as `build`.
    unsafe {
        let bits = if segment.kind == STRING {
            let bits = segment.size.raw() * 8;
            copy_bits((ip as *const u8).add(segment.source.raw() as usize), 0, target.base, target.at, bits);
            bits
        } else {
            let bits = segment.bits()?;
            segment.write(target.base, target.at, bits)?;
            bits
        };
        target.at += bits;
        Ok(())
    }
}

/// Size of a writable block if the hint is no size (from ERTS).
const WRITABLE_BYTES: usize = 1024;

#[inline(never)]
unsafe fn new_writable(c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: X0 is initialised.
    unsafe {
        let p = save!(c, h, s);
        let bytes = match (*c).x[0].as_small() {
            Some(hint) => hint.clamp(0, (MAX_BITS / 8) as i64) as usize,
            None => WRITABLE_BYTES,
        };
        // The size is only a hint.
        let bytes = if heddle_memory::fits(bytes) { bytes } else { WRITABLE_BYTES };
        let term = append::writable(&mut p.heap, bytes).term;
        (*c).x[0] = finish(c, 0, 0, term);
    }
}
