//! Bitstrings as bytes: where their data lies, and copying at bit offsets.

use crate::boxed::Kind;
use crate::refbin::RefBin;
use crate::term::Term;

/// The bits of a bitstring term: `size_bits` bits from bit `offset_bits` of `base`. Valid until the next collection.
#[derive(Clone, Copy)]
pub struct BitsView {
    pub base: *const u8,
    pub offset_bits: u64,
    pub size_bits: u64,
}

impl BitsView {
    /// None if `term` is no bitstring.
    #[inline]
    pub fn of(term: Term) -> Option<BitsView> {
        match term.kind()? {
            Kind::HeapBits | Kind::BinRef => {
                let (base, size_bits) = data_of(term);
                Some(BitsView { base, offset_bits: 0, size_bits })
            }
            Kind::SubBits => {
                let (base, _) = data_of(term.slot(2));
                Some(BitsView { base, offset_bits: term.word(0), size_bits: term.word(1) })
            }
            // The compiler hands match contexts to byte_size and the like: the rest of the match counts.
            Kind::MatchCtx => {
                let (base, _) = data_of(term.slot(3));
                Some(BitsView { base, offset_bits: term.word(1), size_bits: term.word(2) - term.word(1) })
            }
            _ => None,
        }
    }

    pub fn is_binary(&self) -> bool {
        self.size_bits & 7 == 0
    }

    pub fn len_bytes(&self) -> usize {
        self.size_bits.div_ceil(8) as usize
    }

    /// The bytes in place, if the bitstring starts on a byte and is a whole number of bytes.
    pub fn as_bytes<'a>(&self) -> Option<&'a [u8]> {
        if (self.offset_bits | self.size_bits) & 7 != 0 {
            return None;
        }
        // SAFETY: the data of the view has at least `offset + size` bits.
        Some(unsafe { std::slice::from_raw_parts(self.base.add((self.offset_bits / 8) as usize), (self.size_bits / 8) as usize) })
    }

    /// The bytes, shifted into place where needed; the last byte is padded with zero bits.
    pub fn to_vec(&self) -> Vec<u8> {
        if let Some(bytes) = self.as_bytes() {
            return bytes.to_vec();
        }
        let mut out = vec![0u8; self.len_bytes()];
        // SAFETY: the destination has room for all bits; source as above.
        unsafe { copy_bits(self.base, self.offset_bits, out.as_mut_ptr(), 0, self.size_bits) };
        out
    }

    /// Bits `at .. at + 8` as a byte (fewer at the end are padded with zeros).
    #[inline]
    pub fn byte_at(&self, at_bits: u64) -> u8 {
        let position = self.offset_bits + at_bits;
        let shift = (position & 7) as u32;
        let left = self.size_bits - at_bits;
        // SAFETY: reads only bytes that hold bits of the view.
        unsafe {
            let p = self.base.add((position / 8) as usize);
            let mut byte = *p << shift;
            if shift != 0 && left > (8 - shift) as u64 {
                byte |= *p.add(1) >> (8 - shift);
            }
            if left < 8 {
                byte &= !(0xffu8 >> left);
            }
            byte
        }
    }
}

/// Data address and size in bits of a HeapBits or BinRef.
#[inline(always)]
pub fn data_of(original: Term) -> (*const u8, u64) {
    debug_assert!(original.is_kind(Kind::HeapBits) || original.is_kind(Kind::BinRef));
    if original.header().kind() == Kind::HeapBits {
        (original.ptr().wrapping_add(2) as *const u8, original.word(0))
    } else {
        // SAFETY: a BinRef owns a reference to a live block.
        (unsafe { RefBin::bytes_of(original.word(2) as *const RefBin) }, original.word(1))
    }
}

/// Copies `count` bits. Bits of the destination outside the range keep their values.
///
/// # Safety
/// Both ranges must be readable/writable and must not overlap.
pub unsafe fn copy_bits(src: *const u8, src_bit: u64, dst: *mut u8, dst_bit: u64, count: u64) {
    if count == 0 {
        return;
    }
    // SAFETY: all pointer steps stay inside the ranges the caller vouches for.
    unsafe {
        let mut src = src.add((src_bit / 8) as usize);
        let mut dst = dst.add((dst_bit / 8) as usize);
        let mut src_off = (src_bit & 7) as u32;
        let dst_off = (dst_bit & 7) as u32;
        let mut left = count;
        // Head: fill the destination up to a byte boundary.
        if dst_off != 0 {
            let n = (8 - dst_off as u64).min(left) as u32;
            let bits = read_bits(src, src_off, n);
            let shift = 8 - dst_off - n;
            let mask = (((1u16 << n) - 1) as u8) << shift;
            *dst = (*dst & !mask) | (bits << shift);
            dst = dst.add(1);
            src_off += n;
            src = src.add((src_off / 8) as usize);
            src_off &= 7;
            left -= n as u64;
        }
        // Middle: whole bytes.
        let bytes = (left / 8) as usize;
        if src_off == 0 {
            std::ptr::copy_nonoverlapping(src, dst, bytes);
        } else {
            for i in 0..bytes {
                *dst.add(i) = *src.add(i) << src_off | *src.add(i + 1) >> (8 - src_off);
            }
        }
        src = src.add(bytes);
        dst = dst.add(bytes);
        left &= 7;
        // Tail.
        if left != 0 {
            let n = left as u32;
            let bits = read_bits(src, src_off, n);
            let shift = 8 - n;
            let mask = (((1u16 << n) - 1) as u8) << shift;
            *dst = (*dst & !mask) | (bits << shift);
        }
    }
}

/// `n` (1 to 8) bits from bit `offset` (0 to 7) of `src`, right aligned.
#[inline]
unsafe fn read_bits(src: *const u8, offset: u32, n: u32) -> u8 {
    // SAFETY: the second byte is read only if bits of it are asked for.
    unsafe {
        let mut word = (*src as u16) << 8;
        if offset + n > 8 {
            word |= *src.add(1) as u16;
        }
        ((word << offset) >> (16 - n)) as u8
    }
}
