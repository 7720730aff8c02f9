//! Bitstrings that are written, appended to, sliced and read at every bit, against vectors of bits. Thresholds: 8 and 64 bits (a byte, a word);
//! 56 (a small one out of one word); 512 (larger ones lie outside the heap, and slices of them refer to them); 2,048 (the first block for appending);
//! a block's capacity, where the next append moves.

use heddle_engine::ops::bits::append::{self, Target};
use heddle_engine::ops::bits::floats::{read_float, to_half};
use heddle_engine::ops::bits::integers::{from_little, read, read_term, sign_extend};
use heddle_engine::ops::bits::match_ctx::slice;
use heddle_engine::ops::bits::matching::same_bits;
use heddle_engine::ops::bits::segment::{ALL, BINARY, FLOAT, INTEGER, Segment, UTF8, UTF16, UTF32, Wrong, utf_kind};
use heddle_engine::ops::bits::utf::read_utf;
use heddle_engine::ops::bits::{LITTLE, SIGNED};
use heddle_model::{Random, Subject, run};
use heddle_term::bits::{BitsView, copy_bits};
use heddle_term::hash::internal_hash;
use heddle_term::order::exact_eq;
use heddle_term::{Heap, Kind, Term, big};
use std::cmp::Ordering;

/// Bitstrings that are kept.
const SLOTS: u64 = 12;
/// Longer ones are not appended to.
const MAX_BITS: usize = 20_000;

struct Bits {
    heap: Heap,
    all: Vec<(Term, Vec<bool>)>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// An integer with a number of bits (and a sign) made from a seed, and the number of bits of its segment.
    Integer(u64, u64, u64, u64),
    Float(u64, u64, u64),
    Utf(u64, u32, u64),
    /// The whole of that bitstring, or this many of its bits.
    Bits(u64, Option<u64>),
}

#[derive(Clone, Debug)]
enum Operation {
    Build(u64, Vec<Part>),
    Append(u64, u64, Vec<Part>),
    /// What does not come to be: the room is given back.
    Fail(u64, u64),
    Slice(u64, u64, u64, u64),
    /// Bitstring, offset, bits, flags.
    ReadInteger(u64, u64, u64, u64),
    ReadFloat(u64, u64, u64, u64),
    ReadUtf(u64, u64, u64, u64),
    Compare(u64, u64, u64, u64, u64),
    /// The collector moves all.
    Move,
}

/// Least significant first: the value in two's complement, of `limit` bits.
fn value(seed: u64, bits: u64, limit: u64) -> (bool, Vec<bool>) {
    let mut random = Random::new(seed);
    let negative = random.chance(40);
    // Ones and zeros in rows, so that carries run far.
    let run = random.below(3);
    let mut last = true;
    let magnitude: Vec<bool> = (0..bits)
        .map(|at| {
            last = if run > 0 && random.chance(90) { last } else { random.chance(50) };
            last || at + 1 == bits
        })
        .collect();
    let mut out: Vec<bool> = (0..limit as usize).map(|at| magnitude.get(at).copied().unwrap_or(false)).collect();
    if negative {
        // One's complement, and one more.
        let mut carry = true;
        for bit in &mut out {
            let flipped = !*bit;
            *bit = flipped ^ carry;
            carry &= flipped;
        }
    }
    (negative, out)
}

/// The number whose bits these are, most significant first: by arithmetic alone.
fn number(heap: &mut Heap, bits: &[bool], signed: bool) -> Term {
    let mut sum = Term::small(0);
    for chunk in bits.chunks(32) {
        let shift = heap.integer(1 << chunk.len());
        let more = heap.integer(chunk.iter().fold(0, |n, &bit| n << 1 | bit as i64));
        let Ok(shifted) = big::mul(heap, sum, shift) else { panic!("too large") };
        let Ok(next) = big::add(heap, shifted, more) else { panic!("too large") };
        sum = next;
    }
    if signed && bits.first() == Some(&true) {
        let mut power = Term::small(1);
        for chunk in bits.chunks(32) {
            let shift = heap.integer(1 << chunk.len());
            let Ok(next) = big::mul(heap, power, shift) else { panic!("too large") };
            power = next;
        }
        let Ok(less) = big::sub(heap, sum, power) else { panic!("too large") };
        sum = less;
    }
    sum
}

