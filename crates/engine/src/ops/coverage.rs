//! Operations that count what is executed: see `heddle_runtime::coverage`.

use crate::{next, ops};
use std::sync::atomic::{AtomicU64, Ordering};

ops! {
    // counter (an address in the module's coverage, which lives as long as the code)
    fn executed(ip, c, h, s, r) {
        // Mostly known already. Then the read does not take the cache line from another core.
        let counter = &*(*ip.add(1) as *const AtomicU64);
        if counter.load(Ordering::Relaxed) == 0 {
            counter.store(1, Ordering::Relaxed);
        }
        next!(ip, c, h, s, r; 2)
    }
    // counter
    fn count_execution(ip, c, h, s, r) {
        (*(*ip.add(1) as *const AtomicU64)).fetch_add(1, Ordering::Relaxed);
        next!(ip, c, h, s, r; 2)
    }
}
