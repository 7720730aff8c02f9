//! Terms to bytes, byte for byte as OTP 27 writes them (but for compressed data, where another deflate may find another
//! encoding, and for the order of large maps). Nothing recurses.

use super::{VERSION, tag};
use crate::atom::Atom;
use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::map::{self, MapIter};
use crate::order::cmp_exact;
use crate::term::Term;
use heddle_memory::CHECKED_BYTES;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::OnceLock;

#[derive(Clone, Copy)]
pub struct EncodeOptions {
    /// 0: floats as text; below 2: Latin-1 atoms in the old form.
    pub minor_version: u8,
    /// Deflate level 0 to 9; the result is compressed only if that makes it shorter.
    pub compressed: Option<u32>,
    /// Map keys in term order.
    pub deterministic: bool,
    /// Sealed for this VM alone.
    pub local: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions { minor_version: 2, compressed: None, deterministic: false, local: false }
    }
}

/// `term_to_binary`.
pub fn encode(term: Term, options: &EncodeOptions) -> Vec<u8> {
    try_encode(term, options).unwrap_or_else(|| heddle_memory::out_of_memory(heddle_memory::MemoryKind::Rest, external_size(term, options)))
}

/// The same; None if the computer has not the memory.
pub fn try_encode(term: Term, options: &EncodeOptions) -> Option<Vec<u8>> {
    // Room for a small term. Grown from one byte on, it would be allocated four times.
    let mut out = Vec::with_capacity(64);
    out.push(VERSION);
    if options.local {
        out.push(tag::LOCAL);
        out.extend_from_slice(&[0; 8]);
    }
    let start = out.len();
    if !encode_up_to(&mut out, term, options, CHECKED_BYTES) {
        out.truncate(start);
        let size = external_size(term, options);
        // All of it, and at the end a copy.
        if !heddle_memory::fits(2 * size) {
            return None;
        }
        out.reserve_exact(size);
        encode_up_to(&mut out, term, options, usize::MAX);
    }
    if options.local {
        let seal = local_seal(&out[10..]);
        out[2..10].copy_from_slice(&seal.to_be_bytes());
    }
    Some(match options.compressed {
        Some(level) if !options.local => compress(&out, level).unwrap_or(out),
        _ => out,
    })
}

fn compress(plain: &[u8], level: u32) -> Option<Vec<u8>> {
    let size = u32::try_from(plain.len() - 1).ok()?;
    let mut out = vec![VERSION, tag::COMPRESSED];
    out.extend_from_slice(&size.to_be_bytes());
    let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::new(level.min(9)));
    encoder.write_all(&plain[1..]).ok()?;
    let out = encoder.finish().ok()?;
    // As stock: no longer than the plain bytes.
    (out.len() <= plain.len()).then_some(out)
}

/// Bytes that `encode` writes with default options.
pub fn external_size(term: Term, options: &EncodeOptions) -> usize {
    // The seal of the local form takes a tag and eight bytes.
    let seal = if options.local { 9 } else { 0 };
    let (bytes, cuts) = encode_parts(term, options);
    seal + bytes.len() + cuts.iter().filter_map(|cut| BitsView::of(cut.1)).map(|view| (view.size_bits / 8) as usize).sum::<usize>()
}

/// Checksum that only this VM knows how to make.
pub(super) fn local_seal(bytes: &[u8]) -> u64 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    KEY.get_or_init(RandomState::new).hash_one(bytes)
}

enum Work {
    Run(*const Term, usize),
    /// The rest of a list whose length was written.
    Cells(Term),
    Pairs(Vec<(Term, Term)>, usize),
    Map(MapIter<'static>),
    Value(Term),
    /// The size field of a fun starts here.
    FunSize(usize),
}

struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    options: &'a EncodeOptions,
    stack: Vec<Work>,
    /// Where whole bytes of large bitstrings belong that are left out (places in `out`, bitstrings), if they are.
    cuts: Option<Vec<(usize, Term)>>,
    /// Where a binary ends after this length, nothing more is written.
    limit_bytes: usize,
    is_full: bool,
}

/// Appends a term without version byte.
pub fn encode_body(out: &mut Vec<u8>, term: Term, options: &EncodeOptions) {
    encode_up_to(out, term, options, usize::MAX);
}

/// The same; false if a binary ends after that length, where encoding stops.
fn encode_up_to(out: &mut Vec<u8>, term: Term, options: &EncodeOptions, limit_bytes: usize) -> bool {
    let mut encoder = Encoder { out, options, stack: Vec::new(), cuts: None, limit_bytes, is_full: false };
    encoder.run(term);
    !encoder.is_full
}

/// As `encode` (neither compressed nor local), but the bytes of large bitstrings are left out: the second answer says where
/// the whole bytes of which bitstring belong.
pub fn encode_parts(term: Term, options: &EncodeOptions) -> (Vec<u8>, Vec<(usize, Term)>) {
    let mut out = vec![VERSION];
    let mut encoder =
        Encoder { out: &mut out, options, stack: Vec::new(), cuts: Some(Vec::new()), limit_bytes: usize::MAX, is_full: false };
    encoder.run(term);
    let cuts = encoder.cuts.take().unwrap_or_default();
    (out, cuts)
}

