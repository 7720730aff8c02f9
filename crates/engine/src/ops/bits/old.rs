//! Construction in steps, as in OTP 24: a bitstring of known size is made, then filled segment by segment. It is kept in the register file
//! while it is filled, because nothing can collect in between.

use super::append::{self, MAX_BITS, Target};
use super::finish;
use super::segment::{Segment, Wrong, reason, sized, utf_kind};
use super::utf::size_of_utf;
use crate::ctx::{Ctx, any, put};
use crate::ops::errors::raise;
use crate::{goto, load, next, ops, save};
use heddle_runtime::process::Exception;
use heddle_term::bits::{BitsView, copy_bits};
use heddle_term::{Kind, Term};

ops! {
    // label (0: raise), dst, size, unit (8: bytes), live, heap need
    fn init(ip, c, h, s, r) {
        let code = start_fresh(ip, c, h, s);
        load!(c, h, s);
        if code != 0 {
            return failed(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 7)
    }
    // label (0: raise), dst, size in bits, unit of the source, live (X_REGISTERS: must not collect), heap need, source
    fn append_bits(ip, c, h, s, r) {
        let code = start_append(ip, c, h, s);
        load!(c, h, s);
        if code != 0 {
            return failed(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 8)
    }
    // label (0: raise), type | flags << 8 | unit << 16, source, size
    fn put_segment(ip, c, h, s, r) {
        let code = fill(ip, c, h, s);
        load!(c, h, s);
        if code != 0 {
            return failed(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 5)
    }
    // label (always 0), bytes, cells of the bytes, bytes...
    fn put_string(ip, c, h, s, r) {
        let bits = *ip.add(2) * 8;
        if (*c).build_at + bits > (*c).build_end {
            return string_beyond(ip, c, h, s, r);
        }
        copy_bits(ip.add(4) as *const u8, 0, (*c).build_base, (*c).build_at, bits);
        (*c).build_at += bits;
        next!(ip, c, h, s, r; 4 + *ip.add(3) as usize)
    }
    #[cold]
    fn string_beyond(ip, c, h, s, r) {
        save!(c, h, s);
        fail(ip, c, Wrong::Invalid);
        return failed(ip, c, h, s, r);
    }
    // label (0: raise), dst, a, b, unit: a + b * unit
    fn add(ip, c, h, s, r) {
        let code = sum(ip, c, h, s);
        if code != 0 {
            return failed(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 6)
    }
    // source, dst, type: size in bytes
    fn utf_size(ip, c, h, s, r) {
        let source = any(*ip.add(1), c, s);
        let value = if source.is_small() { source.small_value() as u64 } else { u64::MAX };
        put(*ip.add(2), c, s, Term::small(size_of_utf(utf_kind(*ip.add(3)), value) as i64 / 8));
        next!(ip, c, h, s, r; 4)
    }
    #[cold]
    fn failed(ip, c, h, s, r) {
        if *ip.add(1) != 0 {
            goto!(*ip.add(1) as *const u64, c, h, s, r)
        }
        return raise(ip, c, h, s, r);
    }
}

/// Sets the exception if there is no label.
unsafe fn fail(ip: *const u64, c: *mut Ctx, wrong: Wrong) -> u64 {
    // SAFETY: the running process is ours.
    unsafe {
        if *ip.add(1) == 0 {
            (*(*c).p).exception = Exception { reason: reason(wrong), ..Exception::NONE };
        }
    }
    1
}

/// Keeps the target as the bitstring that is being filled, and its term in the destination. A collection for the words that follow may move
/// it if it lies on the heap.
unsafe fn begin(ip: *const u64, c: *mut Ctx, target: Target, bits: u64) -> u64 {
    // SAFETY: as `finish`.
    unsafe {
        let live = *ip.add(5) as usize;
        let term = if live < crate::ctx::X_REGISTERS { finish(c, live, *ip.add(6) as usize, target.term) } else { target.term };
        (*c).build_base = if term.is_kind(Kind::HeapBits) { term.ptr().add(2).cast() } else { target.base };
        (*c).build_at = target.at;
        (*c).build_end = target.at + bits;
        put(*ip.add(2), c, (*(*c).p).stop, term);
        0
    }
}

#[inline(never)]
unsafe fn start_fresh(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        match sized(any(*ip.add(3), c, s), *ip.add(4)) {
            Ok(bits) => match append::fresh(&mut p.heap, bits) {
                Some(target) => begin(ip, c, target, bits),
                None => fail(ip, c, Wrong::Limit),
            },
            Err(wrong) => fail(ip, c, wrong),
        }
    }
}

#[inline(never)]
unsafe fn start_append(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let source = any(*ip.add(7), c, s);
        let unit = *ip.add(4);
        let bits = match (sized(any(*ip.add(3), c, s), 1), BitsView::of(source)) {
            (Err(wrong), _) => return fail(ip, c, wrong),
            (_, None) => return fail(ip, c, Wrong::Type),
            (_, Some(view)) if unit > 1 && view.size_bits % unit != 0 => return fail(ip, c, Wrong::Unit),
            (Ok(bits), Some(view)) if view.size_bits + bits > MAX_BITS => return fail(ip, c, Wrong::Limit),
            (Ok(bits), _) => bits,
        };
        match append::append(&mut p.heap, source, bits) {
            Some(target) => begin(ip, c, target, bits),
            None => fail(ip, c, Wrong::Limit),
        }
    }
}

#[inline(never)]
unsafe fn fill(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader; the sizes were summed up before the bitstring was made.
    unsafe {
        save!(c, h, s);
        let head = *ip.add(2);
        let segment = Segment {
            kind: head & 0xff,
            flags: head >> 8 & 0xff,
            unit: head >> 16 & 0xffff,
            number: 0,
            source: any(*ip.add(3), c, s),
            size: any(*ip.add(4), c, s),
        };
        let result = segment.bits().and_then(|bits| {
            if (*c).build_at + bits > (*c).build_end {
                return Err(Wrong::Invalid);
            }
            segment.write((*c).build_base, (*c).build_at, bits)?;
            (*c).build_at += bits;
            Ok(())
        });
        match result {
            Ok(()) => 0,
            Err(wrong) => fail(ip, c, wrong),
        }
    }
}

#[inline(never)]
unsafe fn sum(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        save!(c, h, s);
        let (a, b) = (sized(any(*ip.add(3), c, s), 1), sized(any(*ip.add(4), c, s), *ip.add(5)));
        match (a, b) {
            (Ok(a), Ok(b)) => {
                put(*ip.add(2), c, s, Term::small((a + b) as i64));
                0
            }
            (Err(wrong), _) | (_, Err(wrong)) => fail(ip, c, wrong),
        }
    }
}
