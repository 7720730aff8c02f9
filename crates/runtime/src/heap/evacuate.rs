//! How a collector moves one object.

use heddle_term::term::TAG_FORWARD;
use heddle_term::{Header, Term};

/// Copies the object that `term` points to to `*top` and leaves a forwarding word; or follows one that is there.
///
/// # Safety
/// `term` points to a whole object in from-space; `*top` has room.
#[inline(always)]
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
