//! The order of terms. Entry points: `cmp` and `cmp_exact`.
//!
//! Most terms are not deep: `shallow` compares them by recursion of a few levels. For all others the walk keeps a stack of frames. A difference ends the walk, unless a `Sort` frame is on the stack: comparing two hash
//! maps needs their keys in term order, sorting needs comparisons of keys, and a key may be such a map again. The sort is
//! therefore a frame of its own that asks the walk for one comparison at a time.

use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::map::MapIter;
use crate::term::Term;
use std::cmp::Ordering;

/// Arithmetic term order: `<`, `>`, `lists:sort`.
#[inline(always)]
pub fn cmp(a: Term, b: Term) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if a.is_small() && b.is_small() {
        return (a.raw() as i64).cmp(&(b.raw() as i64));
    }
    compare(a, b, false)
}

/// Term order with integers before floats: `erts_internal:cmp_term/2` and map keys.
#[inline(always)]
pub fn cmp_exact(a: Term, b: Term) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    if a.is_small() && b.is_small() {
        return (a.raw() as i64).cmp(&(b.raw() as i64));
    }
    compare(a, b, true)
}

/// The order in which a flat map stores its keys: atoms by age, everything else by exact term order.
#[inline(always)]
pub fn cmp_map_keys(a: Term, b: Term) -> Ordering {
    if a == b {
        Ordering::Equal
    } else if a.is_small() && b.is_small() {
        (a.raw() as i64).cmp(&(b.raw() as i64))
    } else if let (Some(a), Some(b)) = (a.as_atom(), b.as_atom()) {
        a.cmp_age(b)
    } else {
        compare(a, b, true)
    }
}

/// Position of a term's type in the order. Integers and floats share one unless the order is exact.
fn rank(term: Term) -> u8 {
    if term.is_small() {
        return 0;
    }
    if term.is_atom() {
        return 2;
    }
    if term.is_local_port() {
        return 5;
    }
    if term.is_local_pid() {
        return 6;
    }
    if term.is_nil() {
        return 9;
    }
    if term.is_cons() {
        return 10;
    }
    match term.kind() {
        Some(Kind::PosBig | Kind::NegBig) => 0,
        Some(Kind::Float) => 1,
        Some(Kind::Ref | Kind::MagicRef | Kind::ExtRef) => 3,
        Some(Kind::Fun | Kind::ExportFun) => 4,
        Some(Kind::ExtPort) => 5,
        Some(Kind::ExtPid) => 6,
        Some(Kind::Tuple) => 7,
        Some(Kind::FlatMap | Kind::HashMap) => 8,
        _ => 11,
    }
}

enum Frame {
    One(Term, Term, bool),
    Run(*const Term, *const Term, usize, bool),
    /// Pairs in order, with the position of the next one.
    Pairs(Vec<(Term, Term, bool)>, usize),
    Sort(Box<MapSort>),
}

#[inline(never)]
fn compare(a: Term, b: Term, exact: bool) -> Ordering {
    shallow(a, b, exact, SHALLOW_LEVELS).unwrap_or_else(|| compare_deep(a, b, exact))
}

/// Levels of terms that are compared by recursion. Deeper ones are rare.
pub(crate) const SHALLOW_LEVELS: u32 = 8;

