//! Native tasks.

use crate::collect::tidy_saved;
use crate::ctx::{Ctx, OUT_EXIT, OUT_SUSPENDED, OUT_WAIT, OUT_YIELD};
use crate::{ops, save};
use heddle_runtime::{Outcome, task, zeal};

ops! {
    // Runs a slice of the task. The task stands here until it ends.
    fn run_task(ip, c, h, s, r) {
        save!(c, h, s);
        slice(c, r)
    }
}

/// # Safety
/// As an operation: `c` is the context of the calling thread, and has its process.
#[inline(never)]
unsafe fn slice(c: *mut Ctx, reductions: i64) -> u64 {
    // SAFETY: the running process is ours, and saved whole: it has no X registers.
    unsafe {
        let p = &mut *(*c).p;
        let (outcome, left) = task::slice(p, reductions);
        (*c).left = left;
        match outcome {
            Outcome::Exit => return OUT_EXIT,
            _ if zeal::gc() || p.heap.off_heap.virtual_words > p.vheap_limit_words => p.request_collection(),
            _ => {}
        }
        tidy_saved(p);
        match outcome {
            Outcome::Wait => OUT_WAIT,
            Outcome::Suspended => OUT_SUSPENDED,
            _ => OUT_YIELD,
        }
    }
}
