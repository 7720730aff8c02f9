//! Lists: iteration, length, text and I/O data.

use crate::bits::BitsView;
use crate::boxed::{Header, Kind};
use crate::heap::Heap;
use crate::term::Term;
use smallvec::SmallVec;

/// Elements of a list; `rest` is what follows them (`[]` for a proper list).
#[derive(Clone)]
pub struct ListIter {
    pub rest: Term,
}

impl ListIter {
    pub fn new(list: Term) -> ListIter {
        ListIter { rest: list }
    }
}

impl Iterator for ListIter {
    type Item = Term;
    #[inline]
    fn next(&mut self) -> Option<Term> {
        if !self.rest.is_cons() {
            return None;
        }
        let head = self.rest.head();
        self.rest = self.rest.tail();
        Some(head)
    }
}

/// Length of a proper list; None for anything else.
pub fn length(list: Term) -> Option<usize> {
    let mut iter = ListIter::new(list);
    let count = iter.by_ref().count();
    iter.rest.is_nil().then_some(count)
}

/// Elements of a proper list.
pub fn to_vec(list: Term) -> Option<Vec<Term>> {
    let mut iter = ListIter::new(list);
    let elements = iter.by_ref().collect();
    iter.rest.is_nil().then_some(elements)
}

/// `lists:reverse(List, Tail)`; None if the list is improper.
pub fn reverse(heap: &mut Heap, list: Term, tail: Term) -> Option<Term> {
    let mut iter = ListIter::new(list);
    let mut out = tail;
    for element in iter.by_ref() {
        out = heap.cons(element, out);
    }
    iter.rest.is_nil().then_some(out)
}

/// The first `count` elements of a list, in new cells, followed by `tail`. The list has at least as many.
pub fn copy_before(heap: &mut Heap, list: Term, count: usize, tail: Term) -> Term {
    if count == 0 {
        return tail;
    }
    let ptr = heap.alloc(2 * count);
    let mut rest = list;
    for i in 0..count {
        debug_assert!(rest.is_cons());
        // SAFETY: two words were allocated for each of the `count` elements, and `i` is below that.
        unsafe {
            let cell = ptr.add(2 * i);
            *cell = rest.head().raw();
            *cell.add(1) = if i == count - 1 { tail.raw() } else { Term::cons(cell.add(2)).raw() };
        }
        rest = rest.tail();
    }
    Term::cons(ptr)
}

/// A tuple of the first `count` elements of a list, which has at least as many.
pub fn to_tuple(heap: &mut Heap, list: Term, count: usize) -> Term {
    let ptr = heap.alloc(1 + count);
    let mut rest = list;
    // SAFETY: room for the header and all elements was just allocated.
    unsafe {
        *ptr = Header::new(Kind::Tuple, count).raw();
        for i in 1..=count {
            debug_assert!(rest.is_cons());
            *ptr.add(i) = rest.head().raw();
            rest = rest.tail();
        }
    }
    Term::boxed(ptr)
}

/// The bytes of a list of integers 0 to 255.
pub fn latin1_bytes(list: Term) -> Option<Vec<u8>> {
    let mut iter = ListIter::new(list);
    let bytes = iter.by_ref().map(|c| c.as_small().and_then(|v| u8::try_from(v).ok())).collect::<Option<Vec<u8>>>()?;
    iter.rest.is_nil().then_some(bytes)
}

/// The text of a list of Unicode code points.
pub fn unicode_string(list: Term) -> Option<String> {
    let mut iter = ListIter::new(list);
    let text =
        iter.by_ref().map(|c| c.as_small().and_then(|v| u32::try_from(v).ok()).and_then(char::from_u32)).collect::<Option<String>>()?;
    iter.rest.is_nil().then_some(text)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotIoData;

/// All bytes of an iolist or binary.
pub fn iolist_to_vec(data: Term) -> Result<Vec<u8>, NotIoData> {
    let mut out = Vec::new();
    walk_iolist(data, |piece| match piece {
        Piece::Byte(byte) => out.push(byte),
        Piece::Binary(view) => match view.as_bytes() {
            Some(bytes) => out.extend_from_slice(bytes),
            None => out.extend_from_slice(&view.to_vec()),
        },
    })?;
    Ok(out)
}

/// Size in bytes of an iolist or binary.
pub fn iolist_size(data: Term) -> Result<usize, NotIoData> {
    let mut size = 0;
    walk_iolist(data, |piece| match piece {
        Piece::Byte(_) => size += 1,
        Piece::Binary(view) => size += (view.size_bits / 8) as usize,
    })?;
    Ok(size)
}

pub enum Piece {
    Byte(u8),
    Binary(BitsView),
}

/// Calls `f` for each byte and binary of an iolist, in order. Without recursion.
pub fn walk_iolist(data: Term, mut f: impl FnMut(Piece)) -> Result<(), NotIoData> {
    let mut stack: SmallVec<[Term; 16]> = SmallVec::new();
    let mut current = data;
    // A byte may stand in a list only, not at the top and not as a tail.
    loop {
        if current.is_cons() {
            let head = current.head();
            if let Some(value) = head.as_small() {
                f(Piece::Byte(u8::try_from(value).map_err(|_| NotIoData)?));
                current = current.tail();
            } else if head.is_boxed() {
                f(Piece::Binary(BitsView::of(head).filter(BitsView::is_binary).ok_or(NotIoData)?));
                current = current.tail();
            } else {
                // Nothing waits after the last element.
                if !current.tail().is_nil() {
                    stack.push(current.tail());
                }
                current = head;
            }
            continue;
        }
        if !current.is_nil() {
            let view = BitsView::of(current).filter(BitsView::is_binary).ok_or(NotIoData)?;
            f(Piece::Binary(view));
        }
        match stack.pop() {
            Some(next) => current = next,
            None => return Ok(()),
        }
    }
}
