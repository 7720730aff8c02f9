//! The tagged word.
//!
//! `Term` is `Copy` and carries no lifetime: see "Rooting" in docs/memory.md. A term that is held across a collection
//! is a dangling pointer; natives cannot collect, and the engine keeps terms in registers only.

use crate::atom::Atom;
use crate::boxed::{Header, Kind};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Term(u64);

pub const TAG_MASK: u64 = 0b111;
pub const TAG_CONS: u64 = 0b001;
pub const TAG_BOXED: u64 = 0b010;
pub const TAG_IMMEDIATE: u64 = 0b011;
pub const TAG_HEADER: u64 = 0b100;
pub const TAG_CONTINUATION: u64 = 0b110;
/// Written by the collector over the first word of a moved object; the upper bits are the new tagged pointer.
pub const TAG_FORWARD: u64 = 0b111;

/// Small integers have all four low bits clear.
pub const SMALL_MASK: u64 = 0b1111;
pub const SMALL_SHIFT: u32 = 4;

/// The bits that tell the kind of an immediate term that is no small integer.
pub const IMMEDIATE_MASK: u64 = 0b111_111;
const IMM_ATOM: u64 = 0b000_011;
const IMM_PID: u64 = 0b001_011;
const IMM_PORT: u64 = 0b010_011;
const IMM_NIL: u64 = 0b011_011;
const IMM_CATCH: u64 = 0b100_011;
const IMM_NONE: u64 = 0b101_011;
/// Bits below the payload of such a term.
pub const IMMEDIATE_SHIFT: u32 = 6;

pub const SMALL_MAX: i64 = (1 << 59) - 1;
pub const SMALL_MIN: i64 = -(1 << 59);

impl Term {
    pub const NIL: Term = Term(IMM_NIL);
    /// "No term": an empty slot or register. Never visible to Erlang code.
    pub const NONE: Term = Term(IMM_NONE);

    #[inline(always)]
    pub const fn from_raw(word: u64) -> Term {
        Term(word)
    }

    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// A small integer. The value must lie within 60 bits.
    #[inline(always)]
    pub const fn small(value: i64) -> Term {
        debug_assert!(value >= SMALL_MIN && value <= SMALL_MAX);
        Term((value as u64) << SMALL_SHIFT)
    }

    /// A small integer if `value` fits in 60 bits.
    #[inline(always)]
    pub const fn try_small(value: i64) -> Option<Term> {
        if value >= SMALL_MIN && value <= SMALL_MAX { Some(Term((value as u64) << SMALL_SHIFT)) } else { None }
    }

    #[inline(always)]
    pub const fn atom(atom: Atom) -> Term {
        Term(((atom.index() as u64) << IMMEDIATE_SHIFT) | IMM_ATOM)
    }

    #[inline(always)]
    pub const fn bool(value: bool) -> Term {
        Term::atom(if value { crate::am::TRUE } else { crate::am::FALSE })
    }

    /// A pid of this node; `data` is its 58-bit identity (number in the low 28 bits, serial above).
    #[inline(always)]
    pub const fn local_pid(data: u64) -> Term {
        Term((data << IMMEDIATE_SHIFT) | IMM_PID)
    }

    #[inline(always)]
    pub const fn local_port(data: u64) -> Term {
        Term((data << IMMEDIATE_SHIFT) | IMM_PORT)
    }

    /// A catch or try marker in a stack slot; `index` is the code server's handler index.
    #[inline(always)]
    pub const fn catch_marker(index: u64) -> Term {
        Term((index << IMMEDIATE_SHIFT) | IMM_CATCH)
    }

    /// `ptr` is the address of two initialised words.
    #[inline(always)]
    pub fn cons(ptr: *const u64) -> Term {
        debug_assert!(ptr as u64 & TAG_MASK == 0);
        Term(ptr as u64 | TAG_CONS)
    }