/// The order of two terms, or None if they have more levels than that, or maps or funs in them.
fn shallow(mut a: Term, mut b: Term, exact: bool, levels: u32) -> Option<Ordering> {
    loop {
        if a == b {
            return Some(Ordering::Equal);
        }
        if a.is_small() && b.is_small() {
            return Some((a.raw() as i64).cmp(&(b.raw() as i64)));
        }
        if a.is_cons() && b.is_cons() {
            let order = part(a.head(), b.head(), exact, levels)?;
            if order.is_ne() {
                return Some(order);
            }
            (a, b) = (a.tail(), b.tail());
            continue;
        }
        if a.is_boxed() && b.is_boxed() && a.header() == b.header() && a.is_tuple() {
            // Two tuples of one size: the most frequent case.
            let n = a.header().arity();
            if n == 0 {
                return Some(Ordering::Equal);
            }
            for at in 0..n - 1 {
                let order = part(a.slot(at), b.slot(at), exact, levels)?;
                if order.is_ne() {
                    return Some(order);
                }
            }
            (a, b) = (a.slot(n - 1), b.slot(n - 1));
            continue;
        }
        let (ra, rb) = (rank(a), rank(b));
        if ra != rb {
            return Some(unlike(a, b, ra, rb, exact));
        }
        return match ra {
            // They differ in size.
            7 => Some(a.header().arity().cmp(&b.header().arity())),
            4 | 8 => None,
            _ => Some(leaf(ra, a, b, exact)),
        };
    }
}

/// The order of two terms inside of others.
#[inline(always)]
fn part(a: Term, b: Term, exact: bool, levels: u32) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    if a.is_small() && b.is_small() {
        return Some((a.raw() as i64).cmp(&(b.raw() as i64)));
    }
    if levels == 0 { None } else { shallow(a, b, exact, levels - 1) }
}

/// The order of terms of different ranks.
fn unlike(a: Term, b: Term, ra: u8, rb: u8, exact: bool) -> Ordering {
    if ra + rb != 1 || exact {
        return ra.cmp(&rb);
    }
    match a.as_float() {
        Some(f) => cmp_int_float(b, f).reverse(),
        None => cmp_int_float(a, b.as_float().unwrap_or(0.0)),
    }
}

#[inline(never)]
fn compare_deep(a: Term, b: Term, exact: bool) -> Ordering {
    let mut stack: Vec<Frame> = Vec::new();
    let mut sorts = 0usize;
    let (mut a, mut b, mut exact) = (a, b, exact);
    loop {
        let mut order = step(&mut a, &mut b, exact, &mut stack, &mut sorts);
        // Find the next pair, or the sort that waits for this answer.
        loop {
            if let Some(o) = order.filter(|o| o.is_ne()) {
                if sorts == 0 {
                    return o;
                }
                while !matches!(stack.last(), Some(Frame::Sort(_))) {
                    stack.pop();
                }
            }
            match stack.last_mut() {
                None => return Ordering::Equal,
                Some(Frame::One(x, y, e)) => {
                    (a, b, exact) = (*x, *y, *e);
                    stack.pop();
                    break;
                }
                Some(Frame::Run(_, _, 0, _)) => {
                    stack.pop();
                    order = None;
                }
                Some(Frame::Run(x, y, n, e)) => {
                    // SAFETY: the run has `n` terms left on both sides.
                    (a, b, exact) = unsafe { (**x, **y, *e) };
                    (*x, *y, *n) = (x.wrapping_add(1), y.wrapping_add(1), *n - 1);
                    break;
                }
                Some(Frame::Pairs(pairs, at)) => match pairs.get(*at) {
                    Some(&pair) => {
                        *at += 1;
                        (a, b, exact) = pair;
                        break;
                    }
                    None => {
                        stack.pop();
                        order = None;
                    }
                },
                Some(Frame::Sort(sort)) => {
                    if let Some((x, y)) = sort.advance(order.take()) {
                        (a, b, exact) = (x, y, true);
                        break;
                    }
                    let pairs = sort.finish();
                    stack.pop();
                    sorts -= 1;
                    stack.push(Frame::Pairs(pairs, 0));
                }
            }
        }
    }
}

