//! How a collector moves one object, and how it finds the terms of those that it moved (Cheney's scan).

use heddle_term::term::TAG_FORWARD;
use heddle_term::{Header, Term};

/// Copies the object that `term` points to to `*top` and leaves a forwarding word; or follows one that is there.
///
/// # Safety
/// `term` points to a whole object in from-space; `*top` has room.
#[inline(always)]
// SAFETY: collectors size to-space for all that they may find alive, and ask for what lies in from-space alone.
pub(crate) unsafe fn evacuate(term: Term, top: &mut *mut u64) -> Term {
    let src = term.ptr();
    // SAFETY: `term` points to a whole object in from-space, and there is room for it at `*top`.
    unsafe {
        let first = *src;
        if first & 7 == TAG_FORWARD {
            return Term::from_raw((first & !7) | term.tag());
        }
        let dst = *top;
        if term.is_cons() {
            *dst = first;
            *dst.add(1) = *src.add(1);
            *top = dst.add(2);
        } else {
            let n = Header::from_raw(first).words();
            *dst = first;
            for i in 1..n {
                *dst.add(i) = *src.add(i);
            }
            *top = dst.add(n);
        }
        *src = dst as u64 | TAG_FORWARD;
        Term::from_raw(dst as u64 | term.tag())
    }
}

/// Visits the terms of the objects from `at` to the top of their area that point to an object. `visit` gets the place of the term and the
/// term; it may move what the term points to, after the top. `top` reads the top from `tops`, which `visit` changes. Returns where the scan
/// ended: at the top.
///
/// # Safety
/// The area holds whole objects from `at` to its top, after each call of `visit`.
#[inline(always)]
// SAFETY: collectors write whole objects, and move the top after each of them.
pub(crate) unsafe fn scan<T>(
    mut at: *mut u64,
    tops: &mut T,
    top: impl Fn(&T) -> *mut u64,
    mut visit: impl FnMut(&mut T, *mut u64, Term),
) -> *mut u64 {
    while at < top(tops) {
        // SAFETY: below the top, at a header or a term of a whole object.
        unsafe {
            let word = Term::from_raw(*at);
            if word.is_header() {
                at = at.add(1 + Header::from_raw(word.raw()).raw_words());
                continue;
            }
            if word.is_pointer() {
                visit(tops, at, word);
            }
            at = at.add(1);
        }
    }
    at
}
