//! Integer arithmetic. Small operands are handled in line; everything else goes to one cold function per operation, which may
//! collect with the live registers the instruction names.
//!
//! Operands: a, b, dst, label (0: raise), live, export of the operator.

use crate::collect::make_room_keeping;
use crate::ctx::{Any, Ctx, Dst, Src, fits, put};
use crate::ops::errors::raise;
use crate::{fusable, goto, load, next, ops, save, then};
use heddle_runtime::process::Exception;
use heddle_term::big::{self, ArithError};
use heddle_term::{Export, Header, Heap, Kind, Term, am};

type Operation = fn(&mut Heap, Term, Term) -> Result<Term, ArithError>;

pub const CELLS: usize = 7;

#[inline(always)]
fn both_small(a: Term, b: Term) -> bool {
    (a.raw() | b.raw()) & 15 == 0
}

fusable! {
    fn add<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) && let (sum, false) = (a.raw() as i64).overflowing_add(b.raw() as i64) {
            D::set(*ip.add(3), c, s, Term::from_raw(sum as u64));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return floats_or_slow::<A, B, D, Add>(ip, c, h, s, r);
    }
    fn sub<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) && let (difference, false) = (a.raw() as i64).overflowing_sub(b.raw() as i64) {
            D::set(*ip.add(3), c, s, Term::from_raw(difference as u64));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return floats_or_slow::<A, B, D, Sub>(ip, c, h, s, r);
    }
    fn mul<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) && let (product, false) = (a.raw() as i64).overflowing_mul(b.small_value()) {
            D::set(*ip.add(3), c, s, Term::from_raw(product as u64));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return floats_or_slow::<A, B, D, Mul>(ip, c, h, s, r);
    }
    fn int_div<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        // Division by -1 is left to the slow path: it alone can leave the small range.
        if both_small(a, b) && b.small_value() != 0 && b.small_value() != -1 {
            D::set(*ip.add(3), c, s, Term::small(a.small_value() / b.small_value()));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return slow::<A, B, D, Div>(ip, c, h, s, r);
    }
    fn int_rem<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) && b.small_value() != 0 {
            D::set(*ip.add(3), c, s, Term::small(a.small_value().wrapping_rem(b.small_value())));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return slow::<A, B, D, Rem>(ip, c, h, s, r);
    }
    fn band<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) {
            D::set(*ip.add(3), c, s, Term::from_raw(a.raw() & b.raw()));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return slow::<A, B, D, Band>(ip, c, h, s, r);
    }
    fn bor<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) {
            D::set(*ip.add(3), c, s, Term::from_raw(a.raw() | b.raw()));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return slow::<A, B, D, Bor>(ip, c, h, s, r);
    }
    fn bxor<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) {
            D::set(*ip.add(3), c, s, Term::from_raw(a.raw() ^ b.raw()));
            then!(N, ip, c, h, s, r; CELLS)
        }
        return slow::<A, B, D, Bxor>(ip, c, h, s, r);
    }
    fn bsl<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) {
            let count = b.small_value();
            if (0..60).contains(&count) {
                let value = a.raw() as i64;
                let shifted = value << count;
                if shifted >> count == value {
                    D::set(*ip.add(3), c, s, Term::from_raw(shifted as u64));
                    then!(N, ip, c, h, s, r; CELLS)
                }
            }
        }
        return slow::<A, B, D, Bsl>(ip, c, h, s, r);
    }
    fn bsr<A: Src, B: Src, D: Dst>(ip, c, h, s, r; N) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if both_small(a, b) {
            let count = b.small_value();
            if count >= 0 {
                D::set(*ip.add(3), c, s, Term::small(a.small_value() >> count.min(63)));
                then!(N, ip, c, h, s, r; CELLS)
            }
        }
        return slow::<A, B, D, Bsr>(ip, c, h, s, r);
    }
}