/// Compares one pair. Compound terms push what is left and count as equal so far; lists are walked here.
fn step(a: &mut Term, b: &mut Term, exact: bool, stack: &mut Vec<Frame>, sorts: &mut usize) -> Option<Ordering> {
    loop {
        let (x, y) = (*a, *b);
        if x == y {
            return Some(Ordering::Equal);
        }
        if x.is_small() && y.is_small() {
            return Some((x.raw() as i64).cmp(&(y.raw() as i64)));
        }
        if x.is_cons() && y.is_cons() {
            let (p, q) = (x.head(), y.head());
            if p == q {
                (*a, *b) = (x.tail(), y.tail());
            } else {
                if !differ(p, q) {
                    stack.push(Frame::One(x.tail(), y.tail(), exact));
                }
                (*a, *b) = (p, q);
            }
            continue;
        }
        let (ra, rb) = (rank(x), rank(y));
        if ra != rb {
            return Some(unlike(x, y, ra, rb, exact));
        }
        return match ra {
            7 => {
                let n = x.header().arity();
                let order = n.cmp(&y.header().arity());
                if order != Ordering::Equal {
                    return Some(order);
                }
                let (p, q, left) = unlike_rest(x.ptr().wrapping_add(1).cast(), y.ptr().wrapping_add(1).cast(), n);
                if left == 0 {
                    return Some(Ordering::Equal);
                }
                // SAFETY: there are terms left on both sides.
                (*a, *b) = unsafe { (*p, *q) };
                if left > 1 && !differ(*a, *b) {
                    stack.push(Frame::Run(p.wrapping_add(1), q.wrapping_add(1), left - 1, exact));
                }
                continue;
            }
            8 => maps(x, y, exact, stack, sorts),
            4 => funs(x, y, exact, stack),
            _ => Some(leaf(ra, x, y, exact)),
        };
    }
}

/// True if what follows these two words, which are not the same, matters no more.
#[inline(always)]
pub(crate) fn differ(a: Term, b: Term) -> bool {
    a.is_immediate() && b.is_immediate()
}

/// Two runs of `n` terms without what they have in common at the beginning, word by word.
#[inline(always)]
pub(crate) fn unlike_rest(mut a: *const Term, mut b: *const Term, mut n: usize) -> (*const Term, *const Term, usize) {
    // SAFETY: there are `n` terms on both sides.
    while n > 0 && unsafe { *a == *b } {
        (a, b, n) = (a.wrapping_add(1), b.wrapping_add(1), n - 1);
    }
    (a, b, n)
}

fn leaf(rank: u8, a: Term, b: Term, exact: bool) -> Ordering {
    match rank {
        0 => cmp_integers(a, b),
        1 => {
            let (x, y) = (f64::from_bits(a.word(0)), f64::from_bits(b.word(0)));
            if exact { x.total_cmp(&y) } else { x.partial_cmp(&y).unwrap_or(Ordering::Equal) }
        }
        2 => match (a.as_atom(), b.as_atom()) {
            (Some(x), Some(y)) => x.cmp_name(y),
            _ => Ordering::Equal,
        },
        3 => view_cmp(RefView::of(a), RefView::of(b), RefView::order),
        5 => view_cmp(PortView::of(a), PortView::of(b), PortView::order),
        6 => view_cmp(PidView::of(a), PidView::of(b), PidView::order),
        _ => cmp_bits(a, b),
    }
}

fn view_cmp<V>(a: Option<V>, b: Option<V>, cmp: fn(V, V) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => cmp(a, b),
        _ => Ordering::Equal,
    }
}

fn funs(a: Term, b: Term, exact: bool, stack: &mut Vec<Frame>) -> Option<Ordering> {
    match (a.header().kind(), b.header().kind()) {
        (Kind::Fun, Kind::Fun) => {
            let (x, y) = (fun::entry(a), fun::entry(b));
            let n = a.header().arity();
            let order = (x.module.cmp_name(y.module))
                .then_with(|| x.index.cmp(&y.index))
                .then_with(|| x.old_uniq.cmp(&y.old_uniq))
                .then_with(|| n.cmp(&b.header().arity()));
            if order != Ordering::Equal {
                return Some(order);
            }
            stack.push(Frame::Run(a.ptr().wrapping_add(3).cast(), b.ptr().wrapping_add(3).cast(), n - 2, exact));
            None
        }
        (Kind::ExportFun, Kind::ExportFun) => {
            let (x, y) = (fun::export(a).mfa, fun::export(b).mfa);
            let order = x.module.cmp_name(y.module).then_with(|| x.function.cmp_name(y.function));
            Some(order.then_with(|| x.arity.cmp(&y.arity)))
        }
        (Kind::Fun, _) => Some(Ordering::Less),
        _ => Some(Ordering::Greater),
    }
}

