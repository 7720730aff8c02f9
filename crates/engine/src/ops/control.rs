//! Functions of module erlang that act on the calling frame: hibernate, raise, load_nif, on_load.

use crate::ctx::{Ctx, OUT_WAIT, continuation};
use crate::ops::errors::raise;
use crate::{goto, load, next, ops, save};
use heddle_runtime::CollectionKind;
use heddle_runtime::process::{Exception, ExceptionClass, FLAG_HIBERNATES, Outcome, Process};
use heddle_runtime::{code, gc, handle, long_gc, spawn};
use heddle_term::{Term, am};

ops! {
    // hibernate(X0, X1, X2): waits with an empty stack, then applies.
    #[cold]
    fn hibernate(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let arguments = heddle_term::list::length((*c).x[2]);
        if !((*c).x[0].is_atom() && (*c).x[1].is_atom() && arguments.is_some_and(|n| n <= crate::ctx::X_REGISTERS)) {
            let too_many = (*c).x[0].is_atom() && (*c).x[1].is_atom() && arguments.is_some();
            let reason = if too_many { am::SYSTEM_LIMIT } else { am::BADARG };
            p.exception = Exception { reason: reason.into(), ..Exception::NONE };
            (*c).fault = heddle_runtime::exports::get(heddle_term::Mfa { module: am::ERLANG, function: am::HIBERNATE, arity: 3 });
            (*c).fault_args = p.heap.list(&(&(*c).x)[..3]);
            h = p.heap.htop;
            return raise(ip, c, h, s, r);
        }
        if long_gc::is_long(p, CollectionKind::Major) {
            crate::ctx::leave_at(c, ip, 3, r);
            return crate::ctx::OUT_DIRTY_CPU;
        }
        lie_down(p, &mut (&mut (*c).x)[..3]);
        p.messages.restart();
        p.shared().state.clear_active();
        (*c).left = r;
        // Signals in the inbox are handled when the process continues: only a message among them wakes it.
        let hibernates = p.messages.is_empty();
        p.flags |= if hibernates { FLAG_HIBERNATES } else { 0 };
        if !hibernates || p.shared().state.has_signals() { crate::ctx::OUT_YIELD } else { OUT_WAIT }
    }

    // erlang:raise(X0, X1, X2); wrong arguments give badarg as value.
    fn raise_3(ip, c, h, s, r) {
        let class = match (*c).x[0].as_atom() {
            Some(am::ERROR) => ExceptionClass::Error,
            Some(am::EXIT) => ExceptionClass::Exit,
            Some(am::THROW) => ExceptionClass::Throw,
            _ => {
                (*c).x[0] = am::BADARG.into();
                next!(ip, c, h, s, r; 1)
            }
        };
        if !valid_trace((*c).x[2]) {
            (*c).x[0] = am::BADARG.into();
            next!(ip, c, h, s, r; 1)
        }
        let p = save!(c, h, s);
        let trace = cut_trace(p, (*c).x[2]);
        p.exception = Exception { class, reason: (*c).x[1], trace, ..Exception::NONE };
        h = p.heap.htop;
        return raise(ip, c, h, s, r);
    }

    // load_nif(X0 path, X1 info) called in a module: module
    #[cold]
    fn load_nif(ip, c, h, s, r) {
        let p = save!(c, h, s);
        if !load_library(c, p, ip) {
            h = p.heap.htop;
            return raise(ip, c, h, s, r);
        }
        load!(c, h, s);
        next!(ip, c, h, s, r; 2)
    }

    // call_on_load_function(X0 module)
    #[cold]
    fn call_on_load(ip, c, h, s, r) {
        let target = on_load_entry((*c).x[0]);
        if target.is_null() {
            let p = save!(c, h, s);
            p.exception = Exception { reason: am::BADARG.into(), ..Exception::NONE };
            return raise(ip, c, h, s, r);
        }
        s = s.sub(1);
        *s = continuation(ip.add(1));
        goto!(target, c, h, s, r)
    }
}

