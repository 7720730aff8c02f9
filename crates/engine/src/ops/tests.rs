//! Type tests, comparisons and selections. A failed test goes to its label, always the last operand.

use crate::ctx::{Compare, Ctx, OpFn, Src, any};
use crate::{fusable, goto, next, ops, then};
use heddle_term::{Kind, Term, order};
use std::cmp::Ordering;

/// A test on one term, for the `test_1` operation.
pub trait Test {
    fn holds(term: Term) -> bool;
}

macro_rules! tests {
    ($($name:ident => |$t:ident| $body:expr;)*) => {
        $(
            pub struct $name;
            impl Test for $name {
                #[inline(always)]
                fn holds($t: Term) -> bool {
                    $body
                }
            }
        )*
    };
}

tests! {
    IsInteger => |t| t.is_small() || t.is_big();
    IsFloat => |t| t.is_float();
    IsNumber => |t| t.is_number();
    IsAtom => |t| t.is_atom();
    IsPid => |t| t.is_pid();
    IsReference => |t| t.is_reference();
    IsPort => |t| t.is_port();
    IsNil => |t| t.is_nil();
    IsBinary => |t| t.is_binary();
    IsBitstring => |t| t.is_bitstring();
    IsList => |t| t.is_list();
    IsCons => |t| t.is_cons();
    IsTuple => |t| t.is_tuple();
    IsBoolean => |t| t == Term::bool(true) || t == Term::bool(false);
    IsMap => |t| t.is_map();
    IsFunction => |t| t.is_fun();
}