/// A field of little endian order as one of big endian order, and back: whole bytes in reverse, an incomplete last one holds the highest bits.
fn from_little_field(field: &[bool]) -> Vec<bool> {
    let (whole, rest) = field.split_at(field.len() / 8 * 8);
    rest.iter().copied().chain(whole.chunks(8).rev().flatten().copied()).collect()
}

fn to_little_field(bits: &[bool]) -> Vec<bool> {
    let (rest, whole) = bits.split_at(bits.len() % 8);
    whole.chunks(8).rev().flatten().copied().chain(rest.iter().copied()).collect()
}

fn field(bits: Vec<bool>, flags: u64) -> Vec<bool> {
    if flags & LITTLE != 0 { to_little_field(&bits) } else { bits }
}

fn of_bytes(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1 == 1)).collect()
}

fn to_bytes(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|chunk| chunk.iter().enumerate().fold(0, |byte, (at, &bit)| byte | (bit as u8) << (7 - at))).collect()
}

fn word(bits: &[bool]) -> u64 {
    bits.iter().fold(0, |word, &bit| word << 1 | bit as u64)
}

fn float(seed: u64) -> f64 {
    let mut random = Random::new(seed);
    match random.below(3) {
        0 => random.below(4000) as f64 / 16.0 - 100.0,
        1 => f64::from_bits(random.bits() & !(1 << 62)),
        _ => f32::from_bits((random.bits() as u32) & !(1 << 30)) as f64,
    }
}

impl Bits {
    fn get(&self, which: u64) -> Option<&(Term, Vec<bool>)> {
        self.all.get(which as usize % self.all.len().max(1))
    }

    fn keep(&mut self, slot: u64, term: Term, bits: Vec<bool>) {
        assert!(self.is(term, &bits), "{} bits", bits.len());
        match self.all.get_mut(slot as usize) {
            Some(place) => *place = (term, bits),
            None => self.all.push((term, bits)),
        }
    }

    fn is(&self, term: Term, bits: &[bool]) -> bool {
        let view = BitsView::of(term).expect("a bitstring");
        view.size_bits as usize == bits.len() && view.to_vec() == to_bytes(bits)
    }

    fn segment(&mut self, part: Part) -> Option<(Segment, Vec<bool>)> {
        let segment = |kind, flags, source, size| Segment { kind, flags, unit: 1, number: 1, source, size };
        Some(match part {
            Part::Integer(seed, value_bits, bits, flags) => {
                let (_, all) = value(seed, value_bits, bits.max(value_bits + 1));
                let whole: Vec<bool> = all.iter().rev().copied().collect();
                let source = number(&mut self.heap, &whole, true);
                let low: Vec<bool> = all[..bits as usize].iter().rev().copied().collect();
                (segment(INTEGER, flags, source, Term::small(bits as i64)), field(low, flags))
            }
            Part::Float(seed, bits, flags) => {
                let value = float(seed);
                let raw = match bits {
                    16 => of_bytes(&to_half(value).to_be_bytes()),
                    32 => of_bytes(&(value as f32).to_be_bytes()),
                    _ => of_bytes(&value.to_be_bytes()),
                };
                (segment(FLOAT, flags, self.heap.float(value), Term::small(bits as i64)), field(raw, flags))
            }
            Part::Utf(kind, point, flags) => {
                let character = char::from_u32(point)?;
                let units = |all: Vec<Vec<u8>>| all.iter().flat_map(|unit| field(of_bytes(unit), flags)).collect();
                let bits = match kind {
                    UTF8 => of_bytes(character.encode_utf8(&mut [0; 4]).as_bytes()),
                    UTF16 => units(character.encode_utf16(&mut [0; 2]).iter().map(|unit| unit.to_be_bytes().to_vec()).collect()),
                    _ => units(vec![point.to_be_bytes().to_vec()]),
                };
                (segment(kind, flags, Term::small(point as i64), Term::NIL), bits)
            }
            Part::Bits(which, size) => {
                let (source, bits) = self.get(which)?.clone();
                let size = size.map(|size| size.min(bits.len() as u64));
                let taken = size.map_or(bits.len(), |size| size as usize);
                (segment(BINARY, 0, source, size.map_or(ALL, |size| Term::small(size as i64))), bits[..taken].to_vec())
            }
        })
    }

