//! Stack frames and heap checks.

use crate::ctx::{Dst, Src, X, Y, bound, fits};
use crate::{fusable, goto, load, next, ops, save, then};
use heddle_runtime::zeal;
use heddle_term::Term;

/// Collects for `need` words and continues. If that may take long, ends the slice and runs the same operation again.
macro_rules! collect_and_retry {
    ($ip:ident, $c:ident, $h:ident, $s:ident, $r:ident; $need:expr, $live:expr) => {{
        let need = $need;
        let live = $live;
        save!($c, $h, $s);
        if crate::collect::put_off($ip, $c, need, live, $r) {
            return crate::ctx::OUT_YIELD;
        }
        crate::collect::make_room($c, need, live);
        load!($c, $h, $s);
        $r = crate::collect::left_over_limit(&*(*$c).p, $r);
    }};
}
pub(crate) use collect_and_retry;

fusable! {
    // frame size, live. Later operations initialise the slots before anything can read them.
    fn allocate(ip, c, h, s, r; N) {
        let n = *ip.add(1) as usize;
        if !fits(h, s, n) {
            return allocate_slow(ip, c, h, s, r);
        }
        s = s.sub(n);
        then!(N, ip, c, h, s, r; 3)
    }
}

ops! {
    #[cold]
    fn allocate_slow(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize, *ip.add(2) as usize);
        s = s.sub(*ip.add(1) as usize);
        next!(ip, c, h, s, r; 3)
    }
}

fusable! {
    // frame size, live, then a move into the new frame: src (X register), dst (slot)
    fn allocate_move(ip, c, h, s, r; N) {
        let n = *ip.add(1) as usize;
        if !fits(h, s, n) {
            return allocate_move_slow(ip, c, h, s, r);
        }
        s = s.sub(n);
        Y::set(*ip.add(4), c, s, X::get(*ip.add(3), c, s));
        then!(N, ip, c, h, s, r; 5)
    }
}

ops! {
    #[cold]
    fn allocate_move_slow(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize, *ip.add(2) as usize);
        s = s.sub(*ip.add(1) as usize);
        Y::set(*ip.add(4), c, s, X::get(*ip.add(3), c, s));
        next!(ip, c, h, s, r; 5)
    }
}

fusable! {
    // need, live, then head, tail, dst
    fn test_heap_put_list<H: Src, T: Src, D: Dst>(ip, c, h, s, r; N) {
        if !fits(h, s, *ip.add(1) as usize) {
            return test_heap_put_list_slow::<H, T, D>(ip, c, h, s, r);
        }
        let head = H::get(*ip.add(3), c, s);
        let tail = T::get(*ip.add(4), c, s);
        *h = head.raw();
        *h.add(1) = tail.raw();
        D::set(*ip.add(5), c, s, Term::cons(h));
        h = h.add(2);
        then!(N, ip, c, h, s, r; 6)
    }
}

ops! {
    #[cold]
    fn test_heap_put_list_slow<H: Src, T: Src, D: Dst>(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize, *ip.add(2) as usize);
        let head = H::get(*ip.add(3), c, s);
        let tail = T::get(*ip.add(4), c, s);
        *h = head.raw();
        *h.add(1) = tail.raw();
        D::set(*ip.add(5), c, s, Term::cons(h));
        h = h.add(2);
        next!(ip, c, h, s, r; 6)
    }
}

fusable! {
    // frame size, live, heap need
    fn allocate_heap(ip, c, h, s, r; N) {
        let n = *ip.add(1) as usize;
        if !fits(h, s, n + *ip.add(3) as usize) {
            return allocate_heap_slow(ip, c, h, s, r);
        }
        s = s.sub(n);
        then!(N, ip, c, h, s, r; 4)
    }
}

ops! {
    #[cold]
    fn allocate_heap_slow(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize + *ip.add(3) as usize, *ip.add(2) as usize);
        s = s.sub(*ip.add(1) as usize);
        next!(ip, c, h, s, r; 4)
    }
}

fusable! {
    // heap need, live
    fn test_heap(ip, c, h, s, r; N) {
        if !fits(h, s, *ip.add(1) as usize) {
            return test_heap_slow(ip, c, h, s, r);
        }
        then!(N, ip, c, h, s, r; 3)
    }
}

ops! {
    #[cold]
    fn test_heap_slow(ip, c, h, s, r) {
        collect_and_retry!(ip, c, h, s, r; *ip.add(1) as usize, *ip.add(2) as usize);
        next!(ip, c, h, s, r; 3)
    }
    // In zeal mode these stand before every allocation: need, live
    fn zeal_collect(ip, c, h, s, r) {
        if zeal::gc() {
            collect_and_retry!(ip, c, h, s, r; 0, *ip.add(1) as usize);
        }
        next!(ip, c, h, s, r; 2)
    }
}

fusable! {
    // frame size
    fn deallocate(ip, c, h, s, r; N) {
        s = s.add(*ip.add(1) as usize);
        then!(N, ip, c, h, s, r; 2)
    }
    // deallocate, then return: frame size
    fn deallocate_return(ip, c, h, s, r; N) {
        s = s.add(*ip.add(1) as usize);
        let target = crate::ctx::continuation_target(*s);
        s = s.add(1);
        goto!(target, c, h, s, r)
    }
    // words
    fn trim(ip, c, h, s, r; N) {
        s = s.add(*ip.add(1) as usize);
        then!(N, ip, c, h, s, r; 2)
    }
    // byte offset
    fn init_yreg(ip, c, h, s, r; N) {
        Y::set(*ip.add(1), c, s, Term::NIL);
        then!(N, ip, c, h, s, r; 2)
    }
    // byte offset, byte offset
    fn init_yregs_2(ip, c, h, s, r; N) {
        Y::set(*ip.add(1), c, s, Term::NIL);
        Y::set(*ip.add(2), c, s, Term::NIL);
        then!(N, ip, c, h, s, r; 3)
    }
    // count, byte offsets
    fn init_yregs(ip, c, h, s, r; N) {
        let n = *ip.add(1) as usize;
        let mut i = 0;
        while i < bound(ip.add(1)) {
            *(s as *mut u8).add(*ip.add(2 + i) as usize).cast::<u64>() = Term::NIL.raw();
            i += 1;
        }
        then!(N, ip, c, h, s, r; 2 + n)
    }
    // target
    fn jump(ip, c, h, s, r; N) {
        goto!(*ip.add(1) as *const u64, c, h, s, r)
    }
}