ops! {
    // Two floats, with room for a third.
    #[inline(never)]
    fn floats_or_slow<A: Src, B: Src, D: Dst, O: FloatOp>(ip, c, h, s, r) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        if a.is_boxed() && b.is_boxed() && *a.ptr() == FLOAT && *b.ptr() == FLOAT && fits(h, s, 2) {
            let value = O::run(f64::from_bits(*a.ptr().add(1)), f64::from_bits(*b.ptr().add(1)));
            if value.is_finite() {
                *h = FLOAT;
                *h.add(1) = value.to_bits();
                D::set(*ip.add(3), c, s, Term::boxed(h));
                h = h.add(2);
                next!(ip, c, h, s, r; CELLS)
            }
        }
        return slow::<A, B, D, O>(ip, c, h, s, r);
    }
    #[cold]
    fn slow<A: Src, B: Src, D: Dst, O: Op>(ip, c, h, s, r) {
        let (a, b) = (A::get(*ip.add(1), c, s), B::get(*ip.add(2), c, s));
        save!(c, h, s);
        let value = attempt(c, ip.add(4), O::RUN, a, b);
        load!(c, h, s);
        if value.is_none() {
            let label = *ip.add(4);
            if label != 0 {
                goto!(label as *const u64, c, h, s, r)
            }
            return raise(ip, c, h, s, r);
        }
        D::set(*ip.add(3), c, s, value);
        next!(ip, c, h, s, r; CELLS)
    }
    // -X and bnot X: a, dst, label, live, export, function
    fn unary(ip, c, h, s, r) {
        let a = <Any as Src>::get(*ip.add(1), c, s);
        save!(c, h, s);
        let run: fn(&mut Heap, Term) -> Result<Term, ArithError> = std::mem::transmute(*ip.add(6));
        let value = attempt_unary(c, ip.add(3), run, a);
        load!(c, h, s);
        if value.is_none() {
            let label = *ip.add(3);
            if label != 0 {
                goto!(label as *const u64, c, h, s, r)
            }
            return raise(ip, c, h, s, r);
        }
        put(*ip.add(2), c, s, value);
        next!(ip, c, h, s, r; CELLS)
    }
}

/// The result of `run`, or NONE: then the failure is recorded, unless it is only a guard's. `rest`: label, live, export. Not inlined:
/// results and arguments in memory of an operation would cost it its tail calls.
#[inline(never)]
unsafe fn attempt(c: *mut Ctx, rest: *const u64, run: Operation, a: Term, b: Term) -> Term {
    // SAFETY: the operation saved the tops; its cells are as the loader wrote them.
    unsafe {
        match run(&mut (*(*c).p).heap, a, b) {
            Ok(value) => finish(c, *rest.add(1) as usize, value),
            Err(error) => failed(c, rest, error, &[a, b]),
        }
    }
}

/// As `attempt`.
#[inline(never)]
unsafe fn attempt_unary(c: *mut Ctx, rest: *const u64, run: fn(&mut Heap, Term) -> Result<Term, ArithError>, a: Term) -> Term {
    // SAFETY: as `attempt`.
    unsafe {
        match run(&mut (*(*c).p).heap, a) {
            Ok(value) => finish(c, *rest.add(1) as usize, value),
            Err(error) => failed(c, rest, error, &[a]),
        }
    }
}

#[cold]
unsafe fn failed(c: *mut Ctx, rest: *const u64, error: ArithError, args: &[Term]) -> Term {
    // SAFETY: as `attempt`.
    unsafe {
        if *rest == 0 {
            fail(c, *rest.add(2), error, args);
        }
    }
    Term::NONE
}

/// Collects if the operation overflowed the heap; the result moves along.
#[inline(always)]
unsafe fn finish(c: *mut Ctx, live: usize, value: Term) -> Term {
    // SAFETY: the verifier proved the live registers.
    unsafe {
        let p = &mut *(*c).p;
        if !p.heap.fragments.is_null() || heddle_runtime::zeal::gc() { make_room_keeping(c, 0, live, value) } else { value }
    }
}

unsafe fn fail(c: *mut Ctx, export: u64, error: ArithError, args: &[Term]) {
    // SAFETY: the loader emitted the address of an export.
    unsafe {
        let p = &mut *(*c).p;
        let reason = match error {
            ArithError::Badarith => am::BADARITH,
            ArithError::SystemLimit => am::SYSTEM_LIMIT,
        };
        p.exception = Exception { reason: reason.into(), ..Exception::NONE };
        (*c).fault = export as *const Export;
        (*c).fault_args = p.heap.list(args);
    }
}

const FLOAT: u64 = Header::new(Kind::Float, 1).raw();

/// Operators that are also one machine instruction on floats.
pub trait FloatOp: Op {
    fn run(a: f64, b: f64) -> f64;
}
impl FloatOp for Add {
    fn run(a: f64, b: f64) -> f64 {
        a + b
    }
}
impl FloatOp for Sub {
    fn run(a: f64, b: f64) -> f64 {
        a - b
    }
}
impl FloatOp for Mul {
    fn run(a: f64, b: f64) -> f64 {
        a * b
    }
}

pub trait Op {
    const RUN: Operation;
}

macro_rules! operations {
    ($($name:ident => $run:path;)*) => {
        $(
            pub struct $name;
            impl Op for $name {
                const RUN: Operation = $run;
            }
        )*
    };
}

operations! {
    Add => big::add;
    Sub => big::sub;
    Mul => big::mul;
    Div => big::div;
    Rem => big::rem;
    Band => big::band;
    Bor => big::bor;
    Bxor => big::bxor;
    Bsl => big::bsl;
    Bsr => big::bsr;
    Divide => big::divide;
}
