//! Bytes to terms. The input is not trusted: every count is held against the bytes that are left before memory is taken, and
//! nothing recurses.
//!
//! A compound term is allocated whole with its slots set to `[]`, and a frame remembers which slots are still to be filled.
//! `owed` counts the slots of all frames: each needs at least one byte, so it may never exceed the bytes that are left, and
//! memory stays within a constant times the input.

use super::reader::Reader;
use super::{AtomBudget, DecodeError, VERSION, leaf, tag};
use crate::atom::Atom;
use crate::boxed::{HEAP_BITS_MAX_BYTES, Header, Kind};
use crate::code_hooks::{FunKey, hooks};
use crate::heap::Heap;
use crate::held::HeldBytes;
use crate::term::Term;
use smallvec::SmallVec;
use std::io::Read;

#[derive(Clone, Copy)]
pub struct DecodeOptions<'a> {
    /// No new atoms, no unknown functions.
    pub safe: bool,
    /// Ignore bytes after the term, as `binary_to_term/1,2` does.
    pub allow_trailing: bool,
    /// Atoms of the distribution header, for `ATOM_CACHE_REF`.
    pub atom_cache: &'a [Atom],
    /// How many new atoms and functions may be made, if there is a limit.
    pub atom_budget: Option<&'a AtomBudget>,
    /// Input bytes of the term after which decoding ends with `Long` (bytes of binaries count less).
    pub limit_bytes: usize,
    /// What the input is of. A large part of it becomes a binary without being copied.
    pub input: Option<&'a HeldBytes>,
}

impl Default for DecodeOptions<'_> {
    fn default() -> Self {
        DecodeOptions { safe: false, allow_trailing: false, atom_cache: &[], atom_budget: None, limit_bytes: usize::MAX, input: None }
    }
}

/// Bytes of a binary, which are copied, that take as long as one byte of other terms (guessed).
const BINARY_BYTES_PER_BYTE: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    pub term: Term,
    /// Bytes of the input that the term took, for `{Term, Used}`.
    pub used: usize,
}

/// `binary_to_term`: version byte, then a term, maybe compressed.
pub fn decode(heap: &mut Heap, bytes: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(bytes);
    match reader.u8()? {
        VERSION => {}
        version => return Err(DecodeError::Version(version)),
    }
    if bytes.get(1) == Some(&tag::COMPRESSED) {
        reader.at = 2;
        return compressed(heap, reader, options);
    }
    let body = decode_body(heap, &bytes[1..], options)?;
    Ok(Decoded { term: body.term, used: body.used + 1 })
}

/// A literal of a `.beam` file: as `decode`, trusted to name new atoms.
pub fn decode_literal(heap: &mut Heap, bytes: &[u8]) -> Result<Term, DecodeError> {
    decode(heap, bytes, &DecodeOptions::default()).map(|decoded| decoded.term)
}

/// Deflate cannot do better than this.
const MAX_RATIO: usize = 1032;

fn compressed(heap: &mut Heap, mut reader: Reader, options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let size = reader.u32()? as usize;
    if size > options.limit_bytes {
        return Err(DecodeError::Long);
    }
    let packed = &reader.bytes[reader.at..];
    if size / MAX_RATIO > packed.len() {
        return Err(DecodeError::Malformed("size of compressed term"));
    }
    let mut stream = flate2::read::ZlibDecoder::new(packed);
    let mut plain = Vec::new();
    (&mut stream).take(size as u64 + 1).read_to_end(&mut plain).map_err(|_| DecodeError::Malformed("compressed data"))?;
    if plain.len() != size {
        return Err(DecodeError::Malformed("size of compressed term"));
    }
    let used = reader.at + stream.total_in() as usize;
    let body = decode_body(heap, &plain, options)?;
    if used < reader.bytes.len() && !options.allow_trailing {
        return Err(DecodeError::Trailing);
    }
    Ok(Decoded { term: body.term, used })
}

