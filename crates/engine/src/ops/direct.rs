//! Builds terms that will be sent in the process' open region (`heddle_term::open`) if possible, else on the heap, where the code has made
//! room as usual. For constructions that are judged messages, with the hybrid heap.

use crate::ctx::{Ctx, Dst, Src, any, bound, fits};
use crate::ops::frames::collect_and_retry;
use crate::{fusable, load, next, ops, save, then};
use heddle_abi::settings::{Direct, SETTINGS};
use heddle_runtime::held_regions;
use heddle_term::Term;
use std::ptr::null_mut;

/// The place for an object of `words` words with these parts, in the open region; null if it must go to the heap.
///
/// # Safety
/// The process runs in `c`; the object is written at once.
#[inline(always)]
unsafe fn place(c: *mut Ctx, words: usize, count: usize, part: impl Fn(usize) -> Term) -> *mut u64 {
    // SAFETY: the process runs in `c`, so its open region belongs to this thread.
    unsafe {
        let p = (*c).p;
        let open = match (*p).open().as_mut() {
            Some(open) => open,
            None if SETTINGS.direct.is(Direct::Always) => &mut (*p).rare().open,
            None => {
                (*p).missed(words);
                return null_mut();
            }
        };
        let mut i = 0;
        while i < count {
            if !open.takes(part(i)) {
                (*p).missed(words);
                return null_mut();
            }
            i += 1;
        }
        let at = open.room(words);
        if !at.is_null() {
            return at;
        }
        if (0..count).any(|i| open.contains(part(i))) {
            (*p).missed(words);
            return at;
        }
        begin(c, words)
    }
}

/// Makes a list cell in the region or on the heap. Returns it and the new top of the heap.
///
/// # Safety
/// As `place`; the heap, whose top is `h`, has room for it.
#[inline(always)]
unsafe fn cell(c: *mut Ctx, h: *mut u64, head: Term, tail: Term) -> (Term, *mut u64) {
    // SAFETY: the place is written at once, and the heap has room for a cell at `h`.
    unsafe {
        let at = place(c, 2, 2, |i| if i == 0 { head } else { tail });
        let to = if at.is_null() { h } else { at };
        *to = head.raw();
        *to.add(1) = tail.raw();
        (Term::cons(to), if at.is_null() { h.add(2) } else { h })
    }
}

/// # Safety
/// As `place`.
#[cold]
#[inline(never)]
unsafe fn begin(c: *mut Ctx, words: usize) -> *mut u64 {
    // SAFETY: by contract. The engine has no register for the list of off-heap objects.
    unsafe {
        let p = &mut *(*c).p;
        let mut list = std::mem::take(&mut p.heap.off_heap);
        let at = p.rare().open.begin(words, &mut list);
        p.heap.off_heap = list;
        if at.is_null() {
            p.missed(words);
        } else {
            let words = p.rare().open.free_words();
            held_regions::more(p, words);
        }
        at
    }
}

fusable! {
    // head, tail, dst
    fn put_list_direct<H: Src, T: Src, D: Dst>(ip, c, h, s, r; N) {
        let (head, tail) = (H::get(*ip.add(1), c, s), T::get(*ip.add(2), c, s));
        let cell = cell(c, h, head, tail);
        D::set(*ip.add(3), c, s, cell.0);
        h = cell.1;
        then!(N, ip, c, h, s, r; 4)
    }
    // need, live, then head, tail, dst
    fn test_heap_put_list_direct<H: Src, T: Src, D: Dst>(ip, c, h, s, r; N) {
        if !fits(h, s, *ip.add(1) as usize) {
            return test_heap_put_list_direct_slow::<H, T, D>(ip, c, h, s, r);
        }
        let (head, tail) = (H::get(*ip.add(3), c, s), T::get(*ip.add(4), c, s));
        let cell = cell(c, h, head, tail);
        D::set(*ip.add(5), c, s, cell.0);
        h = cell.1;
        then!(N, ip, c, h, s, r; 6)
    }
    // dst, header, count, elements...
    fn put_tuple_direct<D: Dst>(ip, c, h, s, r; N) {
        let n = *ip.add(3) as usize;
        let at = place(c, 1 + n, n, |i| any(*ip.add(4 + i), c, s));
        let to = if at.is_null() { h } else { at };
        *to = *ip.add(2);
        let mut i = 0;
        while i < bound(ip.add(3)) {
            *to.add(1 + i) = any(*ip.add(4 + i), c, s).raw();
            i += 1;
        }
        D::set(*ip.add(1), c, s, Term::boxed(to));
        h = if at.is_null() { h.add(1 + n) } else { h };
        then!(N, ip, c, h, s, r; 4 + n)
    }
}

ops! {
    #[cold]
    fn test_heap_put_list_direct_slow<H: Src, T: Src, D: Dst>(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize, *ip.add(2) as usize);
        let (head, tail) = (H::get(*ip.add(3), c, s), T::get(*ip.add(4), c, s));
        let cell = cell(c, h, head, tail);
        D::set(*ip.add(5), c, s, cell.0);
        h = cell.1;
        next!(ip, c, h, s, r; 6)
    }
}
