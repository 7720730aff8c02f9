//! Guard natives as instructions (`bif0` to `bif2`, `gc_bif1` to `gc_bif3`): the common ones have operations of their own, the
//! rest are called like any native.

use crate::collect::make_room_keeping;
use crate::ctx::{Ctx, Dst, Src, X_REGISTERS, any, put};
use crate::ops::errors::raise;
use crate::{fusable, goto, load, next, ops, save, then};
use heddle_runtime::process::{NativeFn, Thrown};
use heddle_term::{Export, Kind, Term, map};

fusable! {
    // native, export, label (0: raise), dst, live (X_REGISTERS: must not collect), count, args...
    fn guard_native(ip, c, h, s, r; N) {
        let code = run_guard(ip, c, h, s);
        if code != 0 {
            return guard_failed(ip, c, h, s, r);
        }
        load!(c, h, s);
        then!(N, ip, c, h, s, r; 7 + *ip.add(6) as usize)
    }
}

ops! {
    #[cold]
    fn guard_failed(ip, c, h, s, r) {
        load!(c, h, s);
        let label = *ip.add(3);
        if label != 0 {
            goto!(label as *const u64, c, h, s, r)
        }
        return raise(ip, c, h, s, r);
    }
}

fusable! {
    // erlang:self/0: dst
    fn self_pid<D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(1), c, s, heddle_term::Term::local_pid((*(*c).p).pid()));
        then!(N, ip, c, h, s, r; 2)
    }
}

ops! {
    // erlang:get/1: src, dst
    fn dictionary_get<S: Src>(ip, c, h, s, r) {
        let key = S::get(*ip.add(1), c, s);
        let value = dictionary_lookup(c, key);
        put(*ip.add(2), c, s, value);
        next!(ip, c, h, s, r; 3)
    }
}

fusable! {
    // Fast paths that fall back to `guard_native`, whose cells follow from the given distance: src, dst, distance
    fn hd<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let list = S::get(*ip.add(1), c, s);
        if list.is_cons() {
            D::set(*ip.add(2), c, s, Term::from_raw(*list.ptr()));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        then!(N, ip, c, h, s, r; 4)
    }
    fn tl<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let list = S::get(*ip.add(1), c, s);
        if list.is_cons() {
            D::set(*ip.add(2), c, s, Term::from_raw(*list.ptr().add(1)));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        then!(N, ip, c, h, s, r; 4)
    }
    fn abs<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s);
        if value.is_small() && value.raw() != SMALLEST {
            D::set(*ip.add(2), c, s, Term::from_raw((value.raw() as i64).unsigned_abs()));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        next!(ip, c, h, s, r; 4)
    }
    fn map_size<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let m = S::get(*ip.add(1), c, s);
        if m.is_map() {
            D::set(*ip.add(2), c, s, Term::small(map::size(m) as i64));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        next!(ip, c, h, s, r; 4)
    }
    fn tuple_size<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        if t.is_tuple() {
            D::set(*ip.add(2), c, s, Term::small(t.header().arity() as i64));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        then!(N, ip, c, h, s, r; 4)
    }
    // index, tuple, dst, distance
    fn element<I: Src, S: Src, D: Dst>(ip, c, h, s, r; N) {
        let (index, t) = (I::get(*ip.add(1), c, s), S::get(*ip.add(2), c, s));
        if index.is_small() && t.is_tuple() {
            let i = index.small_value() as u64;
            if i.wrapping_sub(1) < t.header().arity() as u64 {
                D::set(*ip.add(3), c, s, Term::from_raw(*t.ptr().add(i as usize)));
                then!(N, ip, c, h, s, r; *ip.add(4) as usize)
            }
        }
        then!(N, ip, c, h, s, r; 5)
    }
    // map key, map, dst, distance
    fn map_get<A: Src, M: Src, D: Dst>(ip, c, h, s, r; N) {
        let (key, m) = (A::get(*ip.add(1), c, s), M::get(*ip.add(2), c, s));
        let value = map_lookup(m, key);
        if !value.is_none() {
            D::set(*ip.add(3), c, s, value);
            then!(N, ip, c, h, s, r; *ip.add(4) as usize)
        }
        then!(N, ip, c, h, s, r; 5)
    }
    // src, dst, distance
    fn byte_size<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        let bits = match t.kind() {
            Some(Kind::HeapBits) => t.word(0),
            Some(Kind::BinRef | Kind::SubBits) => t.word(1),
            _ => { then!(N, ip, c, h, s, r; 4) }
        };
        D::set(*ip.add(2), c, s, Term::small(bits.div_ceil(8) as i64));
        then!(N, ip, c, h, s, r; *ip.add(3) as usize)
    }
    fn length<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let mut t = S::get(*ip.add(1), c, s);
        let mut n = 0i64;
        while t.is_cons() {
            n += 1;
            t = Term::from_raw(*t.ptr().add(1));
        }
        if t.is_nil() {
            r -= n >> 4;
            D::set(*ip.add(2), c, s, Term::small(n));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        then!(N, ip, c, h, s, r; 4)
    }
}

/// The one small integer whose absolute value is not small.
const SMALLEST: u64 = i64::MIN as u64;

/// The value of the key; NONE if it is not a map or has no such key.
#[inline(never)]
fn map_lookup(m: Term, key: Term) -> Term {
    if m.is_map() { map::get(m, key).unwrap_or(Term::NONE) } else { Term::NONE }
}

#[inline(never)]
unsafe fn dictionary_lookup(c: *mut Ctx, key: Term) -> Term {
    // SAFETY: the running process is ours.
    unsafe { (*(*c).p).dictionary.get(key).unwrap_or(Term::atom(heddle_term::am::UNDEFINED)) }
}

/// 0: done, the result is stored. 1: failed, the exception is set.
#[inline(never)]
unsafe fn run_guard(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let run: NativeFn = std::mem::transmute(*ip.add(1));
        let n = *ip.add(6) as usize;
        // Here and not in the operation: an array there would cost it its tail call.
        let mut args = [Term::NIL; 3];
        for (i, arg) in args[..n].iter_mut().enumerate() {
            *arg = any(*ip.add(7 + i), c, s);
        }
        match run(p, &args[..n]) {
            Ok(value) => {
                let live = *ip.add(5) as usize;
                let p = &mut *(*c).p;
                let mut value = value;
                if live < X_REGISTERS && (!p.heap.fragments.is_null() || heddle_runtime::zeal::gc()) {
                    value = make_room_keeping(c, 0, live, value);
                }
                put(*ip.add(4), c, (*(*c).p).stop, value);
                0
            }
            Err(thrown) => {
                debug_assert!(thrown == Thrown::Exception, "a guard native may only fail");
                if *ip.add(3) == 0 {
                    (*c).fault = *ip.add(2) as *const Export;
                    (*c).fault_args = p.heap.list(&args[..n]);
                }
                1
            }
        }
    }
}
