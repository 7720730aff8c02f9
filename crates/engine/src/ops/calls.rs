//! Calls and returns. Every call costs one reduction; when none are left the process yields at the callee's entry, where only
//! the arguments are live.

use crate::ctx::{Ctx, Dst, FUNC_HEADER_CELLS, OUT_SUSPENDED, OUT_YIELD, OpFn, Src, continuation, continuation_target, entry_arity};
use crate::ops::errors::{raise, undefined_function};
use crate::second_tier::{self, counted};
use crate::{enter, fusable, goto, load, ops, save};
use heddle_runtime::process::Exception;
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Export, Term, am};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The entry that a call through `export` goes to.
#[inline(always)]
unsafe fn entry(export: u64) -> *const u64 {
    // SAFETY: loaders emit addresses of immortal exports. Acquire: pairs with the store when code is published.
    unsafe { (*(export as *const Export)).entry.load(Ordering::Acquire) }
}

fusable! {
    // target
    fn call(ip, c, h, s, r; N) {
        s = s.sub(1);
        *s = continuation(ip.add(2));
        let target = *ip.add(1) as *const u64;
        enter!(target, c, h, s, r)
    }
    // frame size, target
    fn call_last(ip, c, h, s, r; N) {
        s = s.add(*ip.add(1) as usize);
        let target = *ip.add(2) as *const u64;
        enter!(target, c, h, s, r)
    }
    // target
    fn call_only(ip, c, h, s, r; N) {
        let target = *ip.add(1) as *const u64;
        enter!(target, c, h, s, r)
    }
    // export
    fn call_ext(ip, c, h, s, r; N) {
        s = s.sub(1);
        *s = continuation(ip.add(2));
        let target = entry(*ip.add(1));
        enter!(target, c, h, s, r)
    }
    // frame size, export
    fn call_ext_last(ip, c, h, s, r; N) {
        s = s.add(*ip.add(1) as usize);
        let target = entry(*ip.add(2));
        enter!(target, c, h, s, r)
    }
    // export
    fn call_ext_only(ip, c, h, s, r; N) {
        let target = entry(*ip.add(1));
        enter!(target, c, h, s, r)
    }
    // src, dst (an X register), then as `call`, `call_only`: the move that sets the last argument
    fn move_call<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, S::get(*ip.add(1), c, s));
        s = s.sub(1);
        *s = continuation(ip.add(4));
        let target = *ip.add(3) as *const u64;
        enter!(target, c, h, s, r)
    }
    fn move_call_only<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, S::get(*ip.add(1), c, s));
        let target = *ip.add(3) as *const u64;
        enter!(target, c, h, s, r)
    }
    // src, dst, frame size, target
    fn move_call_last<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, S::get(*ip.add(1), c, s));
        s = s.add(*ip.add(3) as usize);
        let target = *ip.add(4) as *const u64;
        enter!(target, c, h, s, r)
    }
    // src, dst
    fn move_return<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, S::get(*ip.add(1), c, s));
        let target = continuation_target(*s);
        s = s.add(1);
        goto!(target, c, h, s, r)
    }
    fn ret(ip, c, h, s, r; N) {
        let target = continuation_target(*s);
        s = s.add(1);
        goto!(target, c, h, s, r)
    }
}

