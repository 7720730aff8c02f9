//! The walk over a term that writes its bytes. Nothing recurses for more than a few levels.

use super::tag;
use super::writer::{AtomWriter, Writer};
use crate::bits::BitsView;
use crate::boxed::{HEAP_BITS_MAX_BYTES, Kind};
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::map::{self, MapIter};
use crate::order::cmp_exact;
use crate::term::Term;
use smallvec::SmallVec;

/// What is still to be written.
pub(super) enum Work {
    Run(*const Term, usize),
    /// The rest of a list whose length was written.
    Cells(Term),
    /// The rest of a long list. Its length so far; it will be written at this place.
    LongCells(Term, usize, usize),
    Pairs(Vec<(Term, Term)>, usize),
    Map(MapIter<'static>),
    Value(Term),
    /// The place of a fun's size field, and the bytes that had been left out before it.
    FunSize(usize, usize),
}

/// Most terms are not deep.
pub(super) type Stack = SmallVec<[Work; 4]>;

/// Levels of a term that are written by recursion.
const DIRECT_LEVELS: u32 = 16;

/// Integers of a list that are written before the encoder looks at how many bytes there are.
const INTEGERS_AT_ONCE: usize = 1 << 14;

/// Cells of a list that are counted before it is written.
const MAX_COUNTED_CELLS: usize = 1024;

/// `STOPS`: it may stop between two terms.
pub(super) struct Encoder<'a, A, const STOPS: bool> {
    w: Writer<'a, A>,
    /// 0: floats as text.
    minor_version: u8,
    /// Map keys in term order.
    deterministic: bool,
    pub stack: Stack,
    /// Where whole bytes of large bitstrings belong that are left out (places in `out`, bitstrings), if they are.
    pub cuts: Option<Vec<(usize, Term)>>,
    /// Bytes that were left out.
    pub cut_bytes: usize,
    /// Where a binary ends after this length, nothing more is written.
    pub limit_bytes: usize,
    pub is_full: bool,
    /// Unless it `STOPS`: more bytes than these, but for those of bitstrings, are not written.
    pub long_at: usize,
    pub is_long: bool,
    /// A length does not fit in its field.
    pub is_too_large: bool,
    /// If `STOPS`: the length of the output at which it stops.
    pub pause_at: usize,
}

