//! Unicode: deep lists of characters and binaries to lists and UTF-8 binaries.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Term, am};
use smallvec::SmallVec;

heddle_runtime::natives! { TABLE:
    "unicode" => {
        "characters_to_list"/2 => characters_to_list,
        "characters_to_binary"/2 => characters_to_binary,
        "bin_is_7bit"/1 => bin_is_7bit,
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Latin1,
    Utf8,
}

/// The encodings that are converted here.
pub(super) fn encoding(term: Term) -> Option<Encoding> {
    match term.as_atom()?.name() {
        "latin1" => Some(Encoding::Latin1),
        "utf8" | "unicode" => Some(Encoding::Utf8),
        _ => None,
    }
}

/// The target of a conversion.
trait Sink {
    /// Bytes of memory that a character (or byte) takes in the result.
    const BYTES: usize;
    /// Makes room for about `size` characters or bytes.
    fn reserve(&mut self, size: usize);
    fn char(&mut self, c: char);
    /// Bytes that are known to be UTF-8.
    fn utf8(&mut self, bytes: &[u8]) {
        // SAFETY: the caller knows that the bytes are UTF-8.
        unsafe { std::str::from_utf8_unchecked(bytes) }.chars().for_each(|c| self.char(c));
    }
    fn finish(self, p: &mut Process) -> Term;
}

impl Sink for Vec<Term> {
    const BYTES: usize = 24;
    fn reserve(&mut self, size: usize) {
        Vec::reserve(self, size);
    }
    fn char(&mut self, c: char) {
        self.push(Term::small(c as i64));
    }
    fn finish(self, p: &mut Process) -> Term {
        p.heap.list(&self)
    }
}

impl Sink for Vec<u8> {
    const BYTES: usize = 2;
    fn reserve(&mut self, size: usize) {
        Vec::reserve(self, size);
    }
    fn char(&mut self, c: char) {
        match c as u32 {
            code @ 0..0x80 => self.push(code as u8),
            code @ 0x80..0x800 => self.extend_from_slice(&[0xc0 | (code >> 6) as u8, 0x80 | (code & 0x3f) as u8]),
            _ => self.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    fn utf8(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    fn finish(self, p: &mut Process) -> Term {
        p.heap.binary(&self)
    }
}

/// Why a conversion stops, with what is left.
enum Stop {
    Done,
    /// The bytes of a character that is cut off by the end.
    Incomplete(Vec<u8>),
    Error(Term),
}

/// Number of elements and bytes; None for what is no character data at all, wherever it stands.
fn measure(data: Term) -> Option<usize> {
    let mut stack: SmallVec<[Term; 8]> = SmallVec::new();
    let mut current = data;
    let mut size = 0;
    loop {
        if current.is_cons() {
            size += 1;
            let head = current.head();
            if head.is_small() {
                current = current.tail();
            } else if head.is_big() {
                // This is no character: the conversion ends here at the latest, so what follows is not looked at.
                return Some(size);
            } else {
                stack.push(current.tail());
                current = head;
            }
            continue;
        }
        if !current.is_nil() {
            size += (BitsView::of(current).filter(BitsView::is_binary)?.size_bits / 8) as usize;
        }
        match stack.pop() {
            Some(next) => current = next,
            None => return Some(size),
        }
    }
}

/// Bytes that are looked at first for an error, which ends a conversion.
const FIRST_BYTES: usize = 64 * 1024;

/// The size again, or how much of a binary is good where that is soon over.
fn before_error(data: Term, size: usize) -> usize {
    let Some(view) = BitsView::of(data) else { return size };
    let first = FIRST_BYTES.min((view.size_bits / 8) as usize);
    let mut copy = Vec::new();
    match std::str::from_utf8(super::bytes::range(view, 0, first, &mut copy)) {
        // Without a length it is a character that the end of the part cuts off.
        Err(error) if error.error_len().is_some() => error.valid_up_to(),
        _ => size,
    }
}

fn character(term: Term, encoding: Encoding) -> Option<char> {
    let c = char::from_u32(u32::try_from(term.as_small()?).ok()?)?;
    (encoding == Encoding::Utf8 || c as u32 <= 0xff).then_some(c)
}

/// Bytes of a character by its first byte, as far as the bit pattern goes.
fn pattern_len(lead: u8) -> Option<usize> {
    match lead {
        0..=0x7f => Some(1),
        0xc0..=0xdf => Some(2),
        0xe0..=0xef => Some(3),
        0xf0..=0xf7 => Some(4),
        _ => None,
    }
}

/// True if the first byte announces a character longer than the bytes, whatever follows it.
fn is_cut_off(bytes: &[u8]) -> bool {
    bytes.first().and_then(|&lead| pattern_len(lead)).is_some_and(|n| n > bytes.len())
}

/// True if all bytes after the first are such as continue a character.
fn continues(bytes: &[u8]) -> bool {
    bytes[1..].iter().all(|b| b & 0xc0 == 0x80)
}

struct Converter<'a, S> {
    p: &'a mut Process,
    sink: S,
    encoding: Encoding,
    /// Tails of the lists around the current place.
    stack: Vec<Term>,
    /// Bytes of a character that began in an earlier binary.
    pending: Vec<u8>,
}

impl<S: Sink> Converter<'_, S> {
    fn run(&mut self, data: Term) -> Stop {
        let mut current = data;
        loop {
            if current.is_cons() {
                let head = current.head();
                if head.is_integer() {
                    match character(head, self.encoding) {
                        Some(c) if self.pending.is_empty() => self.sink.char(c),
                        _ => return self.error(current),
                    }
                    current = current.tail();
                } else if head.is_list() {
                    self.stack.push(current.tail());
                    current = head;
                } else {
                    if let Err(rest) = self.binary(head) {
                        let rest = self.p.heap.cons(rest, current.tail());
                        return self.error(rest);
                    }
                    current = current.tail();
                }
                continue;
            }
            if !current.is_nil()
                && let Err(rest) = self.binary(current)
            {
                return self.error(rest);
            }
            match self.stack.pop() {
                Some(next) => current = next,
                None if self.pending.is_empty() => return Stop::Done,
                None if continues(&self.pending) => return Stop::Incomplete(std::mem::take(&mut self.pending)),
                None => return Stop::Error(self.p.heap.binary(&self.pending)),
            }
        }
    }

    /// The error term: what is left of the current list, within what is left around it, after the bytes that wait.
    fn error(&mut self, rest: Term) -> Stop {
        let heap = &mut self.p.heap;
        let mut rest = rest;
        while let Some(tail) = self.stack.pop() {
            rest = heap.cons(rest, tail);
        }
        if !self.pending.is_empty() {
            let pending = heap.binary(&self.pending);
            rest = heap.list(&[pending, rest]);
        }
        Stop::Error(rest)
    }

    /// Converts a binary; the error is the part of it that is left.
    fn binary(&mut self, term: Term) -> Result<(), Term> {
        let Some(view) = BitsView::of(term) else { return Err(term) };
        let copy;
        let bytes: &[u8] = match view.as_bytes() {
            Some(bytes) => bytes,
            None => {
                copy = view.to_vec();
                &copy
            }
        };
        if self.encoding == Encoding::Latin1 {
            bytes.iter().for_each(|&b| self.sink.char(b as char));
            return Ok(());
        }
        let mut at = 0;
        if !self.pending.is_empty() {
            let wanted = pattern_len(self.pending[0]).unwrap_or(1) - self.pending.len();
            at = wanted.min(bytes.len());
            let mut whole = self.pending.clone();
            whole.extend_from_slice(&bytes[..at]);
            if std::str::from_utf8(&whole).is_ok() {
                self.sink.utf8(&whole);
                self.pending.clear();
            } else if is_cut_off(&whole) {
                self.pending = whole;
                return Ok(());
            } else {
                return Err(term);
            }
        }
        let bytes = &bytes[at..];
        let good = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        self.sink.utf8(&bytes[..good]);
        let left = &bytes[good..];
        if left.is_empty() {
            return Ok(());
        }
        if is_cut_off(left) {
            self.pending = left.to_vec();
            return Ok(());
        }
        let at = (at + good) as u64 * 8;
        Err(if at == 0 { term } else { self.p.heap.sub_bits(term, at, view.size_bits - at) })
    }
}

fn convert<S: Sink>(p: &mut Process, a: &[Term], sink: S, other: &str) -> NativeResult {
    let Some(encoding) = encoding(a[1]) else { return Err(p.trap_to(Atom::new("unicode"), Atom::new(other), a)) };
    let Some(size) = measure(a[0]) else { return Err(p.badarg()) };
    let size = if encoding == Encoding::Utf8 { before_error(a[0], size) } else { size };
    long::room(p, size.saturating_mul(S::BYTES))?;
    long::CHARACTERS.work(p, 2 * size)?;
    let mut sink = sink;
    sink.reserve(size);
    let mut converter = Converter { p, sink, encoding, stack: Vec::new(), pending: Vec::new() };
    let stop = converter.run(a[0]);
    let Converter { p, sink, .. } = converter;
    let converted = sink.finish(p);
    Ok(match stop {
        Stop::Done => converted,
        Stop::Incomplete(bytes) => {
            let rest = p.heap.binary(&bytes);
            p.heap.tuple(&[Atom::new("incomplete").into(), converted, rest])
        }
        Stop::Error(rest) => p.heap.tuple(&[am::ERROR.into(), converted, rest]),
    })
}

/// Characters of a text that is converted without measuring it first. Most texts are short.
const SHORT: usize = 64;

/// The characters of a short binary.
fn short_characters(data: Term, encoding: Encoding) -> Option<SmallVec<[Term; SHORT]>> {
    let bytes = BitsView::of(data).filter(|_| data.is_boxed())?.as_bytes().filter(|bytes| bytes.len() <= SHORT)?;
    if encoding == Encoding::Latin1 || bytes.is_ascii() {
        return Some(bytes.iter().map(|&byte| Term::small(byte as i64)).collect());
    }
    Some(std::str::from_utf8(bytes).ok()?.chars().map(|c| Term::small(c as i64)).collect())
}

/// The UTF-8 of a short list of characters of up to two bytes each.
fn short_utf8(list: Term) -> Option<SmallVec<[u8; 2 * SHORT]>> {
    let mut bytes = SmallVec::new();
    let mut rest = list;
    for _ in 0..SHORT {
        if !rest.is_cons() {
            break;
        }
        match rest.head().as_small()? {
            code @ 0..0x80 => bytes.push(code as u8),
            code @ 0x80..0x100 => bytes.extend_from_slice(&[0xc0 | (code >> 6) as u8, 0x80 | (code & 0x3f) as u8]),
            _ => return None,
        }
        rest = rest.tail();
    }
    rest.is_nil().then_some(bytes)
}

fn characters_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(characters) = encoding(a[1]).and_then(|encoding| short_characters(a[0], encoding)) {
        long::CHARACTERS.work(p, 2 * characters.len())?;
        return Ok(p.heap.list(&characters));
    }
    if a[0].is_nil() && a[1].is_atom_of(Atom::new("utf8")) {
        return Ok(Term::NIL);
    }
    convert(p, a, Vec::<Term>::new(), "characters_to_list_int")
}

fn characters_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_cons()
        && encoding(a[1]).is_some()
        && let Some(bytes) = short_utf8(a[0])
    {
        long::CHARACTERS.work(p, 2 * bytes.len())?;
        return Ok(p.heap.binary(&bytes));
    }
    // A list of one binary is taken for that binary, but not in the Erlang code that converts from other encodings.
    if a[0].is_cons() && a[0].tail().is_nil() && a[0].head().is_binary() && encoding(a[1]).is_some() {
        return convert(p, &[a[0].head(), a[1]], Vec::<u8>::new(), "characters_to_binary_int");
    }
    convert(p, a, Vec::<u8>::new(), "characters_to_binary_int")
}

/// Bytes that are checked for being ASCII while one is converted (guessed).
const ASCII_BYTES_PER_STEP: usize = 8;

fn bin_is_7bit(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = BitsView::of(a[0]).filter(BitsView::is_binary) else { return Ok(Term::bool(false)) };
    let size = (view.size_bits / 8) as usize;
    let here = long::CHARACTERS.here(size / ASCII_BYTES_PER_STEP).saturating_add(1).saturating_mul(ASCII_BYTES_PER_STEP).min(size);
    let mut copy = Vec::new();
    let is_ascii = super::bytes::range(view, 0, here, &mut copy).is_ascii();
    if is_ascii && here < size {
        return Err(Thrown::DirtyCpu);
    }
    long::done(p, here / ASCII_BYTES_PER_STEP);
    Ok(Term::bool(is_ascii))
}
