//! Equality of terms. (The order is in `compare`, re-exported here.)
//!
//! Three relations: `eq` (`==`), `exact_eq` (`=:=`), and the two orders `cmp` (arithmetic) and `cmp_exact` (integers before
//! floats, -0.0 before +0.0; the order of map keys). Nothing recurses for more than a few levels: what is left to compare stands on a `Vec`.

use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::compare::{SHALLOW_LEVELS, cmp_int_float, differ, unlike_rest};
pub use crate::compare::{cmp, cmp_exact, cmp_map_keys};
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::term::Term;
use std::cmp::Ordering;

/// `A =:= B`.
#[inline(always)]
pub fn exact_eq(a: Term, b: Term) -> bool {
    a == b || (a.is_pointer() && b.is_pointer() && a.tag() == b.tag() && equal(a, b, true))
}

/// `A == B`.
#[inline(always)]
pub fn eq(a: Term, b: Term) -> bool {
    a == b || ((a.is_pointer() || b.is_pointer()) && equal(a, b, false))
}

/// Pairs still to compare.
enum Pending {
    One(Term, Term, bool),
    /// Two runs of `len` terms.
    Run(*const Term, *const Term, usize, bool),
}

fn slots(term: Term, from: usize) -> *const Term {
    term.ptr().wrapping_add(1 + from) as *const Term
}

#[inline(never)]
fn equal(a: Term, b: Term, exact: bool) -> bool {
    shallow(a, b, exact, SHALLOW_LEVELS).unwrap_or_else(|| equal_deep(a, b, exact))
}

/// Most terms that are compared differ early, or are not deep: those need no `Vec`. None for terms of more levels than that, and for those that
/// may have large maps or funs in them.
fn shallow(mut a: Term, mut b: Term, exact: bool, levels: u32) -> Option<bool> {
    loop {
        if a == b {
            return Some(true);
        }
        if a.is_cons() {
            if !b.is_cons() {
                return Some(false);
            }
            if !part(a.head(), b.head(), exact, levels)? {
                return Some(false);
            }
            (a, b) = (a.tail(), b.tail());
            continue;
        }
        // Tuples are the most frequent case. A flat map is a tuple of keys, which are equal exactly, and its values.
        let first = if a.is_boxed() && b.is_boxed() && a.is_tuple() {
            0
        } else {
            let (Some(ka), Some(kb)) = (a.kind(), b.kind()) else { return Some(!exact && mixed_number_eq(a, b)) };
            match (ka, kb) {
                (Kind::FlatMap, Kind::FlatMap) => 1,
                (Kind::HashMap, Kind::HashMap) | (Kind::HashNode, Kind::HashNode) | (Kind::Fun, Kind::Fun) => return None,
                _ => return Some(leaf_eq(a, ka, b, kb, exact)),
            }
        };
        // Their headers say what they are and their size.
        if a.header() != b.header() {
            return Some(false);
        }
        let n = a.header().arity();
        if first == 1 && !part(a.slot(0), b.slot(0), true, levels)? {
            return Some(false);
        }
        if n == first {
            return Some(true);
        }
        for at in first..n - 1 {
            if !part(a.slot(at), b.slot(at), exact, levels)? {
                return Some(false);
            }
        }
        (a, b) = (a.slot(n - 1), b.slot(n - 1));
    }
}

/// The same for two terms inside of others.
#[inline(always)]
fn part(a: Term, b: Term, exact: bool, levels: u32) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    if !(a.is_pointer() || b.is_pointer()) {
        return Some(false);
    }
    if levels == 0 { None } else { shallow(a, b, exact, levels - 1) }
}

