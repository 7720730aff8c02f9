//! Map instructions.

use crate::collect::after_native;
use crate::ctx::{Ctx, any, fits, put};
use crate::ops::errors::raise;
use crate::ops::frames::collect_and_retry;
use crate::{goto, load, next, ops, save};
use heddle_runtime::process::Exception;
use heddle_term::{Term, am, map};

ops! {
    // src, label, count, (key, dst)...
    fn get_map_elements(ip, c, h, s, r) {
        let m = any(*ip.add(1), c, s);
        let n = *ip.add(3) as usize;
        let mut i = 0;
        while i < n {
            let value = lookup(m, any(*ip.add(4 + 2 * i), c, s));
            if value.is_none() {
                goto!(*ip.add(2) as *const u64, c, h, s, r)
            }
            put(*ip.add(5 + 2 * i), c, s, value);
            i += 1;
        }
        next!(ip, c, h, s, r; 4 + 2 * n)
    }
    // src, label, count, keys...
    fn has_map_fields(ip, c, h, s, r) {
        let m = any(*ip.add(1), c, s);
        let n = *ip.add(3) as usize;
        let mut i = 0;
        while i < n {
            if lookup(m, any(*ip.add(4 + i), c, s)).is_none() {
                goto!(*ip.add(2) as *const u64, c, h, s, r)
            }
            i += 1;
        }
        next!(ip, c, h, s, r; 4 + n)
    }
    // header, tuple of keys, live, dst, count, values in the order of the keys: all maps that this operation makes share the tuple of keys,
    // which the code knows
    fn new_map(ip, c, h, s, r) {
        let n = *ip.add(5) as usize;
        if !fits(h, s, n + 2) {
            return new_map_slow(ip, c, h, s, r);
        }
        *h = *ip.add(1);
        *h.add(1) = *ip.add(2);
        let mut i = 0;
        while i < n {
            *h.add(2 + i) = any(*ip.add(6 + i), c, s).raw();
            i += 1;
        }
        put(*ip.add(4), c, s, Term::boxed(h));
        h = h.add(n + 2);
        next!(ip, c, h, s, r; 6 + n)
    }
    #[cold]
    fn new_map_slow(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(5) as usize + 2, *ip.add(3) as usize);
        return new_map(ip, c, h, s, r);
    }
    // exact (0/1), label (0: raise), src, dst, live, count, (key, value)...
    fn put_map(ip, c, h, s, r) {
        let code = update(ip, c, h, s);
        load!(c, h, s);
        if code == 0 {
            next!(ip, c, h, s, r; 7 + 2 * *ip.add(6) as usize)
        }
        if *ip.add(2) != 0 {
            goto!(*ip.add(2) as *const u64, c, h, s, r)
        }
        return raise(ip, c, h, s, r);
    }
}

/// Value of a key, or NONE. A separate function from `map::get`, so that the operation above needs no frame of its own.
#[inline(always)]
fn lookup(m: Term, key: Term) -> Term {
    map::get(m, key).unwrap_or(Term::NONE)
}

#[inline(never)]
unsafe fn update(ip: *const u64, c: *mut Ctx, h: *mut u64, s: *mut u64) -> u64 {
    // SAFETY: cells as emitted by the loader.
    unsafe {
        let p = save!(c, h, s);
        let exact = *ip.add(1) != 0;
        let source = any(*ip.add(3), c, s);
        if !source.is_map() {
            let reason = p.heap.tuple(&[am::BADMAP.into(), source]);
            p.exception = Exception { reason, ..Exception::NONE };
            return 1;
        }
        let n = *ip.add(6) as usize;
        let pair = |i| (any(*ip.add(7 + 2 * i), c, s), any(*ip.add(8 + 2 * i), c, s));
        let (few, many);
        let pairs: &[(Term, Term)] = if n <= 4 {
            few = std::array::from_fn::<_, 4, _>(|i| if i < n { pair(i) } else { (Term::NIL, Term::NIL) });
            &few[..n]
        } else {
            many = (0..n).map(pair).collect::<Vec<_>>();
            &many
        };
        match map::update_many(&mut p.heap, source, pairs, exact) {
            Ok(result) => {
                let live = *ip.add(5) as usize;
                (*c).x[live] = result;
                after_native(c, live + 1);
                let result = (*c).x[live];
                put(*ip.add(4), c, (*(*c).p).stop, result);
                0
            }
            Err(_) => {
                // The first missing one in the order of keys, independent of its place in the source.
                let missing = pairs.iter().map(|pair| pair.0).filter(|&key| !map::contains(source, key));
                let key = missing.min_by(|&a, &b| heddle_term::order::cmp_map_keys(a, b)).expect("a key is missing");
                let reason = p.heap.tuple(&[am::BADKEY.into(), key]);
                p.exception = Exception { reason, ..Exception::NONE };
                1
            }
        }
    }
}
