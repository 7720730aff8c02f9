//! Terms that libraries describe (`ErlDrvTermData`): a stack machine, whose last value is the term.

use crate::binary::{self, DriverBinary};
use heddle_runtime::Package;
use heddle_term::etf::{self, DecodeOptions};
use heddle_term::{Heap, Term, map};

const NIL: u64 = 1;
const ATOM: u64 = 2;
const INT: u64 = 3;
const PORT: u64 = 4;
const BINARY: u64 = 5;
const STRING: u64 = 6;
const TUPLE: u64 = 7;
const LIST: u64 = 8;
const STRING_CONS: u64 = 9;
const PID: u64 = 10;
const FLOAT: u64 = 11;
const EXT2TERM: u64 = 12;
const UINT: u64 = 13;
const BUF2BINARY: u64 = 14;
const INT64: u64 = 15;
const UINT64: u64 = 16;
const MAP: u64 = 17;

/// What is left of a description.
struct Words<'a>(std::slice::Iter<'a, u64>);

impl Words<'_> {
    fn word(&mut self) -> Option<u64> {
        self.0.next().copied()
    }
    /// A term of this kind.
    fn term(&mut self, is_right: fn(Term) -> bool) -> Option<Term> {
        // The library got the word from this interface, as a term that is immediate.
        Some(Term::from_raw(self.word()?)).filter(|&term| is_right(term))
    }
    /// A number of values on the stack, at most `available`.
    fn count(&mut self, available: usize) -> Option<usize> {
        usize::try_from(self.word()? as i32).ok().filter(|&count| count <= available)
    }
    /// The address and size of bytes. The address may be null if there are none.
    fn bytes<'b>(&mut self) -> Option<&'b [u8]> {
        let (at, size) = (self.word()? as *const u8, self.word()? as usize);
        if size as isize == 0 {
            return Some(&[]);
        }
        // SAFETY: the library says that there are as many.
        (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, size) })
    }
    /// The same for text, whose address may not be null.
    fn text<'b>(&mut self) -> Option<&'b [u8]> {
        let mut ahead = Words(self.0.clone());
        let (at, size) = (ahead.word()?, ahead.word()? as i32);
        if at == 0 || size < 0 { None } else { self.bytes() }
    }
    /// The value at an address.
    fn at<T: Copy>(&mut self) -> Option<T> {
        // SAFETY: the library passes the address of such a value.
        Some(unsafe { *(self.word()? as *const T) })
    }
}

/// The next values of the stack, taken off.
fn take(stack: &mut Vec<Term>, count: usize) -> Vec<Term> {
    stack.split_off(stack.len() - count)
}

fn build(heap: &mut Heap, words: &[u64]) -> Option<Term> {
    let mut words = Words(words.iter());
    let mut stack: Vec<Term> = Vec::new();
    while let Some(kind) = words.word() {
        let value = match kind {
            NIL => Term::NIL,
            ATOM => words.term(|term| term.is_atom())?,
            PORT => words.term(|term| term.is_local_port())?,
            PID => words.term(|term| term.is_local_pid())?,
            INT => heap.integer(words.word()? as i64),
            UINT => heap.unsigned(words.word()?),
            INT64 => heap.integer(words.at::<i64>()?),
            UINT64 => heap.unsigned(words.at::<u64>()?),
            FLOAT => {
                let value = words.at::<f64>()?;
                if !value.is_finite() {
                    return None;
                }
                heap.float(value)
            }
            BINARY => {
                let (at, size, offset) = (words.word()? as *mut DriverBinary, words.word()? as usize, words.word()? as usize);
                // SAFETY: a binary of the library, or null.
                unsafe {
                    if at.is_null() || size.checked_add(offset)? > binary::size(at) {
                        return None;
                    }
                    binary::term(heap, at, offset, size)
                }
            }
            BUF2BINARY => heap.binary(words.bytes()?),
            STRING => heap.byte_list(words.text()?),
            STRING_CONS => {
                let items: Vec<Term> = words.text()?.iter().map(|&byte| Term::small(byte as i64)).collect();
                let tail = stack.pop()?;
                heap.list_with_tail(&items, tail)
            }
            LIST => {
                let count = words.count(stack.len())?;
                let mut items = take(&mut stack, count);
                let tail = items.pop()?;
                heap.list_with_tail(&items, tail)
            }
            TUPLE => {
                let count = words.count(stack.len())?;
                let items = take(&mut stack, count);
                heap.tuple(&items)
            }
            EXT2TERM => {
                let bytes = words.text()?;
                etf::decode(heap, bytes, &DecodeOptions { allow_trailing: true, ..DecodeOptions::default() }).ok()?.term
            }
            MAP => {
                let count = words.count(stack.len() / 2)?;
                let items = take(&mut stack, count * 2);
                let pairs: Vec<(Term, Term)> = items.chunks(2).map(|pair| (pair[0], pair[1])).collect();
                let map = map::from_pairs(heap, &pairs);
                if map::size(map) != count {
                    return None;
                }
                map
            }
            _ => return None,
        };
        stack.push(value);
    }
    let &[term] = stack.as_slice() else { return None };
    Some(term)
}

/// The term that the words describe, as a message. None if they describe none.
pub fn message(words: &[u64]) -> Option<Package> {
    let mut is_right = true;
    let package = Package::build(|heap| {
        build(heap, words).unwrap_or_else(|| {
            is_right = false;
            Term::NIL
        })
    });
    is_right.then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_term::text::display;

    fn text(words: &[u64]) -> Option<String> {
        message(words).map(|package| display::to_string(package.term()))
    }

    #[test]
    fn values_are_taken_off_the_stack_in_order() {
        let words = [INT, 1, INT, -2_i64 as u64, TUPLE, 2, STRING, b"ab".as_ptr() as u64, 2, NIL, LIST, 3];
        assert_eq!(text(&words).as_deref(), Some("[{1,-2},\"ab\"]"));
        assert_eq!(text(&[INT, 1, INT, 2, MAP, 1]).as_deref(), Some("#{1=>2}"));
    }

    #[test]
    fn descriptions_of_no_term_are_refused() {
        for words in
            [&[][..], &[INT], &[TUPLE, 1], &[NIL, NIL], &[LIST, 0], &[99], &[INT, 1, INT, 2, INT, 1, INT, 3, MAP, 2], &[STRING, 0, 1]]
        {
            assert_eq!(text(words), None, "{words:?}");
        }
    }
}
