//! Match contexts: making them, moving in them, tails.

use super::chain_segments::copy as copy_few;
use super::finish;
use crate::collect::make_room_keeping;
use crate::ctx::{Ctx, Dst, Src, any, fits, put};
use crate::ops::errors::raise;
use crate::{goto, load, next, ops, save};
use heddle_runtime::process::Exception;
use heddle_term::bits::{copy_bits, data_of};
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::{Header, Heap, Kind, Term, am};

/// Words of a match context.
const CONTEXT_WORDS: usize = 5;

/// A context in place: start, position and end are bits of the original.
#[derive(Clone, Copy)]
pub struct Context(pub *mut u64);

impl Context {
    #[inline(always)]
    pub fn of(term: Term) -> Context {
        debug_assert!(term.is_kind(Kind::MatchCtx));
        Context(term.ptr())
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn start(self) -> u64 {
        // SAFETY: a context has these words.
        unsafe { *self.0.add(1) }
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn at(self) -> u64 {
        // SAFETY: the context is alive and has not moved; the position is its third word.
        unsafe { *self.0.add(2) }
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn end(self) -> u64 {
        // SAFETY: the context is alive and has not moved; the end is its fourth word.
        unsafe { *self.0.add(3) }
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn left(self) -> u64 {
        // SAFETY: the context is alive and has not moved.
        unsafe { self.end() - self.at() }
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn original(self) -> Term {
        // SAFETY: the context is alive and has not moved; the binary is its fifth word.
        unsafe { Term::from_raw(*self.0.add(4)) }
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn base(self) -> *const u8 {
        // SAFETY: the context is alive and has not moved.
        data_of(unsafe { self.original() }).0
    }
    /// # Safety
    /// The context is alive, and nothing has moved it since `of`.
    #[inline(always)]
    pub unsafe fn set_at(self, at: u64) {
        // SAFETY: the context is alive and has not moved; the position is its third word.
        unsafe { *self.0.add(2) = at }
    }
}

ops! {
    // `start_match` with the `get_position` after it, for a match that continues
    fn start_match_position<S: Src, D: Dst, P: Dst>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if !source.is_kind(Kind::MatchCtx) {
            return start_match::<S, D>(ip, c, h, s, r);
        }
        let m = Context::of(source);
        D::set(*ip.add(2), c, s, source);
        P::set(*ip.add(7), c, s, Term::small((m.at() - m.start()) as i64));
        next!(ip, c, h, s, r; 8)
    }
    // src, dst, live, label (0: cannot fail)
    fn start_match<S: Src, D: Dst>(ip, c, h, s, r) {
        let source = S::get(*ip.add(1), c, s);
        if source.is_boxed() {
            let kind = source.header().kind();
            if kind == Kind::MatchCtx {
                D::set(*ip.add(2), c, s, source);
                next!(ip, c, h, s, r; 5)
            }
            if kind == Kind::SubBits || kind == Kind::BinRef || kind == Kind::HeapBits {
                if !fits(h, s, CONTEXT_WORDS) {
                    return start_match_slow::<S, D>(ip, c, h, s, r);
                }
                let (start, size, original) = match kind {
                    Kind::SubBits => (source.word(0), source.word(1), source.slot(2)),
                    Kind::BinRef => (0, source.word(1), source),
                    _ => (0, source.word(0), source),
                };
                *h = Header::new(Kind::MatchCtx, CONTEXT_WORDS - 1).raw();
                *h.add(1) = start;
                *h.add(2) = start;
                *h.add(3) = start + size;
                *h.add(4) = original.raw();
                D::set(*ip.add(2), c, s, Term::boxed(h));
                h = h.add(CONTEXT_WORDS);
                next!(ip, c, h, s, r; 5)
            }
        }
        if *ip.add(4) != 0 {
            goto!(*ip.add(4) as *const u64, c, h, s, r)
        }
        return raise_badarg(ip, c, h, s, r);
    }
    #[cold]
    fn start_match_slow<S: Src, D: Dst>(ip, c, h, s, r) {
        // The source may be above the live registers, so it is kept explicitly.
        save!(c, h, s);
        let source = make_room_keeping(c, CONTEXT_WORDS, *ip.add(3) as usize, S::get(*ip.add(1), c, s));
        load!(c, h, s);
        match source.kind() {
            Some(Kind::MatchCtx) => {
                D::set(*ip.add(2), c, s, source);
                next!(ip, c, h, s, r; 5)
            }
            Some(kind @ (Kind::SubBits | Kind::BinRef | Kind::HeapBits)) => {
                let (start, size, original) = match kind {
                    Kind::SubBits => (source.word(0), source.word(1), source.slot(2)),
                    Kind::BinRef => (0, source.word(1), source),
                    _ => (0, source.word(0), source),
                };
                *h = Header::new(Kind::MatchCtx, CONTEXT_WORDS - 1).raw();
                *h.add(1) = start;
                *h.add(2) = start;
                *h.add(3) = start + size;
                *h.add(4) = original.raw();
                D::set(*ip.add(2), c, s, Term::boxed(h));
                h = h.add(CONTEXT_WORDS);
                next!(ip, c, h, s, r; 5)
            }
            _ => {
                if *ip.add(4) != 0 {
                    goto!(*ip.add(4) as *const u64, c, h, s, r)
                }
                return raise_badarg(ip, c, h, s, r);
            }
        }
    }
    #[cold]
    fn raise_badarg(ip, c, h, s, r) {
        let p = save!(c, h, s);
        p.exception = Exception { reason: am::BADARG.into(), ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }

    // context, dst. The position counts from where the match started.
    fn get_position<S: Src, D: Dst>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        D::set(*ip.add(2), c, s, Term::small((m.at() - m.start()) as i64));
        next!(ip, c, h, s, r; 3)
    }
    // context, position
    fn set_position<S: Src>(ip, c, h, s, r) {
        let m = Context::of(S::get(*ip.add(1), c, s));
        let position = any(*ip.add(2), c, s);
        let at = m.start() + position.small_value() as u64;
        m.set_at(if at > m.end() { m.end() } else { at });
        next!(ip, c, h, s, r; 3)
    }
    // context, live, dst
    fn get_tail(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, bits) = (m.at(), m.left());
        if let Some((term, top)) = slice_here(h, s, m.original(), at, bits) {
            h = top;
            put(*ip.add(3), c, s, term);
            next!(ip, c, h, s, r; 4)
        }
        return get_tail_slow(ip, c, h, s, r);
    }
    fn get_tail_slow(ip, c, h, s, r) {
        take_tail(ip, c, h, s);
        load!(c, h, s);
        next!(ip, c, h, s, r; 4)
    }
    // context, live, dst, bits: the bits were ensured
    fn get_binary(ip, c, h, s, r) {
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(4));
        if let Some((term, top)) = slice_here(h, s, m.original(), at, bits) {
            h = top;
            m.set_at(at + bits);
            put(*ip.add(3), c, s, term);
            next!(ip, c, h, s, r; 5)
        }
        return get_binary_slow(ip, c, h, s, r);
    }
    fn get_binary_slow(ip, c, h, s, r) {
        take_binary(ip, c, h, s);
        load!(c, h, s);
        next!(ip, c, h, s, r; 5)
    }
}

#[inline(never)]
unsafe fn take_tail(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let term = slice(&mut p.heap, m.original(), m.at(), m.left());
        let term = finish(c, *ip.add(2) as usize, 0, term);
        put(*ip.add(3), c, (*(*c).p).stop, term);
    }
}

#[inline(never)]
unsafe fn take_binary(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let m = Context::of(any(*ip.add(1), c, s));
        let (at, bits) = (m.at(), *ip.add(4));
        m.set_at(at + bits);
        let term = slice(&mut p.heap, m.original(), at, bits);
        let term = finish(c, *ip.add(2) as usize, 0, term);
        put(*ip.add(3), c, (*(*c).p).stop, term);
    }
}

/// `bits` bits of an original. Small results are copied: a slice would keep all of the original alive.
#[inline]
pub fn slice(heap: &mut Heap, original: Term, at: u64, bits: u64) -> Term {
    if bits > HEAP_BITS_MAX_BYTES as u64 * 8 {
        return heap.sub_bits(original, at, bits);
    }
    let (term, data) = heap.heap_bits(bits);
    // SAFETY: the new bitstring has room for the bits; nothing moved.
    unsafe { copy_bits(data_of(original).0, at, data, 0, bits) };
    term
}

/// As `slice`, made at a heap top, which it moves. None without room there, or for few bits that are not whole bytes.
///
/// # Safety
/// `h` and `s` are the tops of a process' heap and stack; the original has the bits.
#[inline(always)]
pub unsafe fn slice_here(h: *mut u64, s: *mut u64, original: Term, at: u64, bits: u64) -> Option<(Term, *mut u64)> {
    // SAFETY: there is room for what is written.
    unsafe {
        if bits > HEAP_BITS_MAX_BYTES as u64 * 8 {
            if !fits(h, s, 4) {
                return None;
            }
            *h = Header::new(Kind::SubBits, 3).raw();
            *h.add(1) = at;
            *h.add(2) = bits;
            *h.add(3) = original.raw();
            return Some((Term::boxed(h), h.add(4)));
        }
        let words = 2 + bits.div_ceil(64) as usize;
        if (at | bits) & 7 != 0 || !fits(h, s, words) {
            return None;
        }
        *h = Header::new(Kind::HeapBits, 0).raw() + ((words as u64 - 1) << 8);
        // The bytes after the last one; of an empty bitstring this is the word that follows.
        *h.add(words - 1) = 0;
        *h.add(1) = bits;
        copy_few(data_of(original).0.add((at / 8) as usize), h.add(2).cast(), (bits / 8) as usize);
        Some((Term::boxed(h), h.add(words)))
    }
}
