//! Calls of the C functions of a library, from the engine.

use crate::env::{Env, EnvKind, Left};
use crate::library::Library;
use heddle_io::ports::flush::Unfinished;
use heddle_runtime::code::nifs::{NifFunction, NifThread};
use heddle_runtime::dirty;
use heddle_runtime::process::{Exception, NativeResult, Process, Thrown};
use heddle_term::{Heap, Term};
use libc::c_int;
use std::mem::ManuallyDrop;

pub type CFunction = unsafe extern "C" fn(*mut Env, c_int, *const Term) -> Term;

/// What the engine calls for a function of that kind. `delays_halt`: the VM does not halt while the function runs.
pub fn of_thread(thread: NifThread, delays_halt: bool) -> unsafe fn(&NifFunction, &mut Process, &[Term], i64) -> NativeResult {
    match (thread, delays_halt) {
        (NifThread::Scheduler, false) => on_scheduler,
        (NifThread::Scheduler, true) => on_scheduler_before_halt,
        (NifThread::DirtyCpu | NifThread::DirtyIo, false) => on_dirty_thread,
        (NifThread::DirtyCpu | NifThread::DirtyIo, true) => on_dirty_thread_before_halt,
    }
}

/// # Safety
/// As `on_scheduler`.
// SAFETY: as `on_scheduler`.
unsafe fn on_scheduler_before_halt(function: &NifFunction, p: &mut Process, args: &[Term], left: i64) -> NativeResult {
    let _unfinished = Unfinished::begin();
    // SAFETY: by contract.
    unsafe { on_scheduler(function, p, args, left) }
}

/// # Safety
/// As `on_scheduler`.
// SAFETY: as `on_scheduler`.
unsafe fn on_dirty_thread_before_halt(function: &NifFunction, p: &mut Process, args: &[Term], left: i64) -> NativeResult {
    let _unfinished = Unfinished::begin();
    // SAFETY: by contract.
    unsafe { on_dirty_thread(function, p, args, left) }
}

pub fn pointer_of(function: &NifFunction) -> CFunction {
    // SAFETY: the address of a C function of this type, from the entry of a library or from `enif_schedule_nif`.
    unsafe { std::mem::transmute::<usize, CFunction>(function.pointer) }
}

/// # Safety
/// The function's library is loaded.
// SAFETY: the engine calls it through the code of the module that loaded the library.
unsafe fn on_scheduler(function: &NifFunction, p: &mut Process, args: &[Term], left: i64) -> NativeResult {
    // Most calls leave nothing to drop, and then nothing is called for that.
    let mut env = ManuallyDrop::new(Env::of_process(p, function.library.cast(), left));
    // SAFETY: by contract; the environment is there during the call.
    let result = unsafe { pointer_of(function)(&mut *env, c_int::from(function.arity), args.as_ptr()) };
    if env.is_as_made() && !result.is_none() {
        return Ok(result);
    }
    let env = ManuallyDrop::into_inner(env);
    match env.outcome {
        Left::Nothing if !result.is_none() => Ok(result),
        _ => Err(unusual(p, function, args, env, result)),
    }
}

/// On a dirty thread the function may take any time: it builds terms on a heap of its own, and meanwhile other threads may handle the
/// signals of the process.
///
/// # Safety
/// As `on_scheduler`.
// SAFETY: as `on_scheduler`.
unsafe fn on_dirty_thread(function: &NifFunction, p: &mut Process, args: &[Term], _: i64) -> NativeResult {
    let mut heap = Heap::new();
    let library = function.library.cast::<Library>();
    let mut env = Env::of_process(p, library, 0);
    env.kind = EnvKind::Dirty;
    env.heap = &raw mut heap;
    // SAFETY: the code that called this keeps the library loaded; held, it stays so even if the process ends and its code is purged.
    unsafe { (*library).hold() };
    let result = dirty::detached(p, || {
        // SAFETY: as `on_scheduler`; arguments do not move while the process is detached.
        unsafe { pointer_of(function)(&mut env, c_int::from(function.arity), args.as_ptr()) }
    });
    let result = finish_dirty(p, function, args, env, result);
    heap.clear();
    // SAFETY: held above, so the library is loaded until here.
    unsafe { (*library).release() };
    result
}

/// Copies what is left of a dirty NIF to the heap of the process.
fn finish_dirty(p: &mut Process, function: &NifFunction, args: &[Term], mut env: Env, result: Term) -> NativeResult {
    env.heap = &raw mut p.heap;
    match env.outcome {
        Left::Nothing if !result.is_none() => return Ok(p.heap.copy(result)),
        Left::Nothing => {}
        Left::Exception(reason) => env.outcome = Left::Exception(p.heap.copy(reason)),
        Left::Scheduled(_) => env.rare().arguments.iter_mut().for_each(|term| *term = p.heap.copy(*term)),
    }
    Err(unusual(p, function, args, env, result))
}

/// `{Module, Function, Arguments}` of the call that the program made.
fn call_of(p: &mut Process, function: &NifFunction, args: &[Term]) -> Term {
    let arity = usize::from(function.arity);
    if let Some(&call) = args.get(arity) {
        return call;
    }
    // SAFETY: the library is loaded.
    let module = unsafe { (*function.library.cast::<Library>()).module };
    let args = p.heap.list(args);
    p.heap.tuple(&[module.into(), function.name.into(), args])
}

/// A call that left an exception or another function to be called, or returned no term.
#[cold]
fn unusual(p: &mut Process, function: &NifFunction, args: &[Term], mut env: Env, result: Term) -> Thrown {
    match env.outcome {
        Left::Exception(reason) => {
            p.exception = Exception { reason, ..Exception::NONE };
            Thrown::Exception
        }
        Left::Scheduled(scheduled) => {
            // SAFETY: what is scheduled lives as long as its library.
            p.trap_export = unsafe { (*scheduled).export() };
            p.trap_args.clear();
            p.trap_args.extend_from_slice(&env.rare().arguments);
            let call = call_of(p, function, args);
            p.trap_args.push(call);
            Thrown::Trap
        }
        Left::Nothing => {
            debug_assert!(result.is_none());
            // SAFETY: the library is loaded.
            let module = unsafe { (*function.library.cast::<Library>()).module };
            let (name, arity, pid) = (function.name.name(), function.arity, p.pid_term());
            let pid = heddle_term::text::display::to_string(pid);
            heddle_runtime::exit::log_message(
                "error",
                &format!("NIF {}:{name}/{arity}, called by process {pid}, returned no term and raised no exception", module.name()),
            );
            p.badarg()
        }
    }
}
