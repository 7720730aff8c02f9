//! Calls of natives from compiled code, and natives as functions of their own.

use crate::collect::after_native;
use crate::ctx::{Ctx, OUT_DIRTY_CPU, OUT_DIRTY_IO, OUT_WAIT, OUT_YIELD, continuation, continuation_target};
use crate::ops::calls::yield_at;
use crate::ops::errors::{exit_now, raise};
use crate::{fusable, goto, load, ops, save, then};
use heddle_runtime::memory_mode;
use heddle_runtime::process::{NativeFn, Process, Thrown};
use heddle_runtime::trace::breakpoints::NATIVES_TRACED;
use heddle_runtime::{sched, shared};
use heddle_term::Export;
use std::sync::atomic::Ordering;

/// Calls the native on X[0..arity]. Returns 0 if the result is in X0; otherwise the reason is in `thrown`. A function of its own, so that
/// the operations that call it need no native frame.
#[inline(never)]
unsafe fn invoke<const IN_PLACE: bool>(ip: *const u64, run: u64, c: *mut Ctx, h: *mut u64, s: *mut u64, arity: usize) -> u64 {
    // SAFETY: the loader emitted the address of a NativeFn; the arguments are initialised. Natives do not write X registers, so
    // the slice stays valid.
    unsafe {
        let p = save!(c, h, s);
        // Relaxed: a tracer of a native gets calls from some call on.
        if IN_PLACE && NATIVES_TRACED.load(Ordering::Relaxed) && is_traced(ip, c, p, arity) {
            return 1;
        }
        // For natives that ask for their caller's place.
        p.ip = ip;
        let run: NativeFn = std::mem::transmute::<u64, NativeFn>(run);
        let args = std::slice::from_raw_parts((*c).x.as_ptr(), arity);
        // On dirty threads a native is always a function of its own.
        let result = if !IN_PLACE && memory_mode::moves_arguments() && sched::on_dirty_thread() {
            shared::safe_region::run(p, run, &mut (&mut (*c).x)[..arity])
        } else {
            run(p, args)
        };
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

/// A call in place of a native with a breakpoint becomes a call of the native's own code, which has it.
#[cold]
#[inline(never)]
unsafe fn is_traced(ip: *const u64, c: *mut Ctx, p: &mut Process, arity: usize) -> bool {
    // SAFETY: cells as emitted by the loader; the arguments are initialised.
    unsafe {
        let export = &*(*ip.add(3) as *const Export);
        let entry = crate::native_code::entry(export);
        if *entry == native_body as *const () as u64 {
            return false;
        }
        p.trap_export = export;
        p.trap_args.clear();
        p.trap_args.extend_from_slice(&(&(*c).x)[..arity]);
        (*c).thrown = Thrown::Trap;
        true
    }
}

fusable! {
    // native, arity, export
    fn call_native(ip, c, h, s, r; N) {
        let code = invoke::<true>(ip, *ip.add(1), c, h, s, *ip.add(2) as usize);
        if code != 0 {
            return native_thrown(ip, c, h, s, r);
        }
        load!(c, h, s);
        r -= 1 + std::mem::take(&mut (*(*c).p).extra_reductions) as i64;
        then!(N, ip, c, h, s, r; 4)
    }
}

ops! {
    // Continues `call_native` after anything but a result.
    #[cold]
    fn native_thrown(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        let thrown = (*c).thrown;
        if thrown != Thrown::SetReductions {
            r -= 1 + std::mem::take(&mut p.extra_reductions) as i64;
        }
        h = p.heap.htop;
        let export = &*(*ip.add(3) as *const Export);
        match thrown {
            Thrown::Exception => {
                set_fault(c, p, export, *ip.add(2) as usize);
                h = p.heap.htop;
                return raise(ip, c, h, s, r);
            }
            Thrown::ExitNow => return exit_now(ip, c, h, s, r),
            Thrown::ReductionsLeft | Thrown::SetReductions => {
                r = reductions(c, r, thrown);
                goto!(ip.add(4), c, h, s, r)
            }
            Thrown::TellSlice => {
                tell_slice(p, r);
                goto!(ip, c, h, s, r)
            }
            _ => {
                // As a call of the native's own function: it returns after this operation.
                s = s.sub(1);
                *s = continuation(ip.add(4));
                p.stop = s;
                p.sync_limit();
                return continue_thrown(crate::native_code::resume(export), c, h, s, r, thrown);
            }
        }
    }

    // Body of a native as a function: native, export. Preceded by the usual function header.
    fn native_body(ip, c, h, s, r) {
        let export = &*(*ip.add(2) as *const Export);
        let code = invoke::<false>(ip, *ip.add(1), c, h, s, export.mfa.arity as usize);
        if code != 0 {
            return native_body_thrown(ip, c, h, s, r);
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
    // A process that was on a dirty thread handles its signals before it does anything else: its caller continues in the next slice.
    #[cold]
    fn yield_returned(ip, c, h, s, r) {
        if !heddle_runtime::sched::on_dirty_thread() {
            goto!(ip, c, h, s, r)
        }
        let p = save!(c, h, s);
        crate::ctx::leave_at(c, heddle_runtime::stack::unmarked(p, ip), 1, r);
        OUT_YIELD
    }
    #[cold]
    fn native_body_thrown(ip, c, h, s, r) {
        let p = &mut *(*c).p;
        let thrown = (*c).thrown;
        if thrown != Thrown::SetReductions {
            r -= 1 + std::mem::take(&mut p.extra_reductions) as i64;
        }
        let export = &*(*ip.add(2) as *const Export);
        h = p.heap.htop;
        if heddle_runtime::sched::on_dirty_thread() && p.shared().state.load().is_exiting() {
            // The process was ended while the native blocked: no handler of it runs any more.
            return exit_now(ip, c, h, s, r);
        }
        match thrown {
            Thrown::Exception => {
                set_fault(c, p, export, export.mfa.arity as usize);
                h = p.heap.htop;
                return raise(ip, c, h, s, r);
            }
            Thrown::ExitNow => return exit_now(ip, c, h, s, r),
            Thrown::ReductionsLeft | Thrown::SetReductions => {
                r = reductions(c, r, thrown);
                let target = continuation_target(*s);
                s = s.add(1);
                goto!(target, c, h, s, r)
            }
            Thrown::TellSlice => {
                tell_slice(p, r);
                goto!(ip, c, h, s, r)
            }
            _ => return continue_thrown(crate::native_code::resume(export), c, h, s, r, thrown),
        }
    }
}

/// Records which native failed, with its arguments, unless the program passed its own (erlang:error/2,3).
unsafe fn set_fault(c: *mut Ctx, p: &mut Process, export: &Export, arity: usize) {
    // SAFETY: the registers still hold the arguments.
    unsafe {
        if !p.exception.trace.is_none() {
            // A re-raise keeps its own trace.
            return;
        }
        if crate::native_code::raises_for_caller(export) {
            // error/1,2,3, exit/1, throw/1: the frame is that of the caller.
            return;
        }
        (*c).fault = export;
        if (*c).fault_args.is_none() {
            (*c).fault_args = p.heap.list(&(&(*c).x)[..arity]);
        }
    }
}

fn tell_slice(p: &mut Process, r: i64) {
    p.rare().slice_used = Some((heddle_runtime::zeal::slice() - r).max(0) as u64);
}

/// Answers a native that reads or sets the rest of the slice. Returns the rest.
unsafe fn reductions(c: *mut Ctx, r: i64, thrown: Thrown) -> i64 {
    // SAFETY: a process runs.
    unsafe {
        if thrown == Thrown::ReductionsLeft {
            (*c).x[0] = heddle_term::Term::small(r);
            return r;
        }
        (*c).x[0] = heddle_term::Term::bool(true);
        std::mem::take(&mut (*(*c).p).extra_reductions) as i64
    }
}

/// Does what a native that returned no result asked for: it traps, waits, or goes to a dirty thread. `entry` is where the native continues (its
/// `native_body`, or `nif_again`). The return address is on the stack.
///
/// # Safety
/// A process runs, and its state is saved.
// SAFETY: `native_body_thrown` and `nif_thrown` call it, after the native for which the state was saved.
pub(crate) unsafe fn continue_thrown(entry: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64, thrown: Thrown) -> u64 {
    // SAFETY: state was saved by the caller.
    unsafe {
        let p = &mut *(*c).p;
        match thrown {
            Thrown::Trap => {
                let n = p.trap_args.len();
                (&mut (*c).x)[..n].copy_from_slice(&p.trap_args);
                p.trap_args.clear();
                crate::collect::after_native(c, n);
                let (h, s) = (p.heap.htop, p.stop);
                let target = (*p.trap_export).entry.load(Ordering::Acquire) as *const u64;
                if r > 0 {
                    return (*(target as *const crate::ctx::OpFn))(target, c, h, s, r);
                }
                yield_at(target, c, h, s, r)
            }
            Thrown::Again | Thrown::WaitAgain => {
                let n = p.trap_args.len();
                (&mut (*c).x)[..n].copy_from_slice(&p.trap_args);
                p.trap_args.clear();
                crate::collect::after_native(c, n);
                let (h, s) = (p.heap.htop, p.stop);
                if thrown == Thrown::Again && r > 0 {
                    return (*(entry as *const crate::ctx::OpFn))(entry, c, h, s, r);
                }
                let out = yield_at(entry, c, h, s, r);
                debug_assert_eq!(out, OUT_YIELD);
                if thrown == Thrown::WaitAgain { OUT_WAIT } else { OUT_YIELD }
            }
            Thrown::DirtyCpu | Thrown::DirtyIo => {
                // Other arguments than those of the call, if the native set them.
                let n = p.trap_args.len();
                (&mut (*c).x)[..n].copy_from_slice(&p.trap_args);
                p.trap_args.clear();
                yield_at(entry, c, h, s, r);
                if thrown == Thrown::DirtyCpu { OUT_DIRTY_CPU } else { OUT_DIRTY_IO }
            }
            Thrown::Exception | Thrown::ExitNow | Thrown::ReductionsLeft | Thrown::SetReductions | Thrown::TellSlice => {
                unreachable!("handled before")
            }
        }
    }
}
