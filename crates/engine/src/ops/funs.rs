//! Making and calling funs.

use crate::ctx::{Ctx, any, bound, continuation, put};
use crate::ops::calls::{APPLY_LIMIT, MAX_ARITY, arguments};
use crate::ops::errors::raise;
use crate::{enter, fusable, ops, save, then};
use heddle_runtime::process::Exception;
use heddle_term::{FunEntry, Header, Kind, Term, am, fun};
use std::sync::atomic::Ordering;

fusable! {
    // entry, dst, count, free variables...; the words are there
    fn make_fun(ip, c, h, s, r; N) {
        let entry = *ip.add(1);
        let n = *ip.add(3) as usize;
        *h = Header::with_aux(Kind::Fun, 2 + n, (*(entry as *const FunEntry)).arity as u32).raw();
        *h.add(1) = entry;
        *h.add(2) = heddle_term::Term::local_pid((*(*c).p).pid()).raw();
        let mut i = 0;
        while i < bound(ip.add(3)) {
            *h.add(3 + i) = any(*ip.add(4 + i), c, s).raw();
            i += 1;
        }
        put(*ip.add(2), c, s, Term::boxed(h));
        h = h.add(3 + n);
        then!(N, ip, c, h, s, r; 4 + n)
    }
    // arity; the fun is in X[arity]
    fn call_fun(ip, c, h, s, r; N) {
        let arity = *ip.add(1) as usize;
        let f = *(&raw const (*c).x).cast::<Term>().add(arity);
        let target = fun_target(c, f, arity);
        // Before the test: the call must be in the trace of its own failure, as in stock's.
        s = s.sub(1);
        *s = continuation(ip.add(2));
        if target.is_null() {
            return call_fun_failed(ip, c, h, s, r);
        }
        enter!(target, c, h, s, r)
    }
    // arity, fun operand
    fn call_fun2(ip, c, h, s, r; N) {
        let arity = *ip.add(1) as usize;
        let f = any(*ip.add(2), c, s);
        let target = fun_target(c, f, arity);
        s = s.sub(1);
        *s = continuation(ip.add(3));
        if target.is_null() {
            *(&raw mut (*c).x).cast::<Term>().add(arity) = f;
            return call_fun_failed(ip, c, h, s, r);
        }
        enter!(target, c, h, s, r)
    }
    // arity, fun operand, frame size: tail call
    fn call_fun2_last(ip, c, h, s, r; N) {
        let arity = *ip.add(1) as usize;
        let f = any(*ip.add(2), c, s);
        let target = fun_target(c, f, arity);
        if target.is_null() {
            *(&raw mut (*c).x).cast::<Term>().add(arity) = f;
            return call_fun_failed(ip, c, h, s, r);
        }
        s = s.add(*ip.add(3) as usize);
        enter!(target, c, h, s, r)
    }
    // arity, frame size: tail call
    fn call_fun_last(ip, c, h, s, r; N) {
        let arity = *ip.add(1) as usize;
        let f = *(&raw const (*c).x).cast::<Term>().add(arity);
        let target = fun_target(c, f, arity);
        if target.is_null() {
            return call_fun_failed(ip, c, h, s, r);
        }
        s = s.add(*ip.add(2) as usize);
        enter!(target, c, h, s, r)
    }
}

