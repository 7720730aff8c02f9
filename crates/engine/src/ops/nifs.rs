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
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::{exports, memory_mode, sched, shared};
use heddle_term::code_cell::Mfa;
use heddle_term::list;
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells before the body of a function that may become a NIF.
pub const NIF_CELLS: usize = 4;
/// Where `nif_again` stands.
const AGAIN: usize = 3;

/// The first frame of the stack trace is that of the function itself, or of the one that the program called, with its arguments.
///
/// # Safety
/// `ip` is at `nif_again`; the registers still hold the arguments.
#[inline(never)]
// SAFETY: `nif_thrown` calls it.
unsafe fn set_fault(ip: *const u64, c: *mut Ctx, p: &mut Process) {
    // SAFETY: by contract; a function that raised is still there.
    unsafe {
        let registers = *ip.sub(1) as usize;
        let arity = (*(*ip.sub(AGAIN - 1) as *const NifFunction)).arity as usize;
        if registers == arity {
            (*c).fault_args = p.heap.list(&(&(*c).x)[..arity]);
            return;
        }
        if let Some(&[module, function, args]) = (*c).x[arity].as_tuple()
            && let (Some(module), Some(function)) = (module.as_atom(), function.as_atom())
        {
            let arity = list::length(args).unwrap_or(0) as u8;
            (*c).fault = exports::get(Mfa { module, function, arity });
            (*c).fault_args = args;
        }
    }
}

/// Calls the NIF on X[0..registers]. Returns 0 if the result is in X0; otherwise the reason is in `thrown`.
///
/// # Safety
/// `function` is what the cell of the code at `ip` holds, a process runs, and X[0..registers] are terms.
#[inline(never)]
// SAFETY: `nif_start` and `nif_again` call it with the cell that they have just read.
unsafe fn call(function: *const NifFunction, ip: *const u64, registers: usize, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64) -> u64 {
    // SAFETY: the loader of libraries stored the address of a function, which is there while its code is; the arguments are initialised.
    unsafe {
        let p = save!(c, h, s);
        let function = &*function;
        if function.thread != NifThread::Scheduler {
            return call_dirty(function, ip, registers, c);
        }
        p.ip = ip;
        let args = std::slice::from_raw_parts((*c).x.as_ptr(), registers);
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
///
/// # Safety
/// As `call`, and the state of the process is saved.
#[inline(never)]
// SAFETY: `call` calls it, after it has saved the state.
unsafe fn call_dirty(function: &NifFunction, ip: *const u64, registers: usize, c: *mut Ctx) -> u64 {
    // SAFETY: as `call`; the process was saved.
    unsafe {
        let p = &mut *(*c).p;
        if !sched::on_dirty_thread() {
            p.trap_args.clear();
            (*c).thrown = if function.thread == NifThread::DirtyCpu { Thrown::DirtyCpu } else { Thrown::DirtyIo };
            return 1;
        }
        p.ip = ip;
        let args = &mut (&mut (*c).x)[..registers];
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
        if call(function, ip, *ip.add(2) as usize, c, h, s, r) != 0 {
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
        if call(function, ip, *ip.sub(1) as usize, c, h, s, r) != 0 {
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
                set_fault(ip, c, p);
                h = p.heap.htop;
                return raise(ip, c, h, s, r);
            }
            Thrown::ExitNow => return exit_now(ip, c, h, s, r),
            _ => return continue_thrown(ip, c, h, s, r, thrown),
        }
    }
}
