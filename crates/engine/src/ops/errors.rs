//! Exceptions: raising, finding the handler, stack traces.
//!
//! Raising collects return addresses into a raw trace (cheap); `build_stacktrace` turns it into the list that programs see.
//! A raw trace is a tuple `{Words, Args, Fault, Info, Class, Rest}`: code addresses as the digits of an integer, argument list of the first
//! frame or [], address of the failed native's export or 0 (a small), its error_info map or [], the class of exception that it was made for, and how
//! many words of the stack were not looked at. Those are of the handler's frame and of its callers, which are there as long as the handler's function has
//! the trace. Most handlers never ask for it.

use crate::ctx::{Ctx, OUT_EXIT, any, continuation, put};
use crate::ops::tracing;
use crate::run::ended_by_limit;
use crate::{goto, load, next, ops, save};
use heddle_runtime::places::{self, CodePlace};
use heddle_runtime::process::{Exception, ExceptionClass, Process};
use heddle_runtime::stack;
use heddle_term::code_cell::Mfa;
use heddle_term::{Export, Heap, Term, am, map};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;

ops! {
    // The exception is in `p.exception`, the failed native in `fault`. `ip` is where it happened.
    #[cold]
    fn raise(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let handler = unwind(c, p, ip);
        load!(c, h, s);
        if handler.is_null() {
            return uncaught(ip, c, h, s, r);
        }
        goto!(handler, c, h, s, r)
    }

    #[cold]
    fn uncaught(ip, c, h, s, r) {
        let p = save!(c, h, s);
        if ended_by_limit(p) {
            (*c).left = r;
            return OUT_EXIT;
        }
        let class = p.exception.class;
        let reason = p.exception.reason;
        let trace = if class == ExceptionClass::Exit { Term::NIL } else { build_trace(p, p.exception.trace) };
        p.exit_reason = heddle_runtime::exit::uncaught_reason(p, class, reason, trace);
        heddle_runtime::exit::log_uncaught(p, class);
        (*c).left = r;
        OUT_EXIT
    }

    // A native returned ExitNow: no handler is used.
    #[cold]
    fn exit_now(ip, c, h, s, r) {
        save!(c, h, s);
        (*c).left = r;
        OUT_EXIT
    }

    // ---- raising instructions ----

    // value
    #[cold]
    fn badmatch(ip, c, h, s, r) {
        let value = any(*ip.add(1), c, s);
        return raise_tagged(c, h, s, r, ip, am::BADMATCH, value);
    }
    #[cold]
    fn case_end(ip, c, h, s, r) {
        let value = any(*ip.add(1), c, s);
        return raise_tagged(c, h, s, r, ip, am::CASE_CLAUSE, value);
    }
    #[cold]
    fn try_case_end(ip, c, h, s, r) {
        let value = any(*ip.add(1), c, s);
        return raise_tagged(c, h, s, r, ip, am::TRY_CLAUSE, value);
    }
    #[cold]
    fn badrecord(ip, c, h, s, r) {
        let value = any(*ip.add(1), c, s);
        return raise_tagged(c, h, s, r, ip, am::BADRECORD, value);
    }
    #[cold]
    fn if_end(ip, c, h, s, r) {
        let p = save!(c, h, s);
        p.exception = Exception { reason: am::IF_CLAUSE.into(), ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }

    // ---- catch and try ----

    // Y slot, handler
    fn catch(ip, c, h, s, r) {
        put(*ip.add(1), c, s, marker(*ip.add(2) as *const u64));
        next!(ip, c, h, s, r; 3)
    }
    // Y slot
    fn try_end(ip, c, h, s, r) {
        put(*ip.add(1), c, s, Term::NIL);
        next!(ip, c, h, s, r; 2)
    }
    // Y slot: the value is in X0, or X0 is NONE and class, reason, trace follow.
    fn catch_end(ip, c, h, s, r) {
        put(*ip.add(1), c, s, Term::NIL);
        if (*c).x[0].is_none() {
            return catch_end_slow(ip, c, h, s, r);
        }
        next!(ip, c, h, s, r; 2)
    }
    #[cold]
    fn catch_end_slow(ip, c, h, s, r) {
        let p = save!(c, h, s);
        (*c).x[0] = caught(p, (*c).x[1], (*c).x[2], (*c).x[3]);
        crate::collect::after_native(c, 1);
        load!(c, h, s);
        next!(ip, c, h, s, r; 2)
    }
    // Y slot: class, reason, trace to X0, X1, X2.
    fn try_case(ip, c, h, s, r) {
        put(*ip.add(1), c, s, Term::NIL);
        (*c).x[0] = (*c).x[1];
        (*c).x[1] = (*c).x[2];
        (*c).x[2] = (*c).x[3];
        next!(ip, c, h, s, r; 2)
    }
    // X0: raw trace to list.
    fn build_stacktrace(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let trace = (*c).x[0];
        (*c).x[0] = build_trace(p, trace);
        crate::collect::after_native(c, 1);
        load!(c, h, s);
        next!(ip, c, h, s, r; 1)
    }
    // trace (raw), reason
    #[cold]
    fn raise_again(ip, c, h, s, r) {
        let (trace, reason) = (any(*ip.add(1), c, s), any(*ip.add(2), c, s));
        let p = save!(c, h, s);
        // The class comes from the trace.
        p.exception = Exception { class: trace_class(trace), reason, trace, ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }
    // X0 class, X1 reason, X2 trace (raw or list)
    #[cold]
    fn raw_raise(ip, c, h, s, r) {
        let class = match (*c).x[0].as_atom() {
            Some(am::ERROR) => ExceptionClass::Error,
            Some(am::EXIT) => ExceptionClass::Exit,
            Some(am::THROW) => ExceptionClass::Throw,
            _ => {
                (*c).x[0] = am::BADARG.into();
                next!(ip, c, h, s, r; 1)
            }
        };
        let p = save!(c, h, s);
        p.exception = Exception { class, reason: (*c).x[1], trace: (*c).x[2], ..Exception::NONE };
        return raise(ip, c, h, s, r);
    }

    // X0 module, X1 function, X2 arguments of a function that does not exist: error_handler, or undef.
    #[cold]
    fn undefined_function(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let target = handler(c, p, am::UNDEFINED_FUNCTION);
        if target.is_null() {
            return raise(ip, c, h, s, r);
        }
        goto!(target, c, h, s, r)
    }
}

// What follows is not inlined: memory in the frame of an operation would cost it its tail calls.

/// The value that `catch` returns for an exception.
#[inline(never)]
fn caught(p: &mut Process, class: Term, reason: Term, trace: Term) -> Term {
    if class.is_atom_of(am::THROW) {
        reason
    } else if class.is_atom_of(am::ERROR) {
        let trace = build_trace(p, trace);
        let inner = p.heap.tuple(&[reason, trace]);
        p.heap.tuple(&[am::EXIT_UPPER.into(), inner])
    } else {
        p.heap.tuple(&[am::EXIT_UPPER.into(), reason])
    }
}

/// The code of a function of the error handler, for the call named by X0 to X2. Null, with the exception set, while there is none.
///
/// # Safety
/// The first three registers hold module, function and arguments.
#[inline(never)]
pub(crate) unsafe fn handler(c: *mut Ctx, p: &mut Process, function: heddle_term::Atom) -> *const u64 {
    // SAFETY: the three registers are in use.
    unsafe {
        let handler = heddle_runtime::exports::get(Mfa { module: p.error_handler, function, arity: 3 });
        if heddle_runtime::exports::is_loaded(handler) {
            return handler.entry.load(Ordering::Acquire);
        }
        // The frame of the missing function with its arguments.
        let mfa_args = (*c).x[2];
        let (module, function) = ((*c).x[0].as_atom().unwrap_or(am::ERLANG), (*c).x[1].as_atom().unwrap_or(am::UNDEFINED));
        let mut arity = 0u8;
        let mut list = mfa_args;
        while list.is_cons() {
            arity = arity.saturating_add(1);
            list = list.tail();
        }
        p.exception = Exception { reason: am::UNDEF.into(), info: Term::NIL, ..Exception::NONE };
        (*c).fault = heddle_runtime::exports::get(Mfa { module, function, arity });
        (*c).fault_args = mfa_args;
        std::ptr::null()
    }
}

/// error:{Tag, Value}
unsafe fn raise_tagged(c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64, ip: *const u64, tag: heddle_term::Atom, value: Term) -> u64 {
    // SAFETY: called by operations with their own state.
    unsafe {
        let p = save!(c, h, s);
        let reason = p.heap.tuple(&[tag.into(), value]);
        p.exception = Exception { reason, ..Exception::NONE };
        raise(ip, c, p.heap.htop, s, r)
    }
}

/// Marker for a stack slot: the handler's address.
pub fn marker(handler: *const u64) -> Term {
    Term::catch_marker(handler as u64 >> 3)
}

/// Completes the exception's trace, cuts the stack to the frame of the innermost handler and sets X0 to X3 for it. Returns null if there is
/// no handler.
#[inline(never)]
unsafe fn unwind(c: *mut Ctx, p: &mut Process, ip: *const u64) -> *const u64 {
    // SAFETY: the stack between `stop` and `end` is initialised.
    unsafe {
        if p.exception.trace.is_none() {
            p.exception.trace = raw_trace(c, p, ip);
        } else if p.exception.trace.is_list() {
            // A trace that was passed as a list keeps its class beside it, for a later re-raise.
            let class = p.exception.class;
            let list = shortened(&mut p.heap, p.exception.trace);
            p.exception.trace = p.heap.tuple(&[list, class.atom().into()]);
        } else {
            raised_again(p);
        }
        (*c).fault = std::ptr::null();
        (*c).fault_args = Term::NONE;
        let mut frame = p.stop;
        let mut slot = p.stop;
        let mut return_to = Vec::new();
        while slot < p.end {
            let word = Term::from_raw(*slot);
            if word.is_catch_marker() {
                for session in return_to {
                    heddle_runtime::trace::frames::return_to(p, session, (word.payload() << 3) as *const u64);
                }
                p.stop = frame;
                (*c).x[0] = Term::NONE;
                (*c).x[1] = p.exception.class.atom().into();
                (*c).x[2] = p.exception.reason;
                (*c).x[3] = p.exception.trace;
                p.exception = Exception::NONE;
                p.sync_limit();
                return (word.payload() << 3) as *const u64;
            }
            if word.is_continuation() {
                if heddle_runtime::trace::cells::kind(word).is_some() {
                    if p.exception.class == ExceptionClass::Throw && !has_handler(p, slot) {
                        // No frame catches it: tracers get the error that it becomes.
                        let reason = p.heap.tuple(&[am::NOCATCH.into(), p.exception.reason]);
                        p.exception.class = ExceptionClass::Error;
                        p.exception.reason = reason;
                    }
                    tracing::passed_by_exception(p, slot, &mut return_to);
                }
                frame = slot.add(1);
            }
            slot = slot.add(1);
        }
        std::ptr::null()
    }
}

/// An exception with a trace that was made before: what it did not look at is about to leave the stack.
#[cold]
fn raised_again(p: &mut Process) {
    let class = trace_class(p.exception.trace);
    p.exception.trace = whole_trace(p, p.exception.trace);
    if class != p.exception.class
        && let Some(parts) = p.exception.trace.as_tuple()
    {
        // raw_raise with another class than the trace's: a later re-raise must find the new one.
        let mut parts = parts.to_vec();
        let place = if parts.len() == RAW_PARTS { CLASS } else { parts.len() - 1 };
        parts[place] = p.exception.class.atom().into();
        p.exception.trace = p.heap.tuple(&parts);
    }
}

/// True if some frame from `slot` on catches.
unsafe fn has_handler(p: &Process, mut slot: *mut u64) -> bool {
    // SAFETY: the stack between `stop` and `end` is initialised.
    unsafe {
        while slot < p.end {
            if Term::from_raw(*slot).is_catch_marker() {
                return true;
            }
            slot = slot.add(1);
        }
        false
    }
}

/// Number of frames that a trace shows, at least the innermost.
pub fn depth() -> usize {
    stack::BACKTRACE_DEPTH.load(Ordering::Relaxed).max(1)
}

/// A trace made by a program, cut to the depth that traces have.
fn shortened(heap: &mut Heap, trace: Term) -> Term {
    let frames: Vec<Term> = heddle_term::list::ListIter::new(trace).take(depth() + 1).collect();
    if frames.len() <= depth() { trace } else { heap.list(&frames[..depth()]) }
}

/// The class of exception that a raw trace was made for.
fn trace_class(trace: Term) -> ExceptionClass {
    let class = match trace.as_tuple() {
        Some([_, class]) => *class,
        Some([_, _, _, _, class, _]) => *class,
        _ => return ExceptionClass::Error,
    };
    match class.as_atom() {
        Some(am::EXIT) => ExceptionClass::Exit,
        Some(am::THROW) => ExceptionClass::Throw,
        _ => ExceptionClass::Error,
    }
}

/// Elements of a raw trace, and the place of one of them.
const RAW_PARTS: usize = 6;
const CLASS: usize = 4;

type Words = SmallVec<[u64; 16]>;

/// Adds the callers of the frames from `from` on to a trace; `has_fault` if a native failed. Returns the number of words of the stack that it did not look at: those from
/// the first handler on, if `to_handler`.
fn add_callers(p: &Process, words: &mut Words, from: *mut u64, has_fault: bool, to_handler: bool) -> usize {
    let depth = depth();
    if words.len() > depth {
        return 0;
    }
    let last = if words.len() > 1 { words.last().map_or(0, |&call| continuation((call + 8) as *const u64)) } else { 0 };
    // A recursion shows as one frame.
    let handler = stack::each_different_caller(p, from, last, to_handler, |caller| {
        // The call lies before the return address. A call that failed itself shows as two frames, unless it is a native that did.
        let call = caller as u64 - 8;
        if words.last() != Some(&call) || words.len() == 1 && !has_fault {
            words.push(call);
        }
        words.len() <= depth
    });
    handler.map_or(0, |slot| (p.end as usize - slot as usize) / 8)
}

/// `{Words, Args, Fault, Info, Class, Rest}`: see the top of this file.
unsafe fn raw_trace(c: *mut Ctx, p: &mut Process, ip: *const u64) -> Term {
    // SAFETY: as `unwind`.
    unsafe {
        let mut words = Words::new();
        words.push(ip as u64);
        let rest = add_callers(p, &mut words, p.stop, !(*c).fault.is_null(), true);
        let args = if !p.exception.args.is_none() { p.exception.args } else { (*c).fault_args };
        let args = if args.is_none() { Term::NIL } else { args };
        let info = if !p.exception.info.is_none() { p.exception.info } else { error_info(c, p) };
        let has_args = !(*c).fault_args.is_none() || !p.exception.args.is_none();
        let fault = Term::small((*c).fault as i64 >> 3);
        let words = p.heap.big_words(false, &words);
        let args = if has_args { p.heap.tuple(&[args]) } else { Term::NIL };
        p.heap.tuple(&[words, args, fault, info, p.exception.class.atom().into(), Term::small(rest as i64)])
    }
}

/// The raw trace with all callers.
fn whole_trace(p: &mut Process, trace: Term) -> Term {
    let Some(&[number, args, fault, info, class, rest]) = trace.as_tuple() else { return trace };
    let rest = rest.small_value() as usize;
    if rest == 0 {
        return trace;
    }
    let mut words: Words = (0..number.header().arity()).map(|at| number.word(at)).collect();
    // The frame of the handler's function may have become smaller.
    let from = p.end.wrapping_sub(rest).max(p.stop);
    add_callers(p, &mut words, from, fault.small_value() != 0, false);
    let words = p.heap.big_words(false, &words);
    p.heap.tuple(&[words, args, fault, info, class, Term::small(0)])
}

/// The frame information of a failed native: `[{error_info, #{module => M, cause => C}}]`.
unsafe fn error_info(c: *mut Ctx, p: &mut Process) -> Term {
    // SAFETY: `fault` is null or an immortal export.
    unsafe {
        if (*c).fault.is_null() || p.exception.class != ExceptionClass::Error {
            return Term::NIL;
        }
        let module = match error_module((*(*c).fault).mfa.module) {
            Some(module) => module,
            None => return Term::NIL,
        };
        let heap = &mut p.heap;
        let mut info = map::put(heap, map::empty(), am::MODULE.into(), module.into());
        if !p.exception.cause.is_none() {
            info = map::put(heap, info, am::CAUSE.into(), p.exception.cause);
        }
        let pair = heap.tuple(&[am::ERROR_INFO.into(), info]);
        heap.list(&[pair])
    }
}

/// The module that explains errors of natives of `module`.
fn error_module(module: heddle_term::Atom) -> Option<heddle_term::Atom> {
    Some(match module.name() {
        "erlang" | "erts_internal" | "atomics" | "counters" | "persistent_term" => am::ERL_ERTS_ERRORS,
        "lists" | "maps" | "ets" | "binary" | "unicode" | "re" | "math" | "io" => am::ERL_STDLIB_ERRORS,
        "os" | "code" | "erl_ddll" | "file" => am::ERL_KERNEL_ERRORS,
        // These modules explain their errors themselves.
        "heddle_sched" | "heddle_task" => module,
        _ => return None,
    })
}

/// The list that programs see.
pub fn build_trace(p: &mut Process, trace: Term) -> Term {
    let trace = whole_trace(p, trace);
    let heap = &mut p.heap;
    let Some(parts) = trace.as_tuple() else { return if trace.is_none() { Term::NIL } else { trace } };
    if let [list, _] = parts {
        return *list;
    }
    let [words, args, fault, info, ..] = parts else { return Term::NIL };
    let depth = depth();
    let mut frames: SmallVec<[Term; 16]> = SmallVec::new();
    let mut first_args = args.as_tuple().map(|t| t[0]);
    let fault = fault.small_value() << 3;
    if fault != 0 {
        // SAFETY: exports are immortal.
        let mfa = unsafe { (*(fault as *const Export)).mfa };
        let arity = first_args.take().unwrap_or(Term::small(mfa.arity as i64));
        let location = if info.is_list() { *info } else { Term::NIL };
        frames.push(heap.tuple(&[mfa.module.into(), mfa.function.into(), arity, location]));
    }
    for i in 0..words.header().arity() {
        if frames.len() >= depth {
            break;
        }
        let address = words.word(i) as *const u64;
        places::with(address, |place| {
            let Some(place) = place else { return };
            if i == 0 && (is_native_entry(place.code) || fault != 0 && is_nif(place.code)) {
                return;
            }
            // The program's arguments belong to the first frame that shows: the caller's, where a native was applied.
            let first = frames.is_empty();
            let arity = first_args.filter(|_| first).unwrap_or(Term::small(place.mfa.arity as i64));
            // error/3 and bit syntax: the explanation follows the place.
            let extra = if first && info.is_cons() { *info } else { Term::NIL };
            let location = if i == 0 && is_nif(place.code) { extra } else { location(heap, place, extra) };
            frames.push(heap.tuple(&[place.mfa.module.into(), place.mfa.function.into(), arity, location]));
        });
    }
    heap.list(&frames)
}

fn is_native_entry(cell: u64) -> bool {
    cell == crate::ops::natives::native_body as *const () as u64
}

/// As in stock, the frame of a NIF that failed shows no line.
fn is_nif(cell: u64) -> bool {
    cell == crate::ops::nifs::nif_again as *const () as u64
}

fn location(heap: &mut Heap, place: &CodePlace, rest: Term) -> Term {
    let Some((file, line)) = &place.line else { return rest };
    let file = heap.string(file);
    let file = heap.tuple(&[am::FILE.into(), file]);
    let line = heap.tuple(&[am::LINE.into(), Term::small(*line as i64)]);
    heap.list_with_tail(&[file, line], rest)
}
