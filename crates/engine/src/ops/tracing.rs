//! Operations that tracing puts into code and under frames: see `heddle_runtime::trace`.

use crate::collect::make_room;
use crate::ctx::{Ctx, OpFn, continuation, continuation_target, entry_arity, fits};
use crate::ops::bits::match_ctx::{Context, slice};
use crate::ops::errors::{handler, raise};
use crate::{goto, load, ops, save};
use heddle_runtime::process::Process;
use heddle_runtime::stack;
use heddle_runtime::trace::breakpoints::{self, Breakpoint, Push};
use heddle_runtime::trace::cells::{CELLS, Cells, FrameKind, WORDS};
use heddle_runtime::trace::frames;
use heddle_runtime::trace::meter::MeterKind;
use heddle_term::{Heap, Kind, Term, am};
use std::sync::atomic::{AtomicU64, Ordering};

/// Continues where the frame below the trace frame, which has been removed, returns to.
macro_rules! pass_on {
    ($c:ident, $h:ident, $s:ident, $r:ident) => {{
        load!($c, $h, $s);
        let target = continuation_target(*$s);
        $s = $s.add(1);
        goto!(target, $c, $h, $s, $r)
    }};
}

ops! {
    // In a traced function's first cell: reports the call, then runs the operation that belongs there.
    #[cold]
    fn trace_breakpoint(ip, c, h, s, r) {
        let original = breakpoint(ip, c, h, s);
        load!(c, h, s);
        return std::mem::transmute::<u64, OpFn>(original)(ip, c, h, s, r);
    }
    // Instead of a function that the debugger has stopped: error_handler:breakpoint(Module, Function, Arguments).
    #[cold]
    fn debugged(ip, c, h, s, r) {
        let p = save!(c, h, s);
        name_call(ip, c);
        let target = handler(c, p, am::BREAKPOINT);
        if target.is_null() {
            return raise(ip, c, p.heap.htop, s, r);
        }
        crate::collect::after_native(c, 3);
        load!(c, h, s);
        goto!(target, c, h, s, r)
    }
    // The trampoline of an export: entry of the function.
    #[cold]
    fn trace_export(ip, c, h, s, r) {
        through_export(ip, c, h, s);
        load!(c, h, s);
        let target = *ip.add(1) as *const u64;
        goto!(target, c, h, s, r)
    }
    // A traced function returned; its trace frame is on top.
    #[cold]
    fn trace_returned(ip, c, h, s, r) {
        tell_returned(c, h, s);
        pass_on!(c, h, s, r)
    }
    #[cold]
    fn trace_time(ip, c, h, s, r) {
        tell_left(c, h, s, MeterKind::Time);
        pass_on!(c, h, s, r)
    }
    #[cold]
    fn trace_memory(ip, c, h, s, r) {
        tell_left(c, h, s, MeterKind::Memory);
        pass_on!(c, h, s, r)
    }
    // A return address that the collector marked: continues at its target.
    #[cold]
    fn mark_returned(ip, c, h, s, r) {
        let target = stack::returned_through(&mut *(*c).p, s);
        goto!(target, c, h, s, r)
    }
    #[cold]
    fn trace_return_to(ip, c, h, s, r) {
        tell_return_to(c, h, s);
        pass_on!(c, h, s, r)
    }
}

/// Registers the operations with the runtime.
pub fn install() {
    // Laid out as functions: a header that is not used, then the operation.
    let cells = [trace_returned, trace_returned, trace_return_to, trace_time, trace_memory, mark_returned]
        .map(|op: OpFn| [0u64, Term::NIL.raw(), Term::NIL.raw(), 0, op as *const () as u64]);
    let cells = Box::leak(Box::new(cells));
    let row = cells.as_flattened().as_ptr_range();
    let [returned, returned_or_raised, return_to, time, memory, mark] = cells.each_ref().map(|cell| &raw const cell[4]);
    let _ = CELLS.set(Cells {
        breakpoint: trace_breakpoint as *const () as u64,
        trampoline: trace_export as *const () as u64,
        returned,
        returned_or_raised,
        return_to,
        time,
        memory,
        mark,
        row,
    });
}

/// Reports the call at `ip`. Returns the operation that belongs there.
#[inline(never)]
unsafe fn breakpoint(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: called by the operation with its own state; `ip` is a function's entry.
    unsafe {
        save!(c, h, s);
        let Some(breakpoint) = breakpoints::at(ip) else {
            // The breakpoint was removed since the operation was read: by now the cell holds its own operation again.
            // Acquire: pairs with the Release of `breakpoints::install`.
            return (*(ip as *const AtomicU64)).load(Ordering::Acquire);
        };
        call(ip, c, breakpoint, false);
        if breakpoint.debugged.load(Ordering::Acquire) {
            return debugged as *const () as u64;
        }
        breakpoint.original
    }
}

#[inline(never)]
unsafe fn through_export(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: as `breakpoint`; a trampoline has a function's header.
    unsafe {
        save!(c, h, s);
        if let Some(breakpoint) = breakpoints::at(*ip.add(1) as *const u64) {
            call(ip, c, breakpoint, true);
        }
    }
}

/// X0 to X2 become module, function and arguments of the call at `ip`.
///
/// # Safety
/// The caller is an operation at a function's entry, and has saved its state.
#[inline(never)]
unsafe fn name_call(ip: *const u64, c: *mut Ctx) {
    // SAFETY: a function's header is before its entry, the callee's arguments are in the X registers; nothing collects here.
    unsafe {
        let heap = &mut (*(*c).p).heap;
        let (module, function) = (Term::from_raw(*ip.sub(3)), Term::from_raw(*ip.sub(2)));
        let mut arguments = Term::NIL;
        for at in (0..entry_arity(ip)).rev() {
            let term = plain(heap, (*c).x[at]);
            arguments = heap.cons(term, arguments);
        }
        ((*c).x[0], (*c).x[1], (*c).x[2]) = (module, function, arguments);
    }
}

