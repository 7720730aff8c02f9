//! The timer of a port.

use crate::instance::{self, PortHandle};
use heddle_io::ports::driver::After;
use heddle_runtime::time;
use libc::{c_int, c_ulong};
use std::sync::atomic::Ordering;
use std::time::Duration;

const MS: u64 = 1_000_000;

fn now_ns() -> u64 {
    (time::monotonic_ns() - time::START_NS) as u64 + 1
}

api! { FUNCTIONS:
    fn driver_set_timer(port: PortHandle, ms: c_ulong) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        if instance.library.loaded.entry().timeout.is_none() {
            return -1;
        }
        instance.timer_ns.store(now_ns().saturating_add(ms.saturating_mul(MS)), Ordering::Relaxed);
        instance.act(move |context| {
            context.set_timer(Duration::from_millis(ms));
            After::Continue
        });
        0
    }
    fn driver_cancel_timer(port: PortHandle) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        instance.timer_ns.store(0, Ordering::Relaxed);
        instance.act(|context| {
            context.cancel_timer();
            After::Continue
        });
        0
    }
    fn driver_read_timer(port: PortHandle, to: *mut c_ulong) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        let due = instance.timer_ns.load(Ordering::Relaxed);
        // As in stock a part of a millisecond counts as none.
        *to = due.saturating_sub(now_ns()) / MS;
        0
    }
}
