//! Tests, comparisons and operators of booleans whose result is a value: `true` or `false` in a register.

use crate::ctx::{Dst, Src};
use crate::ops::tests::{Test, less};
use crate::{fusable, next, ops, then};
use heddle_term::{Term, order};

/// A comparison for `compared`.
pub trait Comparison {
    /// The result, if the words of the terms decide it.
    fn at_once(a: Term, b: Term) -> Option<bool>;
    fn of_any(a: Term, b: Term) -> bool;
}

/// An operator of two booleans for `combined`.
pub trait Operator {
    fn result(a: bool, b: bool) -> bool;
}

macro_rules! comparisons {
    ($($name:ident => $at_once:expr, |$a:ident, $b:ident| $any:expr;)*) => {
        $(
            pub struct $name;
            impl Comparison for $name {
                #[inline(always)]
                fn at_once(a: Term, b: Term) -> Option<bool> {
                    $at_once(a, b)
                }
                #[inline(never)]
                fn of_any($a: Term, $b: Term) -> bool {
                    $any
                }
            }
        )*
    };
}

// The loader makes `>` and `=<` from these by exchanging the operands.
comparisons! {
    ExactEq => same, |a, b| order::exact_eq(a, b);
    ExactNe => |a, b| same(a, b).map(|same| !same), |a, b| !order::exact_eq(a, b);
    Eq => same_value, |a, b| order::eq(a, b);
    Ne => |a, b| same_value(a, b).map(|same| !same), |a, b| !order::eq(a, b);
    Lt => below, |a, b| less(a, b);
    Ge => |a, b| below(a, b).map(|below| !below), |a, b| !less(a, b);
}

#[inline(always)]
fn same(a: Term, b: Term) -> Option<bool> {
    (a == b || !a.is_pointer() || !b.is_pointer()).then_some(a == b)
}

#[inline(always)]
fn same_value(a: Term, b: Term) -> Option<bool> {
    (a == b || !a.is_pointer() && !b.is_pointer()).then_some(a == b)
}

/// For two small integers.
#[inline(always)]
fn below(a: Term, b: Term) -> Option<bool> {
    ((a.raw() | b.raw()) & 15 == 0).then_some((a.raw() as i64) < b.raw() as i64)
}

macro_rules! operators {
    ($($name:ident => $operator:tt;)*) => {
        $(
            pub struct $name;
            impl Operator for $name {
                #[inline(always)]
                fn result(a: bool, b: bool) -> bool {
                    a $operator b
                }
            }
        )*
    };
}

operators! {
    And => &;
    Or => |;
    Xor => ^;
}

const TRUE: Term = Term::bool(true);
const FALSE: Term = Term::bool(false);

#[inline(always)]
fn boolean(t: Term) -> Option<bool> {
    if t == TRUE {
        Some(true)
    } else if t == FALSE {
        Some(false)
    } else {
        None
    }
}

fusable! {
    // src, dst
    fn tested<S: Src, D: Dst, T: Test>(ip, c, h, s, r; N) {
        let holds = T::holds(S::get(*ip.add(1), c, s));
        D::set(*ip.add(2), c, s, Term::bool(holds));
        then!(N, ip, c, h, s, r; 3)
    }
    // a, b, dst
    fn compared<A: Src, B: Src, D: Dst, T: Comparison>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if let Some(holds) = T::at_once(a, b) {
            D::set(*ip.add(3), c, s, Term::bool(holds));
            then!(N, ip, c, h, s, r; 4)
        }
        return compared_slow::<A, B, D, T>(ip, c, h, s, r);
    }
    // Operators of booleans fall back to `guard_native`, as the fast paths of `bifs`: src, dst, distance
    fn negated<S: Src, D: Dst>(ip, c, h, s, r; N) {
        if let Some(value) = boolean(S::get(*ip.add(1), c, s)) {
            D::set(*ip.add(2), c, s, Term::bool(!value));
            then!(N, ip, c, h, s, r; *ip.add(3) as usize)
        }
        next!(ip, c, h, s, r; 4)
    }
    // a, b, dst, distance
    fn combined<A: Src, B: Src, D: Dst, O: Operator>(ip, c, h, s, r; N) {
        if let (Some(a), Some(b)) = (boolean(A::get(*ip.add(1), c, s)), boolean(B::get(*ip.add(2), c, s))) {
            D::set(*ip.add(3), c, s, Term::bool(O::result(a, b)));
            then!(N, ip, c, h, s, r; *ip.add(4) as usize)
        }
        next!(ip, c, h, s, r; 5)
    }
}

ops! {
    #[inline(never)]
    fn compared_slow<A: Src, B: Src, D: Dst, T: Comparison>(ip, c, h, s, r) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        let holds = T::of_any(a, b);
        D::set(*ip.add(3), c, s, Term::bool(holds));
        next!(ip, c, h, s, r; 4)
    }
}