    fn write(&mut self, mut target: Target, parts: &[(Segment, Vec<bool>)]) {
        for (part, bits) in parts {
            // SAFETY: there is room for all of them.
            unsafe { part.write(target.base, target.at, bits.len() as u64) }.unwrap_or_else(|_| panic!("nothing is wrong with it"));
            target.at += bits.len() as u64;
        }
    }

    fn parts(&mut self, parts: &[Part]) -> (Vec<(Segment, Vec<bool>)>, u64) {
        let all: Vec<(Segment, Vec<bool>)> = parts.iter().filter_map(|&part| self.segment(part)).collect();
        let mut total = 0;
        for (segment, bits) in &all {
            assert_eq!(segment.bits(), Ok::<u64, Wrong>(bits.len() as u64));
            total += bits.len() as u64;
        }
        (all, total)
    }
}

fn part(random: &mut Random) -> Part {
    let flags = random.one(&[0, LITTLE]);
    match random.below(10) {
        0 => Part::Float(random.bits(), random.one(&[16, 32, 64]), flags),
        1..3 => {
            let point = random.one(&[0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x1_0000, 0x10_ffff]) + random.below(2) as u32;
            Part::Utf(random.one(&[UTF8, UTF16, UTF32]), point, flags)
        }
        3 => Part::Bits(random.bits(), None),
        4 => Part::Bits(random.bits(), Some(random.key())),
        5 => Part::Integer(random.bits(), random.below(200), random.key(), flags),
        _ => {
            let bits = random.below(70);
            Part::Integer(random.bits(), 1 + random.below(70), random.one(&[8, 16, 24, 32, 64, bits, bits]), flags)
        }
    }
}

impl Subject for Bits {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[7, 8, 56, 64, 65, 128, 511, 512, 513, 1024, 2048];

    fn new() -> Self {
        Bits { heap: Heap::new(), all: Vec::new() }
    }