/// Sets X0 to the result of `load_nif/2`. Returns false if it raises.
///
/// # Safety
/// X0 and X1 hold the arguments; the process was saved.
#[inline(never)]
// SAFETY: the operation `load_nif` calls it, at whose call the registers hold the arguments.
unsafe fn load_library(c: *mut Ctx, p: &mut Process, ip: *const u64) -> bool {
    // SAFETY: a process runs; the cells are those of `load_nif`.
    unsafe {
        let module = Term::from_raw(*ip.add(1)).as_atom().unwrap_or(am::UNDEFINED);
        match crate::code_natives::load_nif(p, module, ip, (*c).x[0], (*c).x[1]) {
            Ok(result) => {
                (*c).x[0] = result;
                crate::collect::after_native(c, 1);
                true
            }
            Err(_) => {
                (*c).fault = heddle_runtime::exports::get(heddle_term::Mfa { module: am::ERLANG, function: am::LOAD_NIF, arity: 2 });
                (*c).fault_args = p.heap.list(&(&(*c).x)[..2]);
                false
            }
        }
    }
}

fn on_load_entry(module: Term) -> *const u64 {
    let Some(module) = module.as_atom() else { return std::ptr::null() };
    code::with_module(module, |m| match &m.pending {
        Some(instance) => match instance.on_load {
            Some(offset) => instance.code.as_ptr().wrapping_add(offset as usize),
            None => std::ptr::null(),
        },
        None => std::ptr::null(),
    })
}

/// Frames as erlang:raise/3 accepts them: a proper list of {M, F, A}, {M, F, A, Location}, {Fun, Args} or {Fun, Args, Location}. (Never the
/// raw trace of an exception: the compiler hands that over with `raw_raise`.)
fn valid_trace(trace: Term) -> bool {
    let mut t = trace;
    while t.is_cons() {
        let Some(frame) = t.head().as_tuple() else { return false };
        // Arity and arguments may be anything.
        let ok = match frame {
            [m, f, _] if m.is_atom() => f.is_atom(),
            [f, _] => f.is_fun(),
            [f, _, location] => f.is_fun() && location.is_list(),
            [m, f, _, location] => m.is_atom() && f.is_atom() && location.is_list(),
            _ => false,
        };
        if !ok {
            return false;
        }
        t = t.tail();
    }
    t.is_nil()
}

/// The trace with three-element frames completed, cut to the backtrace depth.
fn cut_trace(p: &mut heddle_runtime::Process, trace: Term) -> Term {
    let depth = crate::ops::errors::depth();
    let mut frames = Vec::new();
    let mut t = trace;
    while t.is_cons() && frames.len() < depth {
        let frame = t.head();
        frames.push(match frame.as_tuple() {
            Some([m, f, a]) if m.is_atom() => p.heap.tuple(&[*m, *f, *a, Term::NIL]),
            Some([f, a]) => p.heap.tuple(&[*f, *a, Term::NIL]),
            _ => frame,
        });
        t = t.tail();
    }
    p.heap.list(&frames)
}

/// erlang:raise/3 reached through apply.
pub fn raise_native(p: &mut heddle_runtime::Process, a: &[Term]) -> heddle_runtime::NativeResult {
    let class = match a[0].as_atom() {
        Some(am::ERROR) => ExceptionClass::Error,
        Some(am::EXIT) => ExceptionClass::Exit,
        Some(am::THROW) => ExceptionClass::Throw,
        _ => return Ok(am::BADARG.into()),
    };
    if !valid_trace(a[2]) {
        return Ok(am::BADARG.into());
    }
    let trace = cut_trace(p, a[2]);
    p.exception = Exception { class, reason: a[1], trace, ..Exception::NONE };
    Err(heddle_runtime::Thrown::Exception)
}

/// Reduces the process to what `hibernate` keeps: module, function and arguments, applied when it continues.
pub(crate) fn lie_down(p: &mut Process, mfa: &mut [Term]) {
    gc::hibernate(p, mfa);
    let entry = spawn::ENTRY_POINTS.get().expect("engine started");
    // SAFETY: `gc::hibernate` leaves an empty stack with room for at least this.
    unsafe {
        p.stop = p.stop.sub(1);
        *p.stop = continuation(entry.exit);
    }
    p.sync_limit();
    p.ip = entry.apply;
    p.saved.clear();
    p.saved.extend_from_slice(mfa);
}

/// A hibernating process was woken: `None` if there is a message, so that it continues. Other signals do not end the hibernation.
pub(crate) fn still_hibernating(p: &mut Process) -> Option<Outcome> {
    loop {
        if !p.messages.is_empty() {
            return None;
        }
        if !p.heap.fragments.is_null() {
            let mut mfa = [p.saved[0], p.saved[1], p.saved[2]];
            lie_down(p, &mut mfa);
        }
        p.shared().state.clear_active();
        if !p.shared().state.has_signals() {
            return Some(Outcome::Wait);
        }
        if handle::drain(p) == handle::After::Exit {
            return Some(Outcome::Exit);
        }
    }
}