ops! {
    // `ip` is the entry of a function with the two cells.
    fn count_call(ip, c, h, s, r) {
        let cells = ip.sub(FUNC_HEADER_CELLS + counted::CELLS);
        // Two threads that count at the same time may count one call: it is an estimate.
        let counter = &*cells.add(1).cast::<AtomicU64>();
        let left = counter.load(Ordering::Relaxed).wrapping_sub(1);
        counter.store(left, Ordering::Relaxed);
        if left == 0 {
            return count_is_full(ip, c, h, s, r);
        }
        return (*(cells as *const OpFn))(ip, c, h, s, r);
    }
    // `ip` is the entry of a function with machine code: notes that it was entered.
    fn enter_watched(ip, c, h, s, r) {
        let cells = ip.sub(FUNC_HEADER_CELLS + counted::CELLS);
        // Relaxed: it only decides if the machine code stays.
        (*cells.add(1).cast::<AtomicU64>()).store(counted::ENTERED, Ordering::Relaxed);
        return (*(cells as *const OpFn))(ip, c, h, s, r);
    }
    #[cold]
    fn count_is_full(ip, c, h, s, r) {
        second_tier::request(ip);
        return (*(ip.sub(FUNC_HEADER_CELLS + counted::CELLS) as *const OpFn))(ip, c, h, s, r);
    }

    // `ip` is a function's entry: switches the process out with the arguments, or continues if it is only a stub.
    #[cold]
    fn yield_at(ip, c, h, s, r) {
        let first = *ip;
        if [undefined_export as *const () as u64, undefined_fun as *const () as u64, purging_fun as *const () as u64].contains(&first) {
            goto!(ip, c, h, s, r)
        }
        let p = save!(c, h, s);
        crate::ctx::leave_at(c, ip, entry_arity(ip), r);
        crate::collect::tidy_saved(p);
        OUT_YIELD
    }

    // func_info: module, function, arity. No clause matched.
    #[cold]
    fn func_info(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let arity = *ip.add(3) as usize;
        let args = p.heap.list(&(&(*c).x)[..arity]);
        p.exception = Exception { reason: am::FUNCTION_CLAUSE.into(), ..Exception::NONE };
        (*c).fault_args = args;
        load!(c, h, s);
        return raise(ip, c, h, s, r);
    }

    // The stub of an export whose function is not loaded: export.
    #[cold]
    fn undefined_export(ip, c, h, s, r) {
        let export = &*(*ip.add(1) as *const Export);
        let p = save!(c, h, s);
        let mfa = export.mfa;
        let args = p.heap.list(&(&(*c).x)[..mfa.arity as usize]);
        load!(c, h, s);
        (*c).x[0] = mfa.module.into();
        (*c).x[1] = mfa.function.into();
        (*c).x[2] = args;
        return undefined_function(ip, c, h, s, r);
    }

    // The stub of a fun whose module is not loaded: fun entry. X[arity] holds the fun.
    #[cold]
    fn undefined_fun(ip, c, h, s, r) {
        let entry = &*(*ip.add(1) as *const heddle_term::FunEntry);
        let p = save!(c, h, s);
        let arity = entry.arity as usize;
        let args = p.heap.list(&(&(*c).x)[..arity]);
        let fun = (*c).x[arity + entry.num_free as usize];
        let handler = heddle_runtime::exports::get(Mfa { module: p.error_handler, function: am::UNDEFINED_LAMBDA, arity: 3 });
        // The error handler would load the module and try again, without end if the module is loaded and has no such fun.
        let replaced = heddle_runtime::code::with_module(entry.module, |m| m.current.is_some());
        if replaced || !heddle_runtime::exports::is_loaded(handler) {
            let reason = p.heap.tuple(&[am::BADFUN.into(), fun]);
            p.exception = Exception { reason, ..Exception::NONE };
            load!(c, h, s);
            return raise(ip, c, h, s, r);
        }
        load!(c, h, s);
        (*c).x[0] = entry.module.into();
        (*c).x[1] = fun;
        (*c).x[2] = args;
        let target = handler.entry.load(Ordering::Acquire) as *const u64;
        goto!(target, c, h, s, r)
    }

    // The stub of a fun whose code is being purged: fun entry. X[arity] holds the fun. The process waits, suspended, in
    // erts_code_purger:pending_purge_lambda/3, which calls the fun once the fate of its code is known.
    #[cold]
    fn purging_fun(ip, c, h, s, r) {
        let entry = &*(*ip.add(1) as *const heddle_term::FunEntry);
        let p = save!(c, h, s);
        let arity = entry.arity as usize;
        let waiter = Mfa { module: am::ERTS_CODE_PURGER, function: am::PENDING_PURGE_LAMBDA, arity: 3 };
        let waiter = heddle_runtime::exports::get(waiter);
        if !heddle_runtime::funs::wait_for_purge(p, entry) {
            let target = entry.entry.load(Ordering::Acquire) as *const u64;
            goto!(target, c, h, s, r)
        }
        let args = p.heap.list(&(&(*c).x)[..arity]);
        p.ip = waiter.entry.load(Ordering::Acquire);
        p.saved.clear();
        p.saved.extend_from_slice(&[entry.module.into(), (*c).x[arity + entry.num_free as usize], args]);
        crate::collect::tidy_saved(p);
        (*c).left = r;
        OUT_SUSPENDED
    }

    // apply with the arguments spread: arity. X[arity] module, X[arity + 1] function.
    fn apply(ip, c, h, s, r) {
        s = s.sub(1);
        *s = continuation(ip.add(2));
        if is_apply(c, *ip.add(1) as usize) {
            return apply_list(ip, c, h, s, r);
        }
        let target = apply_target(c, *ip.add(1) as usize);
        if target.is_null() {
            return apply_failed(ip, c, h, s.add(1), r);
        }
        enter!(target, c, h, s, r)
    }
    // arity, frame size
    fn apply_last(ip, c, h, s, r) {
        if is_apply(c, *ip.add(1) as usize) {
            // Its second operand is the frame size as well.
            return call_apply_list_last(ip.add(1), c, h, s, r);
        }
        let target = apply_target(c, *ip.add(1) as usize);
        if target.is_null() {
            return apply_failed(ip, c, h, s, r);
        }
        let arity = *ip.add(1) as usize;
        if (*c).x[arity].is_atom_of(am::ERLANG) && always_raises((*c).x[arity + 1], arity) {
            s = s.sub(1);
            *s = continuation(ip.add(3));
        } else {
            s = s.add(*ip.add(2) as usize);
        }
        enter!(target, c, h, s, r)
    }
    // Module or function is not an atom: apply/3's badarg with its arguments.
    #[cold]
    fn apply_failed(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let arity = *ip.add(1) as usize;
        let list = p.heap.list(&(&(*c).x)[..arity]);
        let args = p.heap.list(&[(*c).x[arity], (*c).x[arity + 1], list]);
        p.exception = Exception { reason: am::BADARG.into(), ..Exception::NONE };
        (*c).fault = heddle_runtime::exports::get(Mfa { module: am::ERLANG, function: am::APPLY, arity: 3 });
        (*c).fault_args = args;
        load!(c, h, s);
        return raise(ip, c, h, s, r);
    }

    // Tail call of apply(X0, X1, X2): the start of a spawned process, and erlang:apply/3.
    fn apply_list(ip, c, h, s, r) {
        if (*c).x[1].is_atom_of(am::APPLY) {
            unwrap_applies(c);
        }
        let target = spread_arguments(c);
        if target.is_null() {
            return apply_list_failed(ip, c, h, s, r);
        }
        enter!(target, c, h, s, r)
    }
    #[cold]
    fn apply_list_failed(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let named = (*c).x[0].is_atom() && (*c).x[1].is_atom();
        let reason = match arguments((*c).x[2]) {
            // No function has as many arguments.
            (0..=APPLY_LIMIT, true) if named => return undefined_function(ip, c, h, s, r),
            (0..=APPLY_LIMIT, _) => am::BADARG,
            _ if named => am::SYSTEM_LIMIT,
            _ => am::BADARG,
        };
        p.exception = Exception { reason: reason.into(), ..Exception::NONE };
        let args = p.heap.list(&[(*c).x[0], (*c).x[1], (*c).x[2]]);
        (*c).fault = heddle_runtime::exports::get(Mfa { module: am::ERLANG, function: am::APPLY, arity: 3 });
        (*c).fault_args = args;
        load!(c, h, s);
        return raise(ip, c, h, s, r);
    }
    // call of erlang:apply/3 in the middle of a function
    fn call_apply_list(ip, c, h, s, r) {
        s = s.sub(1);
        *s = continuation(ip.add(1));
        return apply_list(ip, c, h, s, r);
    }
    // frame size
    fn call_apply_list_last(ip, c, h, s, r) {
        if (*c).x[1].is_atom_of(am::APPLY) {
            unwrap_applies(c);
        }
        if (*c).x[0].is_atom_of(am::ERLANG) && list_always_raises((*c).x[1], (*c).x[2]) {
            s = s.sub(1);
            *s = continuation(ip.add(2));
        } else {
            s = s.add(*ip.add(1) as usize);
        }
        return apply_list(ip, c, h, s, r);
    }

    // The process' first function returned.
    #[cold]
    fn process_end(ip, c, h, s, r) {
        let p = save!(c, h, s);
        if !crate::run::ended_by_limit(p) {
            p.exit_reason = am::NORMAL.into();
        }
        (*c).x[0] = Term::NIL;
        (*c).left = r;
        crate::ctx::OUT_EXIT
    }
    // erlang:yield/0: true, after others had a turn.
    fn yield_now(ip, c, h, s, r) {
        let p = save!(c, h, s);
        p.ip = ip.add(1);
        p.saved.clear();
        p.saved.push(Term::bool(true));
        (*c).left = r;
        OUT_YIELD
    }
}

