//! How long a NIF runs, and where: time slices, functions that follow, kinds of threads.

use crate::env::{Env, EnvKind, Left};
use crate::load::{DIRTY_CPU, DIRTY_IO};
use crate::schedule::{self, Key};
use heddle_runtime::code::nifs::NifThread;
use heddle_runtime::{dirty, sched, zeal};
use heddle_term::{Atom, Term, am};
use libc::{c_char, c_int};
use std::ffi::CStr;

/// `ERL_NIF_THR_*`.
const UNDEFINED: c_int = 0;
const NORMAL_SCHEDULER: c_int = 1;
const DIRTY_CPU_SCHEDULER: c_int = 2;
const DIRTY_IO_SCHEDULER: c_int = 3;

const MAX_ARITY: c_int = 255;

api! { FUNCTIONS:
    fn enif_consume_timeslice(env: *mut Env, percent: c_int) -> c_int {
        if (*env).kind != EnvKind::Process {
            return 0;
        }
        let wanted = (zeal::slice() as usize).div_ceil(100) * percent.clamp(1, 100) as usize;
        // No more than the slice has left, as in stock.
        let used = wanted.min((*env).left.max(0) as usize);
        (*(*env).process).bump(used);
        (*env).left -= used as i64;
        ((*env).left <= 0) as c_int
    }
    fn enif_schedule_nif(
        env: *mut Env, name: *const c_char, flags: c_int, function: *const (), count: c_int, args: *const Term
    ) -> Term {
        let text: String = CStr::from_ptr(name).to_bytes().iter().map(|&b| b as char).collect();
        let thread = match flags as u32 {
            0 => Some(NifThread::Scheduler),
            DIRTY_CPU => Some(NifThread::DirtyCpu),
            DIRTY_IO => Some(NifThread::DirtyIo),
            _ => None,
        };
        let (Ok(name), Some(thread), 0..=MAX_ARITY, true) = (Atom::try_new(&text), thread, count, (*env).has_process()) else {
            return (*env).raise(am::BADARG.into());
        };
        let key = Key { name, arity: count as u8, pointer: function as usize, thread };
        let arguments = &mut (*env).rare().arguments;
        arguments.clear();
        if count > 0 {
            arguments.extend_from_slice(std::slice::from_raw_parts(args, count as usize));
        }
        (*env).outcome = Left::Scheduled(schedule::of(&*env, key));
        crate::env::NO_TERM
    }
    fn enif_thread_type() -> c_int {
        match dirty::kind() {
            Some(0) => DIRTY_CPU_SCHEDULER,
            Some(_) => DIRTY_IO_SCHEDULER,
            None if sched::on_scheduler() => NORMAL_SCHEDULER,
            None => UNDEFINED,
        }
    }
}