impl<'a, A: AtomWriter, const STOPS: bool> Encoder<'a, A, STOPS> {
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, atoms: A, minor_version: u8, deterministic: bool) -> Self {
        Encoder {
            w: Writer { out, atoms },
            minor_version,
            deterministic,
            stack: SmallVec::new(),
            cuts: None,
            cut_bytes: 0,
            limit_bytes: usize::MAX,
            is_full: false,
            long_at: usize::MAX,
            is_long: false,
            is_too_large: false,
            pause_at: usize::MAX,
        }
    }

    pub fn run(&mut self, term: Term) {
        if STOPS {
            self.term(term);
            self.go_on();
        } else {
            self.direct(term, DIRECT_LEVELS);
        }
    }

    /// Writes a term by recursion, of that many levels: most terms are not deep. The stack is empty before and after it.
    fn direct(&mut self, term: Term, levels: u32) {
        if let Some(value) = term.as_small() {
            return self.w.integer(value);
        }
        if let Some(atom) = term.as_atom() {
            return self.w.atom(atom);
        }
        if levels > 0 && term.is_cons() {
            return self.direct_list(term, levels - 1);
        }
        if levels > 0 && term.is_boxed() {
            let header = term.header();
            match header.kind() {
                Kind::Tuple => {
                    self.w.tuple(header.arity());
                    for at in 0..header.arity() {
                        self.direct(term.slot(at), levels - 1);
                        if self.is_full || self.becomes_long() {
                            return;
                        }
                    }
                    return;
                }
                Kind::FlatMap if !self.deterministic => {
                    let (keys, values) = map::flat_parts(term);
                    self.w.tag_u32(tag::MAP, keys.len() as u32);
                    for (&key, &value) in keys.iter().zip(values) {
                        self.direct(key, levels - 1);
                        if !self.is_full {
                            self.direct(value, levels - 1);
                        }
                        if self.is_full {
                            return;
                        }
                    }
                    return;
                }
                Kind::HeapBits | Kind::BinRef | Kind::SubBits => return self.bits(term),
                Kind::Float => return self.float(f64::from_bits(term.word(0))),
                _ => {}
            }
        }
        self.term(term);
        self.go_on();
    }

    /// A list whose length is written when it is known.
    fn direct_list(&mut self, list: Term, levels: u32) {
        if self.text(list) {
            return;
        }
        let place = self.w.out.len() + 1;
        self.w.tag_u32(tag::LIST, 0);
        let (mut rest, mut count) = (list, 0);
        while rest.is_cons() {
            let head = rest.head();
            if head.is_small() {
                let integers;
                (rest, integers) = self.w.integers_of(rest, INTEGERS_AT_ONCE);
                count += integers;
                if integers > 0 {
                    if self.becomes_long() {
                        return;
                    }
                    continue;
                }
            }
            self.direct(head, levels);
            if self.is_full || self.becomes_long() {
                return;
            }
            count += 1;
            rest = rest.tail();
        }
        self.set_u32(place, count);
        self.direct(rest, levels);
    }

    /// True if there are more bytes than may be. Then nothing more is written.
    #[inline(always)]
    fn becomes_long(&mut self) -> bool {
        if STOPS || self.w.out.len() <= self.long_at {
            return false;
        }
        (self.is_long, self.is_full) = (true, true);
        self.stack.clear();
        true
    }

    /// Writes what is on the stack, up to `pause_at`.
    pub fn go_on(&mut self) {
        while !(STOPS && self.w.out.len() >= self.pause_at || self.becomes_long())
            && let Some(work) = self.stack.pop()
        {
            self.work(work);
        }
    }

    fn work(&mut self, work: Work) {
        match work {
            Work::Run(mut at, mut left) => {
                // Elements without parts are written in this loop.
                while left > 0 {
                    // SAFETY: the run has `left` terms.
                    let element = unsafe { *at };
                    (at, left) = (at.wrapping_add(1), left - 1);
                    if left > 0 && (element.is_pointer() || self.w.out.len() >= self.pause_at.min(self.long_at)) {
                        self.stack.push(Work::Run(at, left));
                        self.term(element);
                        return;
                    }
                    self.term(element);
                }
            }
            Work::Cells(mut rest) => {
                // Elements without parts are written in this loop.
                while rest.is_cons() {
                    (rest, _) = self.w.integers_of(rest, self.integers_until_pause());
                    if !rest.is_cons() {
                        break;
                    }
                    let head = rest.head();
                    rest = rest.tail();
                    if head.is_pointer() || self.w.out.len() >= self.pause_at.min(self.long_at) {
                        self.stack.push(Work::Cells(rest));
                        self.term(head);
                        return;
                    }
                    self.term(head);
                }
                self.term(rest);
            }
            Work::LongCells(rest, count, at) => self.long_cells(rest, count, at),
            Work::Pairs(pairs, at) => {
                let Some(&(key, value)) = pairs.get(at) else { return };
                self.stack.push(Work::Pairs(pairs, at + 1));
                self.stack.push(Work::Value(value));
                self.term(key);
            }
            Work::Map(mut iter) => {
                while let Some((key, value)) = iter.next() {
                    if key.is_pointer() || value.is_pointer() || self.w.out.len() >= self.pause_at.min(self.long_at) {
                        self.stack.push(Work::Map(iter));
                        self.stack.push(Work::Value(value));
                        self.term(key);
                        return;
                    }
                    self.term(key);
                    self.term(value);
                }
            }
            Work::Value(value) => self.term(value),
            Work::FunSize(at, cut_bytes) => {
                let size = self.w.out.len() - at + (self.cut_bytes - cut_bytes);
                self.set_u32(at, size);
            }
        }
    }

    fn long_cells(&mut self, mut rest: Term, mut count: usize, at: usize) {
        while rest.is_cons() {
            let (after, integers) = self.w.integers_of(rest, self.integers_until_pause());
            (rest, count) = (after, count + integers);
            if !rest.is_cons() {
                break;
            }
            let head = rest.head();
            rest = rest.tail();
            count += 1;
            if head.is_pointer() || self.w.out.len() >= self.pause_at.min(self.long_at) {
                self.stack.push(Work::LongCells(rest, count, at));
                self.term(head);
                return;
            }
            self.term(head);
        }
        self.set_u32(at, count);
        self.term(rest);
    }

    /// About as many integers as may be written at once.
    fn integers_until_pause(&self) -> usize {
        if STOPS { self.pause_at.saturating_sub(self.w.out.len()) / 5 } else { INTEGERS_AT_ONCE }
    }

    fn set_u32(&mut self, at: usize, value: usize) {
        let Ok(value) = u32::try_from(value) else {
            self.is_too_large = true;
            return;
        };
        self.w.out[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    fn term(&mut self, term: Term) {
        if let Some(value) = term.as_small() {
            self.w.integer(value);
        } else if let Some(atom) = term.as_atom() {
            self.w.atom(atom);
        } else if term.is_nil() {
            self.w.nil();
        } else if term.is_cons() {
            self.list(term);
        } else if let Some(pid) = PidView::of(term) {
            self.w.pid(pid);
        } else if let Some(port) = PortView::of(term) {
            self.w.port(port);
        } else if term.is_boxed() {
            self.object(term);
        } else {
            debug_assert!(false, "no term: {:#x}", term.raw());
            self.w.nil();
        }
    }

    fn list(&mut self, list: Term) {
        if self.text(list) {
            return;
        }
        let (mut len, mut rest) = (0usize, list);
        while rest.is_cons() {
            len += 1;
            rest = rest.tail();
            if len > MAX_COUNTED_CELLS {
                self.w.u8(tag::LIST);
                self.stack.push(Work::LongCells(list, 0, self.w.out.len()));
                return self.w.u32(0);
            }
        }
        self.w.tag_u32(tag::LIST, len as u32);
        self.stack.push(Work::Cells(list));
    }

    /// Writes a list of bytes, which is not too long for that form. False for any other list.
    #[inline]
    fn text(&mut self, list: Term) -> bool {
        let is_byte = |term: Term| term.as_small().is_some_and(|value| (0..256).contains(&value));
        let (mut len, mut rest) = (0usize, list);
        while rest.is_cons() {
            len += 1;
            if len > u16::MAX as usize || !is_byte(rest.head()) {
                return false;
            }
            rest = rest.tail();
        }
        if !rest.is_nil() {
            return false;
        }
        self.w.u8(tag::STRING);
        self.w.u16(len as u16);
        let mut rest = list;
        while rest.is_cons() {
            self.w.u8(rest.head().small_value() as u8);
            rest = rest.tail();
        }
        true
    }

    fn object(&mut self, term: Term) {
        let arity = term.header().arity();
        let slot_address = |n: usize| term.ptr().wrapping_add(1 + n) as *const Term;
        match term.header().kind() {
            Kind::Tuple => {
                self.w.tuple(arity);
                self.stack.push(Work::Run(slot_address(0), arity));
            }
            Kind::FlatMap | Kind::HashMap => {
                self.w.tag_u32(tag::MAP, map::size(term) as u32);
                if self.deterministic {
                    let mut pairs: Vec<(Term, Term)> = MapIter::new(term).collect();
                    pairs.sort_by(|a, b| cmp_exact(a.0, b.0));
                    self.stack.push(Work::Pairs(pairs, 0));
                } else {
                    self.stack.push(Work::Map(MapIter::new(term)));
                }
            }
            Kind::PosBig | Kind::NegBig => self.w.big(term.is_kind(Kind::NegBig), crate::big::digits(term)),
            Kind::Float => self.float(f64::from_bits(term.word(0))),
            Kind::HeapBits | Kind::BinRef | Kind::SubBits => self.bits(term),
            Kind::Fun => self.fun(term),
            Kind::ExportFun => {
                let mfa = fun::export(term).mfa;
                self.w.u8(tag::EXPORT);
                self.w.atom(mfa.module);
                self.w.atom(mfa.function);
                self.w.out.extend_from_slice(&[tag::SMALL_INTEGER, mfa.arity]);
            }
            Kind::Ref | Kind::MagicRef | Kind::ExtRef => {
                crate::resource::remember_term(term);
                let Some(view) = RefView::of(term) else { return };
                self.w.reference(view);
            }
            // Identifiers were handled before; match contexts and nodes are no terms of a program.
            Kind::ExtPid | Kind::ExtPort | Kind::HashNode | Kind::MatchCtx | Kind::RegionRef | Kind::Filler => {}
        }
    }

    fn float(&mut self, value: f64) {
        if self.minor_version > 0 {
            self.w.u8(tag::NEW_FLOAT);
            self.w.u64(value.to_bits());
            return;
        }
        let mut text = crate::text::float::scientific(value, 20).into_bytes();
        text.resize(31, 0);
        self.w.u8(tag::FLOAT);
        self.w.out.extend_from_slice(&text);
    }

    fn bits(&mut self, term: Term) {
        let Some(view) = BitsView::of(term) else { return };
        let last = (view.size_bits % 8) as u8;
        self.is_too_large |= view.len_bytes() > u32::MAX as usize;
        self.w.tag_u32(if last == 0 { tag::BINARY } else { tag::BIT_BINARY }, view.len_bytes() as u32);
        if last != 0 {
            self.w.u8(last);
        }
        let whole = (view.size_bits / 8) as usize;
        if let Some(cuts) = &mut self.cuts
            && whole > HEAP_BITS_MAX_BYTES
            && view.offset_bits.is_multiple_of(8)
        {
            cuts.push((self.w.out.len(), term));
            self.cut_bytes += whole;
            if last != 0 {
                self.w.u8(view.byte_at(whole as u64 * 8));
            }
            return;
        }
        if self.is_too_large || self.w.out.len() + whole > self.limit_bytes {
            self.is_full = true;
            self.stack.clear();
            return;
        }
        self.long_at = self.long_at.saturating_add(whole);
        match view.as_bytes() {
            Some(bytes) => self.w.out.extend_from_slice(bytes),
            None => self.w.out.extend_from_slice(&view.to_vec()),
        }
    }

    fn fun(&mut self, term: Term) {
        let entry = fun::entry(term);
        let (creator, free) = fun::creator_and_free(term);
        self.w.u8(tag::NEW_FUN);
        let size_at = self.w.out.len();
        self.w.u32(0);
        self.w.u8(entry.arity);
        self.w.out.extend_from_slice(&entry.uniq);
        self.w.u32(entry.index);
        self.w.u32(free.len() as u32);
        self.w.atom(entry.module);
        self.w.integer(entry.index as i64);
        self.w.integer(entry.old_uniq as i64);
        self.term(creator);
        self.stack.push(Work::FunSize(size_at, self.cut_bytes));
        self.stack.push(Work::Run(free.as_ptr(), free.len()));
    }
}