    fn operation(random: &mut Random) -> Operation {
        let (slot, which, at) = (random.below(SLOTS), random.bits(), random.bits());
        let few = 1 + random.below(4);
        match random.below(100) {
            0..2 => Operation::Move,
            2..10 => Operation::Build(slot, (0..few).map(|_| part(random)).collect()),
            10..40 if random.grows() => Operation::Append(which, slot, (0..few).map(|_| part(random)).collect()),
            10..40 => Operation::Slice(which, slot, at, random.key()),
            40..42 => Operation::Fail(which, random.key()),
            42..70 => Operation::ReadInteger(which, at, random.key() % 300, random.one(&[0, LITTLE, SIGNED, LITTLE | SIGNED])),
            70..75 => Operation::ReadFloat(which, at, random.one(&[0, 16, 32, 64, 24]), random.one(&[0, LITTLE])),
            75..85 => Operation::ReadUtf(random.one(&[UTF8, UTF16, UTF32]), which, at, random.one(&[0, LITTLE])),
            _ => Operation::Compare(which, at, random.bits(), random.bits(), random.key()),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Build(slot, parts) => {
                let (parts, total) = self.parts(parts);
                let target = append::fresh(&mut self.heap, total).expect("there is room");
                let term = target.term;
                self.write(target, &parts);
                self.keep(*slot, term, parts.into_iter().flat_map(|part| part.1).collect());
            }
            Operation::Append(which, slot, parts) => {
                let Some((source, bits)) = self.get(*which).cloned().filter(|(_, bits)| bits.len() < MAX_BITS) else { return };
                let (parts, total) = self.parts(parts);
                let target = append::append(&mut self.heap, source, total).expect("there is room");
                assert_eq!(BitsView::of(target.term).map(|view| view.size_bits), Some(bits.len() as u64 + total));
                let term = target.term;
                self.write(target, &parts);
                self.keep(*slot, term, bits.into_iter().chain(parts.into_iter().flat_map(|part| part.1)).collect());
            }
            Operation::Fail(which, more) => {
                let Some(&(source, _)) = self.get(*which) else { return };
                let target = append::append(&mut self.heap, source, *more).expect("there is room");
                append::give_back(&target, *more);
            }
            Operation::Slice(which, slot, at, size) => {
                let Some((source, bits)) = self.get(*which).cloned() else { return };
                let at = at % (bits.len() as u64 + 1);
                let size = (*size).min(bits.len() as u64 - at);
                let (original, offset) = match source.is_kind(Kind::SubBits) {
                    true => (source.slot(2), source.word(0)),
                    false => (source, 0),
                };
                let term = slice(&mut self.heap, original, offset + at, size);
                self.keep(*slot, term, bits[at as usize..(at + size) as usize].to_vec());
            }
            Operation::ReadInteger(which, at, size, flags) => {
                let Some((source, bits)) = self.get(*which).cloned() else { return };
                let at = at % (bits.len() as u64 + 1);
                let size = (*size).min(bits.len() as u64 - at);
                let part = &bits[at as usize..(at + size) as usize];
                let big_endian = if flags & LITTLE != 0 { from_little_field(part) } else { part.to_vec() };
                let expected = number(&mut self.heap, &big_endian, flags & SIGNED != 0);
                let view = BitsView::of(source).expect("bits");
                let from = view.offset_bits + at;
                // SAFETY: the bits are there.
                let found = unsafe { read_term(&mut self.heap, view.base, from, size, *flags) }.expect("it is not too large");
                assert!(exact_eq(found, expected), "{} and {}", big::to_text(found, 10), big::to_text(expected, 10));
                if size <= 64 {
                    // SAFETY: as above; all bytes before the end of the bitstring are there.
                    let raw = unsafe { read(view.base, from, size, view.offset_bits + view.size_bits) };
                    assert_eq!(raw, word(part));
                    let value = if flags & LITTLE != 0 { from_little(raw, size) } else { raw };
                    assert_eq!(value, word(&big_endian));
                    if size > 0 && flags & SIGNED != 0 {
                        assert_eq!(self.heap.integer(sign_extend(value, size)).raw() & 7, found.raw() & 7);
                    }
                }
            }
            Operation::ReadFloat(which, at, size, flags) => {
                let Some((source, bits)) = self.get(*which).cloned() else { return };
                let at = at % (bits.len() as u64 + 1);
                if at + size > bits.len() as u64 {
                    return;
                }
                let part = &bits[at as usize..(at + size) as usize];
                let raw = word(&if flags & LITTLE != 0 { from_little_field(part) } else { part.to_vec() });
                let expected = match size {
                    0 => Some(0.0),
                    16 => {
                        // Sign, exponent less its bias, fraction; by the layout of a single.
                        let (sign, exponent, fraction) = (raw >> 15 << 31, raw >> 10 & 31, raw & 1023);
                        match exponent {
                            31 => None,
                            0 => Some(fraction as f64 / 16_777_216.0 * if sign != 0 { -1.0 } else { 1.0 }),
                            _ => Some(f32::from_bits((sign | (exponent + 112) << 23 | fraction << 13) as u32) as f64),
                        }
                    }
                    32 => Some(f32::from_bits(raw as u32) as f64),
                    64 => Some(f64::from_bits(raw)),
                    _ => None,
                };
                let view = BitsView::of(source).expect("bits");
                // SAFETY: the bits are there.
                let found = unsafe { read_float(view.base, view.offset_bits + at, *size, *flags) };
                assert_eq!(found.map(f64::to_bits), expected.filter(|f| f.is_finite()).map(f64::to_bits));
            }
            Operation::ReadUtf(kind, which, at, flags) => {
                let Some((source, bits)) = self.get(*which).cloned() else { return };
                let at = at % (bits.len() as u64 + 1);
                let next: Vec<u8> = to_bytes(&bits[at as usize..]).into_iter().take((bits.len() - at as usize).min(32) / 8).collect();
                let unit = |bytes: &[u8]| word(&if flags & LITTLE != 0 { from_little_field(&of_bytes(bytes)) } else { of_bytes(bytes) });
                let first = |mut characters: std::str::Chars| characters.next();
                let expected = match *kind {
                    UTF8 => {
                        (1..=next.len()).find_map(|count| std::str::from_utf8(&next[..count]).ok()).and_then(|text| first(text.chars()))
                    }
                    UTF16 => {
                        let units: Vec<u16> = next.chunks_exact(2).map(|bytes| unit(bytes) as u16).collect();
                        char::decode_utf16(units).next().and_then(Result::ok)
                    }
                    _ => next.chunks_exact(4).next().and_then(|bytes| char::from_u32(unit(bytes) as u32)),
                };
                let expected = expected.map(|c| {
                    let bits = match *kind {
                        UTF8 => c.len_utf8() * 8,
                        UTF16 => c.len_utf16() * 16,
                        _ => 32,
                    };
                    (c as u32, bits as u64)
                });
                let view = BitsView::of(source).expect("bits");
                let (from, end) = (view.offset_bits + at, view.offset_bits + view.size_bits);
                // SAFETY: all bytes before the end of the bitstring are there.
                assert_eq!(unsafe { read_utf(utf_kind(*kind), view.base, from, end, *flags) }, expected);
            }
            Operation::Compare(which, at, other, other_at, size) => {
                let (Some((one, bits)), Some((two, others))) = (self.get(*which).cloned(), self.get(*other).cloned()) else { return };
                let (at, other_at) = (at % (bits.len() as u64 + 1), other_at % (others.len() as u64 + 1));
                let size = (*size).min(bits.len() as u64 - at).min(others.len() as u64 - other_at);
                let (a, b) = (BitsView::of(one).expect("bits"), BitsView::of(two).expect("bits"));
                let mut aligned = vec![0u8; size.div_ceil(8) as usize];
                // SAFETY: both have that many bits from there on.
                let same = unsafe {
                    copy_bits(b.base, b.offset_bits + other_at, aligned.as_mut_ptr(), 0, size);
                    same_bits(a.base, a.offset_bits + at, aligned.as_ptr(), size)
                };
                let (left, right) = (&bits[at as usize..][..size as usize], &others[other_at as usize..][..size as usize]);
                assert_eq!(same, left == right);
                if at < bits.len() as u64 {
                    let byte = to_bytes(&bits[at as usize..(at as usize + 8).min(bits.len())])[0];
                    assert_eq!(a.byte_at(at), byte);
                }
                // As terms: by bits, and the shorter one first where they are the same so far.
                let order = heddle_term::order::cmp(one, two);
                assert_eq!(order, bits.cmp(&others));
                assert_eq!(exact_eq(one, two), order == Ordering::Equal);
            }
            Operation::Move => {
                let mut heap = Heap::new();
                self.all.iter_mut().for_each(|(term, _)| *term = heap.copy(*term));
                std::mem::replace(&mut self.heap, heap).clear();
            }
        }
    }

    fn check(&mut self) {
        for i in 0..self.all.len() {
            let (term, bits) = self.all[i].clone();
            assert!(self.is(term, &bits), "a bitstring of {} bits has changed", bits.len());
            let fresh = self.heap.bits(&to_bytes(&bits), bits.len() as u64);
            assert!(exact_eq(term, fresh) && internal_hash(term) == internal_hash(fresh));
        }
    }

    fn end(&mut self) {
        self.heap.clear();
    }
}

#[test]
fn bitstrings_behave_like_vectors_of_bits() {
    run::<Bits>();
}