fn maps(a: Term, b: Term, exact: bool, stack: &mut Vec<Frame>, sorts: &mut usize) -> Option<Ordering> {
    let order = crate::map::size(a).cmp(&crate::map::size(b));
    if order != Ordering::Equal {
        return Some(order);
    }
    let mut left: Vec<(Term, Term)> = MapIter::new(a).collect();
    let mut right: Vec<(Term, Term)> = MapIter::new(b).collect();
    if a.is_kind(Kind::FlatMap) {
        // Stored in key order but for the atoms, which are stored by number.
        sort_atom_keys(&mut left);
        sort_atom_keys(&mut right);
        stack.push(Frame::Pairs(zip(&left, &right, exact), 0));
        return None;
    }
    if left.iter().chain(&right).all(|(k, _)| is_leaf(*k)) {
        left.sort_by(|x, y| cmp_exact(x.0, y.0));
        right.sort_by(|x, y| cmp_exact(x.0, y.0));
        stack.push(Frame::Pairs(zip(&left, &right, exact), 0));
        return None;
    }
    stack.push(Frame::Sort(Box::new(MapSort::new(left, right, exact))));
    *sorts += 1;
    None
}

fn is_leaf(key: Term) -> bool {
    key.is_immediate() || (key.is_boxed() && !matches!(key.header().kind(), Kind::Tuple | Kind::FlatMap | Kind::HashMap | Kind::Fun))
}

fn sort_atom_keys(pairs: &mut [(Term, Term)]) {
    let from = pairs.iter().position(|(k, _)| k.is_atom()).unwrap_or(pairs.len());
    let count = pairs[from..].iter().take_while(|(k, _)| k.is_atom()).count();
    pairs[from..from + count].sort_by(|x, y| leaf(2, x.0, y.0, true));
}

/// All keys in order (exact), then all values.
fn zip(left: &[(Term, Term)], right: &[(Term, Term)], exact: bool) -> Vec<(Term, Term, bool)> {
    let keys = left.iter().zip(right).map(|(x, y)| (x.0, y.0, true));
    let values = left.iter().zip(right).map(|(x, y)| (x.1, y.1, exact));
    keys.chain(values).collect()
}

/// Bottom-up merge sort of the pairs of two maps by key, one comparison at a time.
struct MapSort {
    sides: [Vec<(Term, Term)>; 2],
    exact: bool,
    side: usize,
    width: usize,
    out: Vec<(Term, Term)>,
    /// Current runs: positions and ends of the left and right run.
    left: (usize, usize),
    right: (usize, usize),
    asked: bool,
}

impl MapSort {
    fn new(left: Vec<(Term, Term)>, right: Vec<(Term, Term)>, exact: bool) -> MapSort {
        let n = left.len();
        let mut sort = MapSort {
            sides: [left, right],
            exact,
            side: 0,
            width: 1,
            out: Vec::with_capacity(n),
            left: (0, 0),
            right: (0, 0),
            asked: false,
        };
        sort.open(0);
        sort
    }

    fn open(&mut self, at: usize) {
        let n = self.sides[self.side].len();
        let middle = (at + self.width).min(n);
        self.left = (at, middle);
        self.right = (middle, (middle + self.width).min(n));
    }

