//! Calls of NIFs: functions of a module that a library implements.
//!
//! Their code begins with `nif_start`, the cell for the `NifFunction`, the arity, and `nif_again`, at which a NIF continues on another
//! thread or after a yield. Where the cell is 0, the function's own body runs.

use crate::collect::after_native;
use crate::ctx::{Ctx, continuation_target};
use crate::ops::errors::{exit_now, raise};
use crate::ops::natives::{continue_thrown, yield_returned};
use crate::{goto, load, next, ops, save};
use heddle_runtime::code::nifs::{NifFunction, NifThread};
use heddle_runtime::process::Thrown;
use heddle_runtime::{memory_mode, sched, shared};
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells before the body of a function that may become a NIF.
pub const NIF_CELLS: usize = 4;
/// Where `nif_again` stands.
const AGAIN: usize = 3;

/// Calls the NIF on X[0..arity]. Returns 0 if the result is in X0; otherwise the reason is in `thrown`.
#[inline(never)]
unsafe fn call(function: *const NifFunction, ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
    // SAFETY: the loader of libraries stored the address of a function, which is there while its code is; the arguments are initialised.
    unsafe {
        let p = save!(c, h, s);
        let function = &*function;
        if function.thread != NifThread::Scheduler {
            return call_dirty(function, ip, c);
        }
        p.ip = ip;
        let args = std::slice::from_raw_parts((*c).x.as_ptr(), function.arity as usize);
        match (function.call)(function, p, args, r) {
            Ok(value) => {
                (*c).x[0] = value;
                after_native(c, 1);
                0
            }
            Err(thrown) => {
                (*c).thrown = thrown;
                1
            }
        }
    }
}

/// The same for a dirty NIF.
#[inline(never)]
unsafe fn call_dirty(function: &NifFunction, ip: *const u64, c: *mut Ctx) -> u64 {
    // SAFETY: as `call`; the process was saved.
    unsafe {
        let p = &mut *(*c).p;
        if !sched::on_dirty_thread() {
            p.trap_args.clear();
            (*c).thrown = if function.thread == NifThread::DirtyCpu { Thrown::DirtyCpu } else { Thrown::DirtyIo };
            return 1;
        }
        p.ip = ip;
        let args = &mut (&mut (*c).x)[..function.arity as usize];
        let result = if memory_mode::moves_arguments() {
            shared::safe_region::run(p, |p, args| (function.call)(function, p, args, 0), args)
        } else {
            (function.call)(function, p, args, 0)
        };
        if p.shared().state.load().is_exiting() {
            // The process was ended while the NIF ran: no handler of it runs any more.
            (*c).thrown = Thrown::ExitNow;
            return 1;
        }
        match result {
            Ok(value) => {
                (*c).x[0] = value;
                after_native(c, 1);
                0
            }
            Err(thrown) => {
                (*c).thrown = thrown;
                1
            }
        }
    }
}

ops! {
    // NifFunction or 0, arity, nif_again. The function's body follows.
    fn nif_start(ip, c, h, s, r) {
        // Acquire: pairs with the Release in `bind_nifs`.
        let function = (*ip.add(1).cast::<AtomicU64>()).load(Ordering::Acquire) as *const NifFunction;
        if function.is_null() {
            next!(ip, c, h, s, r; NIF_CELLS)
        }
        if call(function, ip, c, h, s, r) != 0 {
            return nif_thrown(ip.add(AGAIN), c, h, s, r);
        }
        load!(c, h, s);
        r -= 1 + std::mem::take(&mut (*(*c).p).extra_reductions) as i64;
        let target = continuation_target(*s);
        s = s.add(1);
        goto!(target, c, h, s, r)
    }
    // Calls the NIF of the `nif_start` before.
    #[cold]
    fn nif_again(ip, c, h, s, r) {
        // Acquire: as above.
        let function = (*ip.sub(AGAIN - 1).cast::<AtomicU64>()).load(Ordering::Acquire) as *const NifFunction;
        if call(function, ip, c, h, s, r) != 0 {
            return nif_thrown(ip, c, h, s, r);
        }
        load!(c, h, s);
        r -= 1 + std::mem::take(&mut (*(*c).p).extra_reductions) as i64;
        let target = continuation_target(*s);
        s = s.add(1);
        if r <= 0 {
            return yield_returned(target, c, h, s, r);
        }
        goto!(target, c, h, s, r)
    }
    // A NIF returned anything but a result. `ip` is at `nif_again`.
    #[cold]
    fn nif_thrown(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        r -= 1 + std::mem::take(&mut p.extra_reductions) as i64;
        h = p.heap.htop;
        let thrown = (*c).thrown;
        match thrown {
            Thrown::Exception => {
                // The first frame is that of the function itself, with its arguments.
                let arity = *ip.sub(1) as usize;
                if p.exception.trace.is_none() && (*c).fault_args.is_none() {
                    (*c).fault_args = p.heap.list(&(&(*c).x)[..arity]);
                }
                h = p.heap.htop;
                return raise(ip, c, h, s, r);
            }
            Thrown::ExitNow => return exit_now(ip, c, h, s, r),
            _ => return continue_thrown(ip, c, h, s, r, thrown),
        }
    }
}
