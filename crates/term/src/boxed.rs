//! Boxed objects: one header word, `arity` words after it. The table below is what copy, collector and validation read.

use crate::term::{TAG_HEADER, Term};

/// Rows: kind, leading raw words before terms begin (`ALL` = every word is raw), on the off-heap list?
macro_rules! for_each_boxed {
    ($m:ident) => {
        $m! {
            // elements
            Tuple, 0, false;
            // keys tuple, then the values in key order
            FlatMap, 0, false;
            // size as a small integer, then the children of the root (bitmap in the header's aux bits)
            HashMap, 0, false;
            // children (bitmap in aux); a child is a node or a cons [Key | Value]
            HashNode, 0, false;
            // magnitude, little endian 64-bit digits
            PosBig, ALL, false;
            NegBig, ALL, false;
            // IEEE double
            Float, ALL, false;
            // size in bits, then the bytes (at most 64)
            HeapBits, ALL, false;
            // next off-heap, size in bits, pointer to RefBin (owns one reference)
            BinRef, ALL, true;
            // start in bits, size in bits, then term: a HeapBits or BinRef
            SubBits, 2, false;
            // start of the match, position, end (all in bits, of the original), then term: a HeapBits or BinRef
            MatchCtx, 3, false;
            // pointer to FunEntry, then terms: creator pid, free variables (arity of the fun in aux)
            Fun, 1, false;
            // pointer to Export
            ExportFun, ALL, false;
            // reference words 0 and 1, word 2; aliases: the pid of their process as a third word
            Ref, ALL, false;
            // next off-heap, reference words 0 and 1, word 2, pointer to Resource (owns one reference)
            MagicRef, ALL, true;
            // node atom (as a term word), creation, id (number low 32 bits, serial high)
            ExtPid, ALL, false;
            // node atom, creation, id
            ExtPort, ALL, false;
            // node atom, creation, count of 32-bit words, words packed two a word
            ExtRef, ALL, false;
            // next off-heap, pointer to Region, how many of its references this one is; no term points to it
            RegionRef, ALL, true;
            // unused words inside a block
            Filler, ALL, false;
        }
    };
}

const ALL: usize = usize::MAX;

macro_rules! define_kinds {
    ($($name:ident, $raw:expr, $off:expr;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind { $($name),* }

        impl Kind {
            pub const ALL: &'static [Kind] = &[$(Kind::$name),*];
            const RAW_WORDS: &'static [usize] = &[$($raw),*];
            const OFF_HEAP: &'static [bool] = &[$($off),*];
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];
        }
    };
}
for_each_boxed!(define_kinds);

impl Kind {
    /// Raw words after the header before terms begin; `usize::MAX` when no word is a term.
    #[inline(always)]
    pub const fn raw_words(self) -> usize {
        Kind::RAW_WORDS[self as usize]
    }
    /// True for objects that hold a reference to something outside the heap and stand on an off-heap list.
    #[inline(always)]
    pub const fn is_off_heap(self) -> bool {
        Kind::OFF_HEAP[self as usize]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Header(u64);

const KIND_SHIFT: u32 = 3;
/// Bits below the number of words in a header.
pub const ARITY_SHIFT: u32 = 8;
const AUX_SHIFT: u32 = 40;

impl Header {
    #[inline(always)]
    pub const fn new(kind: Kind, arity: usize) -> Header {
        Header(TAG_HEADER | (kind as u64) << KIND_SHIFT | (arity as u64) << ARITY_SHIFT)
    }
    #[inline(always)]
    pub const fn with_aux(kind: Kind, arity: usize, aux: u32) -> Header {
        Header(Header::new(kind, arity).0 | (aux as u64) << AUX_SHIFT)
    }
    #[inline(always)]
    pub const fn from_raw(word: u64) -> Header {
        Header(word)
    }
    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0
    }
    #[inline(always)]
    pub const fn kind(self) -> Kind {
        let code = ((self.0 >> KIND_SHIFT) & 31) as u8;
        debug_assert!(self.0 & 7 == TAG_HEADER && (code as usize) < Kind::ALL.len());
        // SAFETY: headers are only made by `new`/`with_aux`, which take a Kind.
        unsafe { std::mem::transmute(code) }
    }
    /// Words after the header.
    #[inline(always)]
    pub const fn arity(self) -> usize {
        ((self.0 >> ARITY_SHIFT) & 0xffff_ffff) as usize
    }
    #[inline(always)]
    pub const fn aux(self) -> u32 {
        (self.0 >> AUX_SHIFT) as u32
    }
    /// Words of the whole object, header included.
    #[inline(always)]
    pub const fn words(self) -> usize {
        1 + self.arity()
    }
    /// Words after the header that are raw.
    #[inline(always)]
    pub fn raw_words(self) -> usize {
        self.kind().raw_words().min(self.arity())
    }
}

/// Largest bitstring that is stored on the heap, in bytes (from ERTS).
pub const HEAP_BITS_MAX_BYTES: usize = 64;

/// Calls `f` for every word of `[from, to)` that holds a term (not raw data, not a header).
///
/// # Safety
/// The range must be fully initialised and consist of whole objects and cons cells.
#[inline]
pub unsafe fn for_each_slot(mut from: *mut u64, to: *mut u64, mut f: impl FnMut(*mut Term)) {
    while from < to {
        // SAFETY: `from` lies within the initialised range.
        let word = unsafe { Term::from_raw(*from) };
        if word.is_header() {
            let header = Header::from_raw(word.raw());
            // SAFETY: an object lies whole within the range.
            from = unsafe { from.add(1 + header.raw_words()) };
        } else {
            f(from.cast::<Term>());
            // SAFETY: one further word of the range.
            from = unsafe { from.add(1) };
        }
    }
}