#[inline(never)]
fn equal_deep(a: Term, b: Term, exact: bool) -> bool {
    let mut stack: Vec<Pending> = Vec::new();
    let (mut a, mut b, mut exact) = (a, b, exact);
    loop {
        if a != b {
            if a.is_cons() {
                if !b.is_cons() {
                    return false;
                }
                let (x, y) = (a.head(), b.head());
                if x != y {
                    if x.is_pointer() || y.is_pointer() {
                        stack.push(Pending::One(a.tail(), b.tail(), exact));
                        (a, b) = (x, y);
                        continue;
                    }
                    return false;
                }
                (a, b) = (a.tail(), b.tail());
                continue;
            }
            let (Some(ka), Some(kb)) = (a.kind(), b.kind()) else {
                if exact || !mixed_number_eq(a, b) {
                    return false;
                }
                match next(&mut stack) {
                    Some(pair) => (a, b, exact) = pair,
                    None => return true,
                }
                continue;
            };
            let same = match (ka, kb) {
                (Kind::Tuple, Kind::Tuple) => {
                    let n = a.header().arity();
                    if n != b.header().arity() {
                        return false;
                    }
                    let (x, y, left) = unlike_rest(slots(a, 0), slots(b, 0), n);
                    if left > 0 {
                        // SAFETY: there are terms left on both sides.
                        (a, b) = unsafe { (*x, *y) };
                        if differ(a, b) {
                            return false;
                        }
                        if left > 1 {
                            stack.push(Pending::Run(x.wrapping_add(1), y.wrapping_add(1), left - 1, exact));
                        }
                        continue;
                    }
                    true
                }
                (Kind::FlatMap, Kind::FlatMap) => {
                    let n = a.header().arity();
                    if n != b.header().arity() {
                        return false;
                    }
                    stack.push(Pending::Run(slots(a, 1), slots(b, 1), n - 1, exact));
                    stack.push(Pending::One(a.slot(0), b.slot(0), true));
                    true
                }
                (Kind::HashMap, Kind::HashMap) | (Kind::HashNode, Kind::HashNode) => {
                    // The trie's shape depends on the keys alone, so equal maps have equal shapes.
                    if a.header() != b.header() || (ka == Kind::HashMap && a.slot(0) != b.slot(0)) {
                        return false;
                    }
                    for i in (ka == Kind::HashMap) as usize..a.header().arity() {
                        let (x, y) = (a.slot(i), b.slot(i));
                        if x == y {
                            continue;
                        }
                        if x.is_cons() && y.is_cons() {
                            stack.push(Pending::One(x.tail(), y.tail(), exact));
                            stack.push(Pending::One(x.head(), y.head(), true));
                        } else if x.is_boxed() && y.is_boxed() {
                            stack.push(Pending::One(x, y, exact));
                        } else {
                            return false;
                        }
                    }
                    true
                }
                (Kind::Fun, Kind::Fun) => {
                    let (ea, eb) = (fun::entry(a), fun::entry(b));
                    let same_entry = std::ptr::eq(ea, eb)
                        || (ea.module == eb.module && ea.old_uniq == eb.old_uniq && ea.index == eb.index && ea.uniq == eb.uniq);
                    let n = a.header().arity();
                    if !same_entry || n != b.header().arity() {
                        return false;
                    }
                    stack.push(Pending::Run(slots(a, 2), slots(b, 2), n - 2, exact));
                    true
                }
                _ => leaf_eq(a, ka, b, kb, exact),
            };
            if !same {
                return false;
            }
        }
        match next(&mut stack) {
            Some(pair) => (a, b, exact) = pair,
            None => return true,
        }
    }
}

fn next(stack: &mut Vec<Pending>) -> Option<(Term, Term, bool)> {
    loop {
        match stack.last_mut()? {
            Pending::One(a, b, exact) => {
                let pair = (*a, *b, *exact);
                stack.pop();
                return Some(pair);
            }
            Pending::Run(_, _, 0, _) => {
                stack.pop();
            }
            Pending::Run(a, b, n, exact) => {
                // SAFETY: the run has `n` terms left on both sides.
                let pair = unsafe { (**a, **b, *exact) };
                (*a, *b, *n) = (a.wrapping_add(1), b.wrapping_add(1), *n - 1);
                return Some(pair);
            }
        }
    }
}

/// Equality of boxed objects without terms inside.
fn leaf_eq(a: Term, ka: Kind, b: Term, kb: Kind, exact: bool) -> bool {
    match (ka, kb) {
        (Kind::PosBig, Kind::PosBig) | (Kind::NegBig, Kind::NegBig) => {
            a.header() == b.header() && (0..a.header().arity()).all(|i| a.word(i) == b.word(i))
        }
        (Kind::Float, Kind::Float) => a.word(0) == b.word(0) || (!exact && f64::from_bits(a.word(0)) == f64::from_bits(b.word(0))),
        (Kind::HeapBits | Kind::BinRef | Kind::SubBits, Kind::HeapBits | Kind::BinRef | Kind::SubBits) => bits_eq(a, b),
        (Kind::ExportFun, Kind::ExportFun) => fun::export(a).mfa == fun::export(b).mfa,
        (Kind::Ref | Kind::MagicRef | Kind::ExtRef, Kind::Ref | Kind::MagicRef | Kind::ExtRef) => RefView::of(a) == RefView::of(b),
        (Kind::ExtPid, Kind::ExtPid) => PidView::of(a) == PidView::of(b),
        (Kind::ExtPort, Kind::ExtPort) => PortView::of(a) == PortView::of(b),
        _ => !exact && mixed_number_eq(a, b),
    }
}

fn mixed_number_eq(a: Term, b: Term) -> bool {
    match (a.as_float(), b.as_float()) {
        (None, Some(f)) if a.is_integer() => cmp_int_float(a, f) == Ordering::Equal,
        (Some(f), None) if b.is_integer() => cmp_int_float(b, f) == Ordering::Equal,
        _ => false,
    }
}

fn bits_eq(a: Term, b: Term) -> bool {
    let (Some(x), Some(y)) = (BitsView::of(a), BitsView::of(b)) else { return false };
    if x.size_bits != y.size_bits {
        return false;
    }
    match (x.as_bytes(), y.as_bytes()) {
        (Some(p), Some(q)) => p == q,
        _ => (0..x.size_bits).step_by(8).all(|at| x.byte_at(at) == y.byte_at(at)),
    }
}