ops! {
    // X[arity] is not a fun, or one of another arity.
    #[cold]
    fn call_fun_failed(ip, c, h, s, r) {
        let arity = *ip.add(1) as usize;
        let f = (*c).x[arity];
        let p = save!(c, h, s);
        let reason = if f.is_fun() {
            let args = p.heap.list(&(&(*c).x)[..arity]);
            let pair = p.heap.tuple(&[f, args]);
            p.heap.tuple(&[am::BADARITY.into(), pair])
        } else {
            p.heap.tuple(&[am::BADFUN.into(), f])
        };
        p.exception = Exception { reason, ..Exception::NONE };
        h = p.heap.htop;
        return raise(ip, c, h, s, r);
    }
    // erlang:apply/2 as a call: X0 fun, X1 argument list
    fn call_apply_fun(ip, c, h, s, r) {
        s = s.sub(1);
        *s = continuation(ip.add(1));
        return apply_fun(ip, c, h, s, r);
    }
    // frame size
    fn call_apply_fun_last(ip, c, h, s, r) {
        s = s.add(*ip.add(1) as usize);
        return apply_fun(ip, c, h, s, r);
    }
    fn apply_fun(ip, c, h, s, r) {
        let (f, mut list) = ((*c).x[0], (*c).x[1]);
        let mut arity = 0usize;
        let mut t = list;
        while t.is_cons() {
            arity += 1;
            t = t.tail();
        }
        if !t.is_nil() || arity > MAX_ARITY {
            return apply_fun_unfit(ip, c, h, s, r);
        }
        let mut i = 0;
        while i < arity {
            (*c).x[i] = list.head();
            list = list.tail();
            i += 1;
        }
        let target = fun_target(c, f, arity);
        if target.is_null() {
            (*c).x[arity] = f;
            return apply_fun_failed(ip, c, h, s, r, arity);
        }
        enter!(target, c, h, s, r)
    }
    // X0 fun, X1 something that no function can be called with
    #[cold]
    fn apply_fun_unfit(ip, c, h, s, r) {
        let p = save!(c, h, s);
        let (f, list) = ((*c).x[0], (*c).x[1]);
        let reason = match arguments(list) {
            (0..APPLY_LIMIT, true) if f.is_fun() => {
                let pair = p.heap.tuple(&[f, list]);
                Some(p.heap.tuple(&[am::BADARITY.into(), pair]))
            }
            (0..APPLY_LIMIT, true) => Some(p.heap.tuple(&[am::BADFUN.into(), f])),
            (0..APPLY_LIMIT, false) => None,
            _ => Some(am::SYSTEM_LIMIT.into()),
        };
        let of_apply = reason.is_none_or(Term::is_atom);
        p.exception = Exception { reason: reason.unwrap_or(am::BADARG.into()), ..Exception::NONE };
        if !of_apply {
            h = p.heap.htop;
            return raise(ip, c, h, s, r);
        }
        (*c).fault_args = p.heap.list(&[(*c).x[0], (*c).x[1]]);
        (*c).fault = heddle_runtime::exports::get(heddle_term::Mfa { module: am::ERLANG, function: am::APPLY, arity: 2 });
        h = p.heap.htop;
        return raise(ip, c, h, s, r);
    }
}

#[cold]
unsafe fn apply_fun_failed(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64, r: i64, arity: usize) -> u64 {
    // SAFETY: as the operations.
    unsafe {
        let f = (*c).x[arity];
        let p = save!(c, h, s);
        let reason = if f.is_fun() {
            let args = p.heap.list(&(&(*c).x)[..arity]);
            let pair = p.heap.tuple(&[f, args]);
            p.heap.tuple(&[am::BADARITY.into(), pair])
        } else {
            p.heap.tuple(&[am::BADFUN.into(), f])
        };
        p.exception = Exception { reason, ..Exception::NONE };
        raise(ip, c, p.heap.htop, s, r)
    }
}

/// Entry of a fun called with `arity` arguments, with its free variables put after them; null if the call is not possible.
#[inline(always)]
unsafe fn fun_target(c: *mut Ctx, f: Term, arity: usize) -> *const u64 {
    // SAFETY: boxed objects have the layout of their kind.
    unsafe {
        if !f.is_boxed() {
            return std::ptr::null();
        }
        let header = f.header();
        match header.kind() {
            Kind::Fun => {
                if header.aux() as usize != arity {
                    return std::ptr::null();
                }
                let entry = &*(f.word(0) as *const FunEntry);
                let free = header.arity() - 2;
                let mut i = 0;
                // By address: a checked index would cost every operation that calls this a native frame. The verifier keeps arity and free
                // variables together below 256.
                debug_assert!(arity + free < crate::ctx::X_REGISTERS);
                let x = (&raw mut (*c).x).cast::<Term>().add(arity);
                while i < Header::from_raw(bound(f.ptr()) as u64).arity() - 2 {
                    *x.add(i) = f.slot(2 + i);
                    i += 1;
                }
                // For the stub of a fun whose module is not loaded.
                *x.add(free) = f;
                entry.entry.load(Ordering::Acquire)
            }
            Kind::ExportFun => {
                let export = fun::export(f);
                if export.mfa.arity as usize != arity {
                    return std::ptr::null();
                }
                export.entry.load(Ordering::Acquire)
            }
            _ => std::ptr::null(),
        }
    }
}