impl Encoder<'_> {
    fn run(&mut self, term: Term) {
        self.term(term);
        while let Some(work) = self.stack.pop() {
            self.work(work);
        }
    }

    fn work(&mut self, work: Work) {
        match work {
            Work::Run(_, 0) => {}
            Work::Run(at, left) => {
                self.stack.push(Work::Run(at.wrapping_add(1), left - 1));
                // SAFETY: the run has `left` terms.
                self.term(unsafe { *at });
            }
            Work::Cells(mut rest) => {
                // Elements without parts are written in this loop.
                while rest.is_cons() {
                    let head = rest.head();
                    rest = rest.tail();
                    if head.is_pointer() {
                        self.stack.push(Work::Cells(rest));
                        self.term(head);
                        return;
                    }
                    self.term(head);
                }
                self.term(rest);
            }
            Work::Pairs(pairs, at) => {
                let Some(&(key, value)) = pairs.get(at) else { return };
                self.stack.push(Work::Pairs(pairs, at + 1));
                self.stack.push(Work::Value(value));
                self.term(key);
            }
            Work::Map(mut iter) => {
                let Some((key, value)) = iter.next() else { return };
                self.stack.push(Work::Map(iter));
                self.stack.push(Work::Value(value));
                self.term(key);
            }
            Work::Value(value) => self.term(value),
            Work::FunSize(at) => {
                let size = (self.out.len() - at) as u32;
                self.out[at..at + 4].copy_from_slice(&size.to_be_bytes());
            }
        }
    }

    fn u8(&mut self, byte: u8) {
        self.out.push(byte);
    }
    fn u16(&mut self, value: u16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn atom(&mut self, atom: Atom) {
        let name = atom.name();
        if self.options.minor_version < 2 && name.chars().all(|c| (c as u32) < 256) {
            let latin1: Vec<u8> = name.chars().map(|c| c as u8).collect();
            self.u8(tag::ATOM);
            self.u16(latin1.len() as u16);
            self.out.extend_from_slice(&latin1);
            return;
        }
        match u8::try_from(name.len()) {
            Ok(len) => self.out.extend_from_slice(&[tag::SMALL_ATOM_UTF8, len]),
            Err(_) => {
                self.u8(tag::ATOM_UTF8);
                self.u16(name.len() as u16);
            }
        }
        self.out.extend_from_slice(name.as_bytes());
    }

    fn small(&mut self, value: i64) {
        if let Ok(byte) = u8::try_from(value) {
            self.out.extend_from_slice(&[tag::SMALL_INTEGER, byte]);
        } else if let Ok(word) = i32::try_from(value) {
            self.u8(tag::INTEGER);
            self.u32(word as u32);
        } else {
            self.big(value < 0, &[value.unsigned_abs()]);
        }
    }

    fn big(&mut self, negative: bool, digits: &[u64]) {
        let top = digits.last().copied().unwrap_or(0);
        let len = digits.len() * 8 - top.leading_zeros() as usize / 8;
        match u8::try_from(len) {
            Ok(len) => self.out.extend_from_slice(&[tag::SMALL_BIG, len]),
            Err(_) => {
                self.u8(tag::LARGE_BIG);
                self.u32(len as u32);
            }
        }
        self.u8(negative as u8);
        let end = self.out.len() + len;
        for digit in digits {
            self.out.extend_from_slice(&digit.to_le_bytes());
        }
        self.out.truncate(end);
    }

    fn term(&mut self, term: Term) {
        if let Some(value) = term.as_small() {
            self.small(value);
        } else if let Some(atom) = term.as_atom() {
            self.atom(atom);
        } else if term.is_nil() {
            self.u8(tag::NIL);
        } else if term.is_cons() {
            self.list(term);
        } else if let Some(pid) = PidView::of(term) {
            self.pid(pid);
        } else if let Some(port) = PortView::of(term) {
            self.u8(tag::V4_PORT);
            self.atom(port.node);
            self.out.extend_from_slice(&port.number.to_be_bytes());
            self.u32(port.creation);
        } else if term.is_boxed() {
            self.object(term);
        } else {
            debug_assert!(false, "no term: {:#x}", term.raw());
            self.u8(tag::NIL);
        }
    }

    fn list(&mut self, list: Term) {
        let mut len = 0usize;
        let mut bytes = true;
        let mut rest = list;
        while rest.is_cons() {
            bytes = bytes && rest.head().as_small().is_some_and(|v| (0..256).contains(&v));
            len += 1;
            rest = rest.tail();
        }
        if bytes && rest.is_nil() && len <= u16::MAX as usize {
            self.u8(tag::STRING);
            self.u16(len as u16);
            let mut rest = list;
            while rest.is_cons() {
                self.u8(rest.head().small_value() as u8);
                rest = rest.tail();
            }
            return;
        }
        self.u8(tag::LIST);
        self.u32(len as u32);
        self.stack.push(Work::Cells(list));
    }

    fn pid(&mut self, pid: PidView) {
        self.u8(tag::NEW_PID);
        self.atom(pid.node);
        self.u32(pid.number);
        self.u32(pid.serial);
        self.u32(pid.creation);
    }

    fn object(&mut self, term: Term) {
        let arity = term.header().arity();
        let slot_address = |n: usize| term.ptr().wrapping_add(1 + n) as *const Term;
        match term.header().kind() {
            Kind::Tuple => {
                match u8::try_from(arity) {
                    Ok(arity) => self.out.extend_from_slice(&[tag::SMALL_TUPLE, arity]),
                    Err(_) => {
                        self.u8(tag::LARGE_TUPLE);
                        self.u32(arity as u32);
                    }
                }
                self.stack.push(Work::Run(slot_address(0), arity));
            }
            Kind::FlatMap | Kind::HashMap => {
                self.u8(tag::MAP);
                self.u32(map::size(term) as u32);
                if self.options.deterministic {
                    let mut pairs: Vec<(Term, Term)> = MapIter::new(term).collect();
                    pairs.sort_by(|a, b| cmp_exact(a.0, b.0));
                    self.stack.push(Work::Pairs(pairs, 0));
                } else {
                    self.stack.push(Work::Map(MapIter::new(term)));
                }
            }
            Kind::PosBig | Kind::NegBig => self.big(term.is_kind(Kind::NegBig), crate::big::digits(term)),
            Kind::Float => self.float(f64::from_bits(term.word(0))),
            Kind::HeapBits | Kind::BinRef | Kind::SubBits => self.bits(term),
            Kind::Fun => self.fun(term),
            Kind::ExportFun => {
                let mfa = fun::export(term).mfa;
                self.u8(tag::EXPORT);
                self.atom(mfa.module);
                self.atom(mfa.function);
                self.out.extend_from_slice(&[tag::SMALL_INTEGER, mfa.arity]);
            }
            Kind::Ref | Kind::MagicRef | Kind::ExtRef => {
                crate::resource::remember_term(term);
                let Some(view) = RefView::of(term) else { return };
                self.u8(tag::NEWER_REFERENCE);
                self.u16(view.count as u16);
                self.atom(view.node);
                self.u32(view.creation);
                for &word in &view.words[..view.count] {
                    self.u32(word);
                }
            }
            // Identifiers were handled before; match contexts and nodes are no terms of a program.
            Kind::ExtPid | Kind::ExtPort | Kind::HashNode | Kind::MatchCtx | Kind::RegionRef | Kind::Filler => {}
        }
    }

    fn float(&mut self, value: f64) {
        if self.options.minor_version > 0 {
            self.u8(tag::NEW_FLOAT);
            self.out.extend_from_slice(&value.to_bits().to_be_bytes());
            return;
        }
        let mut text = crate::text::float::scientific(value, 20).into_bytes();
        text.resize(31, 0);
        self.u8(tag::FLOAT);
        self.out.extend_from_slice(&text);
    }

    fn bits(&mut self, term: Term) {
        let Some(view) = BitsView::of(term) else { return };
        let last = (view.size_bits % 8) as u8;
        self.u8(if last == 0 { tag::BINARY } else { tag::BIT_BINARY });
        self.u32(view.len_bytes() as u32);
        if last != 0 {
            self.u8(last);
        }
        let whole = (view.size_bits / 8) as usize;
        if let Some(cuts) = &mut self.cuts
            && whole > crate::boxed::HEAP_BITS_MAX_BYTES
            && view.offset_bits.is_multiple_of(8)
        {
            cuts.push((self.out.len(), term));
            if last != 0 {
                self.out.push(view.byte_at(whole as u64 * 8));
            }
            return;
        }
        if self.out.len() + whole > self.limit_bytes {
            self.is_full = true;
            self.stack.clear();
            return;
        }
        match view.as_bytes() {
            Some(bytes) => self.out.extend_from_slice(bytes),
            None => self.out.extend_from_slice(&view.to_vec()),
        }
    }

    fn fun(&mut self, term: Term) {
        let entry = fun::entry(term);
        let (creator, free) = fun::creator_and_free(term);
        self.u8(tag::NEW_FUN);
        let size_at = self.out.len();
        self.u32(0);
        self.u8(entry.arity);
        self.out.extend_from_slice(&entry.uniq);
        self.u32(entry.index);
        self.u32(free.len() as u32);
        self.atom(entry.module);
        self.small(entry.index as i64);
        self.small(entry.old_uniq as i64);
        self.term(creator);
        self.stack.push(Work::FunSize(size_at));
        self.stack.push(Work::Run(free.as_ptr(), free.len()));
    }
}