/// Slots to be filled with the next terms of the input.
enum Frame {
    /// `count` slots from `at`, `stride` words apart.
    Slots { at: *mut Term, count: usize, stride: usize },
    /// The pairs of a map were decoded into `terms`; the map goes to `dest`.
    Map { terms: Vec<Term>, dest: *mut Term },
}

/// Largest tuple (from ERTS).
const MAX_TUPLE: usize = 16_777_215;

/// A term without version byte.
pub fn decode_body(heap: &mut Heap, bytes: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let mut root = Term::NIL;
    let mut decoder = Decoder { reader: Reader::new(bytes), heap, options, stack: SmallVec::new(), owed: 1, end: options.limit_bytes };
    decoder.stack.push(Frame::Slots { at: &raw mut root, count: 1, stride: 1 });
    decoder.run()?;
    let used = decoder.reader.at;
    if used < bytes.len() && !options.allow_trailing {
        return Err(DecodeError::Trailing);
    }
    Ok(Decoded { term: root, used })
}

struct Decoder<'a, 'h> {
    reader: Reader<'a>,
    heap: &'h mut Heap,
    options: &'a DecodeOptions<'a>,
    stack: SmallVec<[Frame; 6]>,
    /// Terms that the frames still expect.
    owed: usize,
    /// The place in the input after which it is long.
    end: usize,
}

/// Fills slots as long as small integers come, of which long lists often consist, and the reader is not past `end`. Returns how many there were.
#[inline]
fn integers(reader: &mut Reader, end: usize, slot: &mut *mut Term, count: usize, stride: usize) -> usize {
    let mut filled = 0;
    while filled < count && reader.at <= end {
        let (value, bytes) = match reader.bytes.get(reader.at..) {
            Some(&[tag::SMALL_INTEGER, byte, ..]) => (byte as i64, 2),
            Some(&[tag::INTEGER, a, b, c, d, ..]) => (i32::from_be_bytes([a, b, c, d]) as i64, 5),
            _ => break,
        };
        // SAFETY: the frame has `count` slots: in fresh objects, or in a buffer that the stack keeps.
        unsafe { **slot = Term::small(value) };
        *slot = slot.wrapping_add(stride);
        reader.at += bytes;
        filled += 1;
    }
    filled
}

impl Decoder<'_, '_> {
    fn run(&mut self) -> Result<(), DecodeError> {
        while let Some(frame) = self.stack.last_mut() {
            match frame {
                Frame::Slots { count: 0, .. } => {
                    self.stack.pop();
                }
                Frame::Slots { at, count, stride } => {
                    let integers = integers(&mut self.reader, self.end, at, *count, *stride);
                    *count -= integers;
                    self.owed -= integers;
                    if *count == 0 {
                        continue;
                    }
                    let slot = *at;
                    *at = slot.wrapping_add(*stride);
                    *count -= 1;
                    self.owed -= 1;
                    if self.reader.at > self.end {
                        return Err(DecodeError::Long);
                    }
                    let term = self.term(slot)?;
                    // SAFETY: frames hold addresses of slots in fresh objects or of buffers that the stack keeps.
                    unsafe { *slot = term };
                }
                Frame::Map { .. } => self.finish_map()?,
            }
        }
        Ok(())
    }

    fn finish_map(&mut self) -> Result<(), DecodeError> {
        let Some(Frame::Map { terms, dest }) = self.stack.pop() else { return Ok(()) };
        let pairs: SmallVec<[(Term, Term); 16]> = terms.as_chunks::<2>().0.iter().map(|&[key, value]| (key, value)).collect();
        let map = crate::map::from_distinct_pairs(self.heap, &pairs).ok_or(DecodeError::Malformed("key twice in a map"))?;
        // SAFETY: as in `run`.
        unsafe { *dest = map };
        Ok(())
    }

    /// Checks that `count` more terms can follow at all.
    fn expect(&mut self, count: usize) -> Result<(), DecodeError> {
        if count > self.reader.remaining().saturating_sub(self.owed) {
            return Err(DecodeError::Truncated);
        }
        self.owed += count;
        if self.owed > self.options.limit_bytes { Err(DecodeError::Long) } else { Ok(()) }
    }

