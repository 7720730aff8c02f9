//! Moving terms; building and taking apart lists and tuples.

use crate::ctx::{Dst, Src, X, any, bound, put};
use crate::{fusable, then};
use heddle_term::{Header, Kind, Term};

fusable! {
    // src, dst
    fn move_1<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, S::get(*ip.add(1), c, s));
        then!(N, ip, c, h, s, r; 3)
    }
    // byte offset
    fn clear_xreg(ip, c, h, s, r; N) {
        X::set(*ip.add(1), c, s, Term::NIL);
        then!(N, ip, c, h, s, r; 2)
    }
    // two moves in one: src, dst, src, dst
    fn move_2<S1: Src, D1: Dst, S2: Src, D2: Dst>(ip, c, h, s, r; N) {
        D1::set(*ip.add(2), c, s, S1::get(*ip.add(1), c, s));
        D2::set(*ip.add(4), c, s, S2::get(*ip.add(3), c, s));
        then!(N, ip, c, h, s, r; 5)
    }
    // reg, reg
    fn swap(ip, c, h, s, r; N) {
        let a = any(*ip.add(1), c, s);
        let b = any(*ip.add(2), c, s);
        put(*ip.add(1), c, s, b);
        put(*ip.add(2), c, s, a);
        then!(N, ip, c, h, s, r; 3)
    }
    // src, head, tail
    fn get_list<S: Src, H: Dst, T: Dst>(ip, c, h, s, r; N) {
        let list = S::get(*ip.add(1), c, s).ptr();
        let head = Term::from_raw(*list);
        let tail = Term::from_raw(*list.add(1));
        H::set(*ip.add(2), c, s, head);
        T::set(*ip.add(3), c, s, tail);
        then!(N, ip, c, h, s, r; 4)
    }
    fn get_hd<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, Term::from_raw(*S::get(*ip.add(1), c, s).ptr()));
        then!(N, ip, c, h, s, r; 3)
    }
    fn get_tl<S: Src, D: Dst>(ip, c, h, s, r; N) {
        D::set(*ip.add(2), c, s, Term::from_raw(*S::get(*ip.add(1), c, s).ptr().add(1)));
        then!(N, ip, c, h, s, r; 3)
    }
    // head, tail, dst
    fn put_list<H: Src, T: Src, D: Dst>(ip, c, h, s, r; N) {
        let head = H::get(*ip.add(1), c, s);
        let tail = T::get(*ip.add(2), c, s);
        *h = head.raw();
        *h.add(1) = tail.raw();
        D::set(*ip.add(3), c, s, Term::cons(h));
        h = h.add(2);
        then!(N, ip, c, h, s, r; 4)
    }
    // src, byte offset from the tuple's header, dst
    fn get_element<S: Src, D: Dst>(ip, c, h, s, r; N) {
        let tuple = S::get(*ip.add(1), c, s).ptr() as *const u8;
        D::set(*ip.add(3), c, s, Term::from_raw(*tuple.add(*ip.add(2) as usize).cast::<u64>()));
        then!(N, ip, c, h, s, r; 4)
    }
    // Two neighbouring elements to two X registers: src, byte offset of the first, dst, dst
    fn get_elements_2<S: Src, D1: Dst, D2: Dst>(ip, c, h, s, r; N) {
        let tuple = (S::get(*ip.add(1), c, s).ptr() as *const u8).add(*ip.add(2) as usize).cast::<u64>();
        let first = Term::from_raw(*tuple);
        let second = Term::from_raw(*tuple.add(1));
        D1::set(*ip.add(3), c, s, first);
        D2::set(*ip.add(4), c, s, second);
        then!(N, ip, c, h, s, r; 5)
    }
    // new element, tuple, byte offset
    fn set_element(ip, c, h, s, r; N) {
        let value = any(*ip.add(1), c, s);
        let tuple = any(*ip.add(2), c, s).ptr() as *mut u8;
        *tuple.add(*ip.add(3) as usize).cast::<u64>() = value.raw();
        then!(N, ip, c, h, s, r; 4)
    }
    // dst, header, count, elements...
    fn put_tuple<D: Dst>(ip, c, h, s, r; N) {
        let n = *ip.add(3) as usize;
        *h = *ip.add(2);
        let mut i = 0;
        while i < bound(ip.add(3)) {
            *h.add(1 + i) = any(*ip.add(4 + i), c, s).raw();
            i += 1;
        }
        D::set(*ip.add(1), c, s, Term::boxed(h));
        h = h.add(1 + n);
        then!(N, ip, c, h, s, r; 4 + n)
    }
    // dst, header, a, b
    fn put_tuple_2<D: Dst>(ip, c, h, s, r; N) {
        *h = *ip.add(2);
        *h.add(1) = any(*ip.add(3), c, s).raw();
        *h.add(2) = any(*ip.add(4), c, s).raw();
        D::set(*ip.add(1), c, s, Term::boxed(h));
        h = h.add(3);
        then!(N, ip, c, h, s, r; 5)
    }
    fn put_tuple_3<D: Dst>(ip, c, h, s, r; N) {
        *h = *ip.add(2);
        *h.add(1) = any(*ip.add(3), c, s).raw();
        *h.add(2) = any(*ip.add(4), c, s).raw();
        *h.add(3) = any(*ip.add(5), c, s).raw();
        D::set(*ip.add(1), c, s, Term::boxed(h));
        h = h.add(4);
        then!(N, ip, c, h, s, r; 6)
    }
    fn put_tuple_4<D: Dst>(ip, c, h, s, r; N) {
        *h = *ip.add(2);
        *h.add(1) = any(*ip.add(3), c, s).raw();
        *h.add(2) = any(*ip.add(4), c, s).raw();
        *h.add(3) = any(*ip.add(5), c, s).raw();
        *h.add(4) = any(*ip.add(6), c, s).raw();
        D::set(*ip.add(1), c, s, Term::boxed(h));
        h = h.add(5);
        then!(N, ip, c, h, s, r; 7)
    }
    fn put_tuple_5<D: Dst>(ip, c, h, s, r; N) {
        *h = *ip.add(2);
        *h.add(1) = any(*ip.add(3), c, s).raw();
        *h.add(2) = any(*ip.add(4), c, s).raw();
        *h.add(3) = any(*ip.add(5), c, s).raw();
        *h.add(4) = any(*ip.add(6), c, s).raw();
        *h.add(5) = any(*ip.add(7), c, s).raw();
        D::set(*ip.add(1), c, s, Term::boxed(h));
        h = h.add(6);
        then!(N, ip, c, h, s, r; 8)
    }
    // Copies a record with some elements replaced: size, src, dst, count, (byte offset, value)...
    fn update_record(ip, c, h, s, r; N) {
        let size = *ip.add(1) as usize;
        let src = any(*ip.add(2), c, s).ptr();
        let n = *ip.add(4) as usize;
        let mut i = 0;
        while i <= bound(ip.add(1)) {
            *h.add(i) = *src.add(i);
            i += 1;
        }
        i = 0;
        while i < bound(ip.add(4)) {
            let value = any(*ip.add(6 + 2 * i), c, s);
            *(h as *mut u8).add(*ip.add(5 + 2 * i) as usize).cast::<u64>() = value.raw();
            i += 1;
        }
        put(*ip.add(3), c, s, Term::boxed(h));
        h = h.add(1 + size);
        then!(N, ip, c, h, s, r; 5 + 2 * n)
    }
}

/// Header cell for a tuple.
pub fn tuple_header(arity: usize) -> u64 {
    Header::new(Kind::Tuple, arity).raw()
}