    /// `ptr` is the address of a header word.
    #[inline(always)]
    pub fn boxed(ptr: *const u64) -> Term {
        debug_assert!(ptr as u64 & TAG_MASK == 0);
        Term(ptr as u64 | TAG_BOXED)
    }

    #[inline(always)]
    pub const fn tag(self) -> u64 {
        self.0 & TAG_MASK
    }
    #[inline(always)]
    pub const fn is_small(self) -> bool {
        self.0 & SMALL_MASK == 0
    }
    #[inline(always)]
    pub const fn is_cons(self) -> bool {
        self.0 & TAG_MASK == TAG_CONS
    }
    #[inline(always)]
    pub const fn is_boxed(self) -> bool {
        self.0 & TAG_MASK == TAG_BOXED
    }
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == IMM_NIL
    }
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == IMM_NONE
    }
    #[inline(always)]
    pub const fn is_list(self) -> bool {
        self.is_cons() || self.is_nil()
    }
    #[inline(always)]
    pub const fn is_atom(self) -> bool {
        self.0 & IMMEDIATE_MASK == IMM_ATOM
    }
    #[inline(always)]
    pub const fn is_local_pid(self) -> bool {
        self.0 & IMMEDIATE_MASK == IMM_PID
    }
    #[inline(always)]
    pub const fn is_local_port(self) -> bool {
        self.0 & IMMEDIATE_MASK == IMM_PORT
    }
    #[inline(always)]
    pub const fn is_catch_marker(self) -> bool {
        self.0 & IMMEDIATE_MASK == IMM_CATCH
    }
    /// True for words that need no memory.
    #[inline(always)]
    pub const fn is_immediate(self) -> bool {
        let tag = self.0 & TAG_MASK;
        tag != TAG_CONS && tag != TAG_BOXED
    }
    /// True for cons and boxed terms.
    #[inline(always)]
    pub const fn is_pointer(self) -> bool {
        !self.is_immediate()
    }
    #[inline(always)]
    pub const fn is_header(self) -> bool {
        self.0 & TAG_MASK == TAG_HEADER
    }
    #[inline(always)]
    pub const fn is_continuation(self) -> bool {
        self.0 & TAG_MASK == TAG_CONTINUATION
    }

    /// Value of a small integer; the caller checked `is_small`.
    #[inline(always)]
    pub const fn small_value(self) -> i64 {
        debug_assert!(self.is_small());
        (self.0 as i64) >> SMALL_SHIFT
    }
    #[inline(always)]
    pub const fn as_small(self) -> Option<i64> {
        if self.is_small() { Some((self.0 as i64) >> SMALL_SHIFT) } else { None }
    }
    #[inline(always)]
    pub const fn as_atom(self) -> Option<Atom> {
        if self.is_atom() { Some(Atom::from_index((self.0 >> IMMEDIATE_SHIFT) as u32)) } else { None }
    }
    #[inline(always)]
    pub fn is_atom_of(self, atom: Atom) -> bool {
        self == Term::atom(atom)
    }
    /// Payload of a local pid or port, or of a catch marker.
    #[inline(always)]
    pub const fn payload(self) -> u64 {
        self.0 >> IMMEDIATE_SHIFT
    }

    /// Address in a cons or boxed term.
    #[inline(always)]
    pub const fn ptr(self) -> *mut u64 {
        (self.0 & !TAG_MASK) as *mut u64
    }

    /// Head of a cons; the caller checked `is_cons`.
    #[inline(always)]
    #[track_caller]
    pub fn head(self) -> Term {
        debug_assert!(self.is_cons());
        // SAFETY: a cons term points to two initialised words.
        unsafe { Term(*self.ptr()) }
    }
    /// Tail of a cons; the caller checked `is_cons`.
    #[inline(always)]
    #[track_caller]
    pub fn tail(self) -> Term {
        debug_assert!(self.is_cons());
        // SAFETY: a cons term points to two initialised words.
        unsafe { Term(*self.ptr().add(1)) }
    }

    /// Header of a boxed term; the caller checked `is_boxed`.
    #[inline(always)]
    #[track_caller]
    pub fn header(self) -> Header {
        debug_assert!(self.is_boxed());
        // SAFETY: a boxed term points to a header word.
        unsafe { Header::from_raw(*self.ptr()) }
    }

    /// Kind of a boxed term, or None for everything else.
    #[inline(always)]
    pub fn kind(self) -> Option<Kind> {
        if self.is_boxed() { Some(self.header().kind()) } else { None }
    }

    #[inline(always)]
    pub fn is_kind(self, kind: Kind) -> bool {
        self.is_boxed() && self.header().kind() == kind
    }

    /// The n-th word after the header of a boxed term, raw.
    #[inline(always)]
    #[track_caller]
    pub fn word(self, n: usize) -> u64 {
        debug_assert!(self.is_boxed() && n < self.header().arity());
        // SAFETY: a boxed object has `arity` words after its header.
        unsafe { *self.ptr().add(1 + n) }
    }

    /// The n-th word after the header as a term.
    #[inline(always)]
    #[track_caller]
    pub fn slot(self, n: usize) -> Term {
        Term(self.word(n))
    }

    pub fn is_tuple(self) -> bool {
        self.is_kind(Kind::Tuple)
    }
    /// Elements of a tuple.
    #[inline]
    pub fn as_tuple<'a>(self) -> Option<&'a [Term]> {
        if !self.is_tuple() {
            return None;
        }
        // SAFETY: a tuple has `arity` initialised terms after its header; Term is transparent over u64.
        Some(unsafe { std::slice::from_raw_parts(self.ptr().add(1).cast::<Term>(), self.header().arity()) })
    }
    pub fn is_float(self) -> bool {
        self.is_kind(Kind::Float)
    }
    #[inline]
    pub fn as_float(self) -> Option<f64> {
        if self.is_float() { Some(f64::from_bits(self.word(0))) } else { None }
    }
    pub fn is_big(self) -> bool {
        matches!(self.kind(), Some(Kind::PosBig | Kind::NegBig))
    }
    pub fn is_integer(self) -> bool {
        self.is_small() || self.is_big()
    }
    pub fn is_number(self) -> bool {
        self.is_small() || matches!(self.kind(), Some(Kind::PosBig | Kind::NegBig | Kind::Float))
    }
    pub fn is_map(self) -> bool {
        matches!(self.kind(), Some(Kind::FlatMap | Kind::HashMap))
    }
    pub fn is_bitstring(self) -> bool {
        matches!(self.kind(), Some(Kind::HeapBits | Kind::BinRef | Kind::SubBits | Kind::MatchCtx))
    }
    /// A bitstring whose size is a multiple of 8 bits.
    pub fn is_binary(self) -> bool {
        match self.kind() {
            Some(Kind::HeapBits) => self.word(0) & 7 == 0,
            Some(Kind::BinRef | Kind::SubBits) => self.word(1) & 7 == 0,
            // The compiler may pass a match on to where its type is tested: the rest of it counts.
            Some(Kind::MatchCtx) => (self.word(2) - self.word(1)) & 7 == 0,
            _ => false,
        }
    }
    pub fn is_fun(self) -> bool {
        matches!(self.kind(), Some(Kind::Fun | Kind::ExportFun))
    }
    pub fn is_pid(self) -> bool {
        self.is_local_pid() || self.is_kind(Kind::ExtPid)
    }
    pub fn is_port(self) -> bool {
        self.is_local_port() || self.is_kind(Kind::ExtPort)
    }
    pub fn is_reference(self) -> bool {
        matches!(self.kind(), Some(Kind::Ref | Kind::MagicRef | Kind::ExtRef))
    }
}

impl From<Atom> for Term {
    fn from(atom: Atom) -> Term {
        Term::atom(atom)
    }
}
impl From<bool> for Term {
    fn from(value: bool) -> Term {
        Term::bool(value)
    }
}