/// Maximum number of arguments of a function.
pub const MAX_ARITY: usize = 255;
/// From this number of arguments on apply/2 raises system_limit, and from one more on apply/3.
pub const APPLY_LIMIT: usize = 1023;

/// Returns the number of elements, and true if it is a proper list.
pub fn arguments(list: Term) -> (usize, bool) {
    let mut n = 0;
    let mut t = list;
    while t.is_cons() {
        n += 1;
        t = t.tail();
    }
    (n, t.is_nil())
}

/// Spreads apply(X0, X1, X2) over the registers. Returns the callee's entry, or null if the arguments are wrong.
unsafe fn spread_arguments(c: *mut Ctx) -> *const u64 {
    // SAFETY: the registers hold terms.
    unsafe {
        let (module, function, mut list) = ((*c).x[0], (*c).x[1], (*c).x[2]);
        let (Some(module), Some(function)) = (module.as_atom(), function.as_atom()) else {
            return std::ptr::null();
        };
        if !matches!(arguments(list), (0..=MAX_ARITY, true)) {
            return std::ptr::null();
        }
        let mut arity = 0;
        while list.is_cons() {
            (*c).x[arity] = list.head();
            list = list.tail();
            arity += 1;
        }
        entry_of(module, function, arity)
    }
}

fn entry_of(module: Atom, function: Atom, arity: usize) -> *const u64 {
    let mfa = Mfa { module, function, arity: arity as u8 };
    let cell: &AtomicPtr<u64> = match heddle_runtime::exports::find(mfa) {
        Some(export) => &export.entry,
        None => &heddle_runtime::exports::get(mfa).entry,
    };
    // Acquire: pairs with the Release where code becomes current, see `Export::entry`.
    cell.load(Ordering::Acquire)
}