    /// Bytes of a binary count less than others.
    fn binary(&mut self, len: usize) -> Result<(), DecodeError> {
        self.end = self.end.saturating_add(len - len / BINARY_BYTES_PER_BYTE);
        if self.reader.at > self.end { Err(DecodeError::Long) } else { Ok(()) }
    }

    /// A binary in the memory of the input. As in stock it must be more than a quarter of that, which it keeps.
    fn shared(&mut self, bytes: &[u8]) -> Option<Term> {
        let input = self.options.input?;
        (bytes.len() > HEAP_BITS_MAX_BYTES.max(input.as_bytes().len() / 4)).then(|| input.binary(self.heap, bytes)).flatten()
    }

    fn push_slots(&mut self, at: *mut Term, count: usize, stride: usize) {
        self.stack.push(Frame::Slots { at, count, stride });
    }

    /// The next term. Parts of a compound one are left to new frames.
    fn term(&mut self, dest: *mut Term) -> Result<Term, DecodeError> {
        let tag = self.reader.u8()?;
        if let Some(atom) = leaf::atom_after(&mut self.reader, tag, self.options)? {
            return Ok(Term::atom(atom));
        }
        match tag {
            tag::SMALL_INTEGER => Ok(Term::small(self.reader.u8()? as i64)),
            tag::INTEGER => Ok(Term::small(self.reader.u32()? as i32 as i64)),
            tag::NEW_FLOAT => {
                let value = leaf::finite(f64::from_bits(self.reader.u64()?))?;
                Ok(self.heap.float(value))
            }
            tag::FLOAT => {
                let value = leaf::text_float(&mut self.reader)?;
                Ok(self.heap.float(value))
            }
            tag::NIL => Ok(Term::NIL),
            tag::STRING => {
                let len = self.reader.u16()? as usize;
                let bytes = self.reader.take(len)?;
                Ok(self.heap.byte_list(bytes))
            }
            tag::LIST => {
                let count = self.reader.u32()? as usize;
                self.list(count, dest)
            }
            tag::SMALL_TUPLE => {
                let arity = self.reader.u8()? as usize;
                self.tuple(arity)
            }
            tag::LARGE_TUPLE => {
                let arity = self.reader.u32()? as usize;
                self.tuple(arity)
            }
            tag::MAP => {
                let count = self.reader.u32()? as usize;
                self.map(count, dest)
            }
            tag::BINARY => {
                let len = self.reader.u32()? as usize;
                let bytes = self.reader.take(len)?;
                self.binary(len)?;
                Ok(self.shared(bytes).unwrap_or_else(|| self.heap.binary(bytes)))
            }
            tag::BIT_BINARY => {
                let before = self.reader.at;
                let bits = leaf::bit_binary(&mut self.reader, self.heap)?;
                self.binary(self.reader.at - before)?;
                Ok(bits)
            }
            tag::SMALL_BIG => {
                let len = self.reader.u8()? as usize;
                leaf::big(&mut self.reader, self.heap, len)
            }
            tag::LARGE_BIG => {
                let len = self.reader.u32()? as usize;
                leaf::big(&mut self.reader, self.heap, len)
            }
            tag::NEW_PID | tag::PID => leaf::pid(&mut self.reader, self.heap, tag, self.options),
            tag::V4_PORT | tag::NEW_PORT | tag::PORT => leaf::port(&mut self.reader, self.heap, tag, self.options),
            tag::NEWER_REFERENCE | tag::NEW_REFERENCE | tag::REFERENCE => leaf::reference(&mut self.reader, self.heap, tag, self.options),
            tag::EXPORT => {
                let export = leaf::export(&mut self.reader, self.options)?;
                Ok(crate::fun::make_export(self.heap, export))
            }
            tag::NEW_FUN => self.fun(),
            tag::LOCAL => self.local(dest),
            tag => Err(DecodeError::UnknownTag(tag)),
        }
    }