fusable! {
    // src, label
    fn test_1<S: Src, T: Test>(ip, c, h, s, r; N) {
        if T::holds(S::get(*ip.add(1), c, s)) {
            then!(N, ip, c, h, s, r; 3)
        }
        goto!(*ip.add(2) as *const u64, c, h, s, r)
    }
    // src (a tuple), header, label
    fn test_arity<S: Src>(ip, c, h, s, r; N) {
        if *S::get(*ip.add(1), c, s).ptr() == *ip.add(2) {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    // src (anything), header, label
    fn is_tuple_of_arity<S: Src>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        if t.is_boxed() && *t.ptr() == *ip.add(2) {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    // src, header, first element (an atom), label
    fn is_tagged_tuple<S: Src>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        if t.is_boxed() {
            let ptr = t.ptr();
            if *ptr == *ip.add(2) && *ptr.add(1) == *ip.add(3) {
                then!(N, ip, c, h, s, r; 5)
            }
        }
        goto!(*ip.add(4) as *const u64, c, h, s, r)
    }
    // is_nonempty_list and get_list in one: src, head, tail, label
    fn is_cons_get_list<S: Src, H: crate::ctx::Dst, T: crate::ctx::Dst>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        if t.is_cons() {
            let list = t.ptr();
            let head = Term::from_raw(*list);
            let tail = Term::from_raw(*list.add(1));
            H::set(*ip.add(2), c, s, head);
            T::set(*ip.add(3), c, s, tail);
            then!(N, ip, c, h, s, r; 5)
        }
        goto!(*ip.add(4) as *const u64, c, h, s, r)
    }

    // Against an immediate: src, constant, label
    fn is_eq_immediate<S: Src>(ip, c, h, s, r; N) {
        if S::get(*ip.add(1), c, s).raw() == *ip.add(2) {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    fn is_ne_immediate<S: Src>(ip, c, h, s, r; N) {
        if S::get(*ip.add(1), c, s).raw() != *ip.add(2) {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    // a, b, label. Comparisons that are not decided at once are left to the slow operations: those call functions, for which an operation
    // needs a native frame.
    fn is_eq_exact<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if a == b {
            then!(N, ip, c, h, s, r; 4)
        }
        if a.is_pointer() && b.is_pointer() {
            return is_eq_exact_slow::<A, B>(ip, c, h, s, r);
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    fn is_ne_exact<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if a == b {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        if a.is_pointer() && b.is_pointer() {
            return is_ne_exact_slow::<A, B>(ip, c, h, s, r);
        }
        then!(N, ip, c, h, s, r; 4)
    }
    fn is_eq<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if a == b {
            then!(N, ip, c, h, s, r; 4)
        }
        if (a.raw() | b.raw()) & 15 == 0 {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        return is_eq_slow::<A, B>(ip, c, h, s, r);
    }
    fn is_ne<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if a == b {
            goto!(*ip.add(3) as *const u64, c, h, s, r)
        }
        if (a.raw() | b.raw()) & 15 == 0 {
            then!(N, ip, c, h, s, r; 4)
        }
        return is_ne_slow::<A, B>(ip, c, h, s, r);
    }
    fn is_lt<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if (a.raw() | b.raw()) & 15 != 0 {
            return is_lt_slow::<A, B>(ip, c, h, s, r);
        }
        if (a.raw() as i64) < b.raw() as i64 {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
    fn is_ge<A: Src, B: Src>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if (a.raw() | b.raw()) & 15 != 0 {
            return is_ge_slow::<A, B>(ip, c, h, s, r);
        }
        if (a.raw() as i64) >= b.raw() as i64 {
            then!(N, ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
}

ops! {
    // fun, arity, label
    fn is_function2(ip, c, h, s, r) {
        let (fun, arity) = (any(*ip.add(1), c, s), any(*ip.add(2), c, s));
        if fun_has_arity(fun, arity) {
            next!(ip, c, h, s, r; 4)
        }
        goto!(*ip.add(3) as *const u64, c, h, s, r)
    }
}

fusable! {
    // src, default label, count, (value, label)... sorted by value; all values immediate.
    fn select_binary<S: Src>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s).raw();
        let (mut low, mut high) = (0usize, *ip.add(3) as usize);
        while low < high {
            let middle = (low + high) / 2;
            let candidate = *ip.add(4 + 2 * middle);
            if candidate == value {
                goto!(*ip.add(5 + 2 * middle) as *const u64, c, h, s, r)
            }
            if candidate < value { low = middle + 1 } else { high = middle }
        }
        goto!(*ip.add(2) as *const u64, c, h, s, r)
    }
    fn select_linear<S: Src>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s).raw();
        let n = *ip.add(3) as usize;
        let mut i = 0;
        while i < n {
            if *ip.add(4 + 2 * i) == value {
                goto!(*ip.add(5 + 2 * i) as *const u64, c, h, s, r)
            }
            i += 1;
        }
        goto!(*ip.add(2) as *const u64, c, h, s, r)
    }
    // Small integers without large gaps: src, default label, lowest value, count, labels...
    fn select_jump<S: Src>(ip, c, h, s, r; N) {
        let value = S::get(*ip.add(1), c, s);
        if value.is_small() {
            let index = (value.small_value().wrapping_sub(*ip.add(3) as i64)) as u64;
            if index < *ip.add(4) {
                goto!(*ip.add(5 + index as usize) as *const u64, c, h, s, r)
            }
        }
        goto!(*ip.add(2) as *const u64, c, h, s, r)
    }
    // src (a tuple), default label, count, (header, label)...
    fn select_arity<S: Src>(ip, c, h, s, r; N) {
        let t = S::get(*ip.add(1), c, s);
        if t.is_boxed() {
            let value = *t.ptr();
            let n = *ip.add(3) as usize;
            let mut i = 0;
            while i < n {
                if *ip.add(4 + 2 * i) == value {
                    goto!(*ip.add(5 + 2 * i) as *const u64, c, h, s, r)
                }
                i += 1;
            }
        }
        goto!(*ip.add(2) as *const u64, c, h, s, r)
    }
}

ops! {
    // With constants that are not immediate (floats, large integers): src, default, count, (value, label)...
    fn select_exact(ip, c, h, s, r) {
        let target = exact_target(ip, any(*ip.add(1), c, s));
        goto!(target, c, h, s, r)
    }
}

macro_rules! comparisons {
    ($($name:ident, $slow:ident, $operator:tt;)*) => {
        $(
            impl<A: Src, B: Src> Compare for $name<A, B> {
                #[inline(always)]
                unsafe fn operands(ip: *const u64, c: *mut Ctx, s: *mut u64) -> (Term, Term) {
                    // SAFETY: the two cells after the operation are its operands; registers are initialised.
                    unsafe { (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s)) }
                }
                #[inline(always)]
                fn holds(a: Term, b: Term) -> bool {
                    (a.raw() as i64) $operator (b.raw() as i64)
                }
                const SLOW: OpFn = $slow::<A, B>;
            }
        )*
    };
}

comparisons! {
    is_ge, is_ge_slow, >=;
    is_lt, is_lt_slow, <;
}

macro_rules! slow_comparisons {
    ($($name:ident, |$a:ident, $b:ident| $holds:expr;)*) => {
        ops! {
            $(
                #[inline(never)]
                fn $name<A: Src, B: Src>(ip, c, h, s, r) {
                    let ($a, $b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
                    if $holds {
                        next!(ip, c, h, s, r; 4)
                    }
                    goto!(*ip.add(3) as *const u64, c, h, s, r)
                }
            )*
        }
    };
}

slow_comparisons! {
    is_eq_exact_slow, |a, b| order::exact_eq(a, b);
    is_ne_exact_slow, |a, b| !order::exact_eq(a, b);
    is_eq_slow, |a, b| order::eq(a, b);
    is_ne_slow, |a, b| !order::eq(a, b);
    is_lt_slow, |a, b| less(a, b);
    is_ge_slow, |a, b| !less(a, b);
}

#[inline(never)]
unsafe fn exact_target(ip: *const u64, value: Term) -> *const u64 {
    // SAFETY: cells as emitted by the loader for `select_exact`.
    unsafe {
        for i in 0..*ip.add(3) as usize {
            if order::exact_eq(Term::from_raw(*ip.add(4 + 2 * i)), value) {
                return *ip.add(5 + 2 * i) as *const u64;
            }
        }
        *ip.add(2) as *const u64
    }
}

/// True if `a` is before `b` in the order of `<`.
pub fn less(a: Term, b: Term) -> bool {
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) => a < b,
        _ => order::cmp(a, b) == Ordering::Less,
    }
}

/// Number of arguments of a call of the fun.
pub fn fun_arity(fun: Term) -> Option<u8> {
    match fun.kind()? {
        Kind::Fun => Some(heddle_term::fun::entry(fun).arity),
        Kind::ExportFun => Some(heddle_term::fun::export(fun).mfa.arity),
        _ => None,
    }
}

pub fn fun_has_arity(fun: Term, arity: Term) -> bool {
    fun_arity(fun).is_some_and(|a| arity.as_small() == Some(a as i64))
}
