//! What a library asks of the VM.

use crate::instance::{self, PortHandle};
use heddle_io::ports::driver::After;
use libc::{c_char, c_int, c_void, size_t};
use std::sync::atomic::Ordering;

// SAFETY: the crate `nif` defines it with these types.
unsafe extern "C" {
    fn enif_system_info(to: *mut c_void, size: size_t);
}

/// Reductions of a slice.
const SLICE: usize = 4000;

api! { FUNCTIONS:
    fn driver_system_info(to: *mut c_void, size: size_t) {
        enif_system_info(to, size)
    }
    fn erl_drv_consume_timeslice(port: PortHandle, percent: c_int) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        let percent = percent.clamp(1, 100);
        instance.act(move |context| {
            context.work(SLICE * percent as usize / 100);
            After::Continue
        });
        // Relaxed: only functions that run in the port use it.
        let used = instance.percents.load(Ordering::Relaxed) + percent;
        instance.percents.store(used.min(100), Ordering::Relaxed);
        (used >= 100) as c_int
    }
    fn null_func() -> c_int {
        0
    }
    fn dtrace_drvport_str(port: PortHandle, to: *mut c_char) {
        let text = instance::of(port).map_or_else(|| "#Port<INVALID>".into(), |instance| format!("#Port<0.{}>", instance.port.id));
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
        *to.add(text.len()) = 0;
    }
}