    fn list(&mut self, count: usize, dest: *mut Term) -> Result<Term, DecodeError> {
        // The tail is a term as well.
        self.expect(count.checked_add(1).ok_or(DecodeError::Truncated)?)?;
        if count == 0 {
            // OTP writes no such list, but reads it: the tail alone.
            self.push_slots(dest, 1, 1);
            return Ok(Term::NIL);
        }
        let ptr = self.heap.alloc(2 * count);
        // SAFETY: 2 * count words were just allocated; the last tail is filled by a frame.
        unsafe {
            for i in 0..count {
                *ptr.add(2 * i) = Term::NIL.raw();
                *ptr.add(2 * i + 1) = if i + 1 == count { Term::NIL.raw() } else { Term::cons(ptr.add(2 * i + 2)).raw() };
            }
            self.push_slots(ptr.add(2 * count - 1).cast(), 1, 1);
        }
        self.push_slots(ptr.cast(), count, 2);
        Ok(Term::cons(ptr))
    }

    fn tuple(&mut self, arity: usize) -> Result<Term, DecodeError> {
        if arity > MAX_TUPLE {
            return Err(DecodeError::SystemLimit);
        }
        self.expect(arity)?;
        let ptr = self.heap.alloc(1 + arity);
        // SAFETY: header and slots were just allocated.
        unsafe {
            *ptr = Header::new(Kind::Tuple, arity).raw();
            for i in 1..=arity {
                *ptr.add(i) = Term::NIL.raw();
            }
            self.push_slots(ptr.add(1).cast(), arity, 1);
        }
        Ok(Term::boxed(ptr))
    }

    fn map(&mut self, count: usize, dest: *mut Term) -> Result<Term, DecodeError> {
        let terms = count.checked_mul(2).ok_or(DecodeError::Truncated)?;
        self.expect(terms)?;
        let mut terms = vec![Term::NIL; terms];
        let (at, len) = (terms.as_mut_ptr(), terms.len());
        self.stack.push(Frame::Map { terms, dest });
        self.push_slots(at, len, 1);
        Ok(Term::NIL)
    }

    fn fun(&mut self) -> Result<Term, DecodeError> {
        let reader = &mut self.reader;
        let _size = reader.u32()?;
        let arity = reader.u8()?;
        let uniq = reader.array::<16>()?;
        let index = reader.u32()?;
        let num_free = reader.u32()?;
        let module = leaf::atom(reader, self.options)?;
        let old_index = leaf::small_integer(reader)? as u32;
        let old_uniq = leaf::fun_uniq(reader)?;
        let creator = match reader.u8()? {
            tag @ (tag::NEW_PID | tag::PID) => leaf::pid(reader, self.heap, tag, self.options)?,
            _ => return Err(DecodeError::Malformed("creator of a fun")),
        };
        self.expect(num_free as usize)?;
        if num_free > 255 {
            return Err(DecodeError::Malformed("free variables of a fun"));
        }
        let key = FunKey { module, uniq, index, old_index, old_uniq, arity, num_free };
        leaf::pay(self.options, || (hooks().has_fun_entry)(&key))?;
        let entry = (hooks().find_fun_entry)(&key);
        let free = [Term::NIL; 256];
        let fun = crate::fun::make(self.heap, entry, creator, &free[..num_free as usize]);
        self.push_slots(fun.ptr().wrapping_add(3).cast(), num_free as usize, 1);
        Ok(fun)
    }

    /// Option `local`: a seal over the rest of the input, then a plain term. It is only good at the top.
    fn local(&mut self, dest: *mut Term) -> Result<Term, DecodeError> {
        let seal = self.reader.u64()?;
        if self.reader.at != 9 || seal != super::encode::local_seal(&self.reader.bytes[9..]) {
            return Err(DecodeError::Malformed("local term of another machine"));
        }
        self.owed += 1;
        self.push_slots(dest, 1, 1);
        Ok(Term::NIL)
    }
}