/// True for functions of module erlang that always raise: a tail call of them by `apply` keeps its frame, so that the trace shows the
/// function that raised.
fn always_raises(function: Term, arity: usize) -> bool {
    match function.as_atom() {
        Some(am::ERROR) => (1..=3).contains(&arity),
        Some(am::EXIT | am::THROW) => arity == 1,
        _ => false,
    }
}

#[inline(never)]
fn list_always_raises(function: Term, list: Term) -> bool {
    let (arity, is_list) = arguments(list);
    is_list && always_raises(function, arity)
}

/// True if `apply` with `arity` arguments applies erlang:apply/3: then it is treated as the call that this one applies, which shows in
/// stack traces.
#[inline(always)]
unsafe fn is_apply(c: *mut Ctx, arity: usize) -> bool {
    // SAFETY: the loader checked the register numbers.
    unsafe { arity == 3 && (*c).x[4].is_atom_of(am::APPLY) && (*c).x[3].is_atom_of(am::ERLANG) }
}

/// X0..X2 of an apply/3 that applies erlang:apply/3 become those of the innermost one.
#[inline(never)]
unsafe fn unwrap_applies(c: *mut Ctx) {
    // SAFETY: they are the arguments.
    unsafe {
        while (*c).x[1].is_atom_of(am::APPLY) && (*c).x[0].is_atom_of(am::ERLANG) && arguments((*c).x[2]) == (3, true) {
            let mut list = (*c).x[2];
            for i in 0..3 {
                (*c).x[i] = list.head();
                list = list.tail();
            }
        }
    }
}

unsafe fn apply_target(c: *mut Ctx, arity: usize) -> *const u64 {
    // SAFETY: the loader checked the register numbers.
    unsafe {
        match ((*c).x[arity].as_atom(), (*c).x[arity + 1].as_atom()) {
            (Some(module), Some(function)) => entry_of(module, function, arity),
            _ => std::ptr::null(),
        }
    }
}