/// A function may be called with a match context where the program has a bitstring: returns the rest of the bitstring.
fn plain(heap: &mut Heap, term: Term) -> Term {
    if !term.is_kind(Kind::MatchCtx) {
        return term;
    }
    let context = Context::of(term);
    // SAFETY: it is one, and its original is reachable from the caller's roots.
    unsafe { slice(heap, context.original(), context.at(), context.left()) }
}

unsafe fn call(ip: *const u64, c: *mut Ctx, breakpoint: &Breakpoint, through_export: bool) {
    // The functions called here allocate nothing in the process, so the slice of registers stays valid.
    // SAFETY: the callee's arguments are in the X registers.
    unsafe {
        if breakpoints::only_counted(&*(*c).p, breakpoint, through_export) {
            return;
        }
        let arity = entry_arity(ip);
        let registers = std::slice::from_raw_parts((&raw const (*c).x).cast::<Term>(), arity);
        let mut scratch = Heap::new();
        // A function that is only metered needs no arguments.
        let wanted = if breakpoints::tells(breakpoint) { registers } else { &[] };
        let arguments: Vec<Term> = wanted.iter().map(|&term| plain(&mut scratch, term)).collect();
        let pushes = breakpoints::called(&mut *(*c).p, breakpoint, through_export, &arguments);
        scratch.clear();
        for push in pushes {
            push_frame(c, arity, breakpoint, push);
        }
        (*(*c).p).sync_limit();
    }
}

/// The process is only borrowed between collections, which have a borrow of their own.
unsafe fn push_frame(c: *mut Ctx, live: usize, breakpoint: &Breakpoint, (kind, session, tracer): Push) {
    // SAFETY: the stack has an initialised word on top: the return address.
    unsafe {
        let cells = CELLS.get().expect("installed");
        if !fits((*(*c).p).heap.htop, (*(*c).p).stop, WORDS + 1) {
            make_room(c, WORDS + 1, live);
        }
        let p = &mut *(*c).p;
        let cell = match kind {
            FrameKind::Returned => cells.returned,
            FrameKind::ReturnedOrRaised => cells.returned_or_raised,
            FrameKind::ReturnTo => cells.return_to,
            FrameKind::Time => cells.time,
            FrameKind::Memory => cells.memory,
        };
        let mfa = breakpoint.mfa;
        let words = [mfa.module.into(), mfa.function.into(), Term::small(mfa.arity as i64), session, Term::bool(true)];
        p.stop = p.stop.sub(WORDS + 1);
        *p.stop = continuation(cell);
        for (i, word) in words.into_iter().enumerate() {
            *p.stop.add(1 + i) = word.raw();
        }
        if let Some(tracer) = tracer {
            // The frame is on the stack, so the heap ends below it.
            p.sync_limit();
            *p.stop.add(WORDS) = tracer.frame_term(&mut p.heap).raw();
        }
    }
}

/// Removes the frame that begins at `s`.
unsafe fn take_frame(c: *mut Ctx, h: *mut u64, s: *mut u64) -> (&'static mut Process, [Term; WORDS]) {
    // SAFETY: the frame was made by `push_frame`.
    unsafe {
        let frame = std::array::from_fn(|i| Term::from_raw(*s.add(i)));
        let s = s.add(WORDS);
        let p = save!(c, h, s);
        (p, frame)
    }
}

#[inline(never)]
unsafe fn tell_returned(c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: X0 holds the result.
    unsafe {
        let (p, frame) = take_frame(c, h, s);
        frames::returned(p, &frame, (*c).x[0]);
    }
}

#[inline(never)]
// SAFETY: the operations pass their own registers: the context, and the tops of heap and stack of the running process.
unsafe fn tell_left(c: *mut Ctx, h: *mut u64, s: *mut u64, what: MeterKind) {
    // SAFETY: as `take_frame`.
    unsafe {
        let (p, frame) = take_frame(c, h, s);
        frames::meter_left(p, &frame, what);
    }
}

#[inline(never)]
unsafe fn tell_return_to(c: *mut Ctx, h: *mut u64, s: *mut u64) {
    // SAFETY: as `take_frame`.
    unsafe {
        let (p, frame) = take_frame(c, h, s);
        let to = stack::callers(p).next().map_or(std::ptr::null(), |at| at.wrapping_sub(1));
        frames::return_to(p, frame[3], to);
    }
}

/// An exception passes the trace frame whose continuation is at `slot`.
///
/// # Safety
/// `slot` lies in the process' stack.
#[cold]
pub unsafe fn passed_by_exception(p: &mut Process, slot: *mut u64, return_to: &mut Vec<Term>) {
    // SAFETY: by contract; frames are as `push_frame` makes them.
    unsafe {
        let kind = heddle_runtime::trace::cells::kind(Term::from_raw(*slot));
        let frame: [Term; WORDS] = std::array::from_fn(|i| Term::from_raw(*slot.add(1 + i)));
        match kind {
            Some(FrameKind::ReturnedOrRaised) => {
                let (class, reason) = (p.exception.class.atom().into(), p.exception.reason);
                frames::raised(p, &frame, class, reason);
            }
            Some(FrameKind::Time) => frames::meter_left(p, &frame, MeterKind::Time),
            Some(FrameKind::Memory) => frames::meter_left(p, &frame, MeterKind::Memory),
            Some(FrameKind::ReturnTo) if !return_to.contains(&frame[3]) => return_to.push(frame[3]),
            _ => {}
        }
    }
}