    /// Takes the answer to the last question, returns the next one; None when both sides are sorted.
    fn advance(&mut self, answer: Option<Ordering>) -> Option<(Term, Term)> {
        if self.asked {
            self.asked = false;
            let run = if answer == Some(Ordering::Greater) { &mut self.right } else { &mut self.left };
            self.out.push(self.sides[self.side][run.0]);
            run.0 += 1;
        }
        loop {
            let pairs = &self.sides[self.side];
            if self.left.0 < self.left.1 && self.right.0 < self.right.1 {
                self.asked = true;
                return Some((pairs[self.left.0].0, pairs[self.right.0].0));
            }
            self.out.extend_from_slice(&pairs[self.left.0..self.left.1]);
            self.out.extend_from_slice(&pairs[self.right.0..self.right.1]);
            let end = self.right.1;
            if end < pairs.len() {
                self.open(end);
                continue;
            }
            let n = pairs.len();
            std::mem::swap(&mut self.sides[self.side], &mut self.out);
            self.out.clear();
            self.width *= 2;
            if self.width >= n {
                if self.side == 1 {
                    return None;
                }
                (self.side, self.width) = (1, 1);
            }
            self.open(0);
        }
    }

    fn finish(&self) -> Vec<(Term, Term, bool)> {
        zip(&self.sides[0], &self.sides[1], self.exact)
    }
}

fn digits<'a>(term: Term) -> &'a [u64] {
    // SAFETY: a big integer has `arity` digits after its header.
    unsafe { std::slice::from_raw_parts(term.ptr().add(1), term.header().arity()) }
}

fn cmp_integers(a: Term, b: Term) -> Ordering {
    let sign = |t: Term| match t.kind() {
        None => 0,
        Some(Kind::PosBig) => 1,
        _ => -1,
    };
    let (x, y) = (sign(a), sign(b));
    if x != y {
        return x.cmp(&y);
    }
    if x == 0 {
        return a.small_value().cmp(&b.small_value());
    }
    let order = cmp_digits(digits(a), digits(b));
    if x < 0 { order.reverse() } else { order }
}

fn cmp_digits(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Exact comparison of an integer with a finite float.
pub fn cmp_int_float(integer: Term, float: f64) -> Ordering {
    if let Some(value) = integer.as_small() {
        if float.abs() >= (1u64 << 60) as f64 {
            return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        let whole = float.trunc();
        return value.cmp(&(whole as i64)).then_with(|| whole.partial_cmp(&float).unwrap_or(Ordering::Equal));
    }
    let negative = integer.is_kind(Kind::NegBig);
    if float.abs() < (1u64 << 59) as f64 || negative != (float < 0.0) {
        return if negative { Ordering::Less } else { Ordering::Greater };
    }
    // Here the float is an integer: mantissa times a power of two.
    let bits = float.abs().to_bits();
    let exponent = (bits >> 52) as i64 - 1075;
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let mut words = [0u64; 18];
    if exponent <= 0 {
        words[0] = mantissa >> -exponent;
    } else {
        let (at, shift) = (exponent as usize / 64, exponent as u32 % 64);
        let wide = (mantissa as u128) << shift;
        words[at] = wide as u64;
        words[at + 1] = (wide >> 64) as u64;
    }
    let len = words.iter().rposition(|&w| w != 0).map_or(0, |i| i + 1);
    let order = cmp_digits(digits(integer), &words[..len]);
    if negative { order.reverse() } else { order }
}

fn cmp_bits(a: Term, b: Term) -> Ordering {
    let (Some(x), Some(y)) = (BitsView::of(a), BitsView::of(b)) else { return Ordering::Equal };
    if let (Some(p), Some(q)) = (x.as_bytes(), y.as_bytes()) {
        return p.cmp(q);
    }
    let common = x.size_bits.min(y.size_bits);
    for at in (0..common).step_by(8) {
        let keep = 0xffu8.checked_shl(8 - (common - at).min(8) as u32).unwrap_or(0);
        let order = (x.byte_at(at) & keep).cmp(&(y.byte_at(at) & keep));
        if order != Ordering::Equal {
            return order;
        }
    }
    x.size_bits.cmp(&y.size_bits)
}
