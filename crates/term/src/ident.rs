//! Pids, ports and references by their numbers, whether of this node or of another.

use crate::atom::Atom;
use crate::boxed::{Header, Kind};
use crate::heap::Heap;
use crate::lives;
use crate::node;
use crate::term::Term;
use std::cmp::Ordering;

/// Bits of a local pid's number; the serial lies above them.
pub const PID_NUMBER_BITS: u32 = 28;
/// Bits of the lowest word of a local reference.
pub const REF_WORD0_BITS: u32 = 18;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PidView {
    pub node: Atom,
    pub creation: u32,
    pub number: u32,
    pub serial: u32,
}

impl PidView {
    pub fn of(term: Term) -> Option<PidView> {
        if term.is_local_pid() {
            return Some(PidView::of_local(term.payload()));
        }
        if !term.is_kind(Kind::ExtPid) {
            return None;
        }
        let id = term.word(2);
        Some(PidView { node: term.slot(0).as_atom()?, creation: term.word(1) as u32, number: id as u32, serial: (id >> 32) as u32 })
    }

    /// The pid of this node with this payload.
    pub fn of_local(payload: u64) -> PidView {
        let (node, creation) = node::current();
        let number = (payload & ((1 << PID_NUMBER_BITS) - 1)) as u32;
        PidView { node, creation, number, serial: (payload >> PID_NUMBER_BITS) as u32 }
    }

    /// The term: immediate if it is of this node (and fits), boxed otherwise.
    pub fn to_term(self, heap: &mut Heap) -> Term {
        if let Some(pid) = self.local() {
            return Term::local_pid(pid);
        }
        external(heap, Kind::ExtPid, self.node, self.creation, self.number as u64 | (self.serial as u64) << 32)
    }

    /// True if it is of this node, as it lives now.
    pub fn is_ours(self) -> bool {
        (self.node, self.creation) == node::current()
    }

    /// The payload of the local pid; None if it is of another node, or of an earlier life of this one.
    pub fn local(self) -> Option<u64> {
        (self.is_ours() && self.number >> PID_NUMBER_BITS == 0 && self.serial >> 30 == 0)
            .then_some(self.number as u64 | (self.serial as u64) << PID_NUMBER_BITS)
    }

    pub fn order(self, other: PidView) -> Ordering {
        (self.serial, self.number)
            .cmp(&(other.serial, other.number))
            .then_with(|| cmp_nodes((self.node, self.creation), (other.node, other.creation)))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortView {
    pub node: Atom,
    pub creation: u32,
    pub number: u64,
}

impl PortView {
    pub fn of(term: Term) -> Option<PortView> {
        if term.is_local_port() {
            let (node, creation) = node::current();
            return Some(PortView { node, creation, number: term.payload() });
        }
        if !term.is_kind(Kind::ExtPort) {
            return None;
        }
        Some(PortView { node: term.slot(0).as_atom()?, creation: term.word(1) as u32, number: term.word(2) })
    }

    pub fn to_term(self, heap: &mut Heap) -> Term {
        if (self.node, self.creation) == node::current() && self.number >> 58 == 0 {
            return Term::local_port(self.number);
        }
        external(heap, Kind::ExtPort, self.node, self.creation, self.number)
    }

    pub fn order(self, other: PortView) -> Ordering {
        cmp_nodes((self.node, self.creation), (other.node, other.creation)).then_with(|| self.number.cmp(&other.number))
    }
}

/// A reference's words, lowest first. Local aliases show their process as words 3 and 4.
#[derive(Clone, Copy, Debug)]
pub struct RefView {
    pub node: Atom,
    pub creation: u32,
    pub count: usize,
    pub words: [u32; 5],
}

/// Words that are missing count as zero: older nodes write fewer.
impl PartialEq for RefView {
    fn eq(&self, other: &RefView) -> bool {
        (self.node, self.creation, self.words) == (other.node, other.creation, other.words)
    }
}

impl Eq for RefView {}

impl std::hash::Hash for RefView {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.node, self.creation, self.words).hash(state);
    }
}

impl RefView {
    pub fn of(term: Term) -> Option<RefView> {
        let kind = term.kind()?;
        if kind == Kind::ExtRef {
            let count = term.word(2) as usize;
            let mut words = [0; 5];
            for (i, word) in words.iter_mut().enumerate().take(count) {
                *word = (term.word(3 + i / 2) >> (32 * (i % 2))) as u32;
            }
            return Some(RefView { node: term.slot(0).as_atom()?, creation: term.word(1) as u32, count, words });
        }
        let (low, high) = match kind {
            Kind::Ref => (term.word(0), term.word(1)),
            Kind::MagicRef => (term.word(1), term.word(2)),
            _ => return None,
        };
        let mut words = [low as u32, (low >> 32) as u32, high as u32, 0, 0];
        let mut count = 3;
        if kind == Kind::Ref && term.header().arity() == 3 {
            let pid = term.word(2);
            (words[3], words[4]) = (pid as u32, (pid >> 32) as u32);
            count = 5;
        }
        let (node, creation) = node::current();
        Some(RefView { node, creation, count, words })
    }

    /// The term: a local reference if it is of this node and has a local shape.
    pub fn to_term(self, heap: &mut Heap) -> Term {
        let local = (self.node, self.creation) == node::current() && self.words[0] >> REF_WORD0_BITS == 0;
        let [w0, w1, w2, w3, w4] = self.words;
        if local && self.count == 3 {
            return heap.reference([w0, w1, w2]);
        }
        if local && self.count == 5 {
            return heap.alias_reference([w0, w1, w2], w3 as u64 | (w4 as u64) << 32);
        }
        lives::enter(self.node.index(), self.creation);
        let packed = self.count.div_ceil(2);
        let ptr = heap.alloc(4 + packed);
        // SAFETY: header, three words and the packed words were just allocated.
        unsafe {
            *ptr = Header::new(Kind::ExtRef, 3 + packed).raw();
            *ptr.add(1) = Term::atom(self.node).raw();
            *ptr.add(2) = self.creation as u64;
            *ptr.add(3) = self.count as u64;
            for i in 0..packed {
                let high = if 2 * i + 1 < 5 { self.words[2 * i + 1] } else { 0 };
                *ptr.add(4 + i) = self.words[2 * i] as u64 | (high as u64) << 32;
            }
        }
        Term::boxed(ptr)
    }

    pub fn order(self, other: RefView) -> Ordering {
        cmp_nodes((self.node, self.creation), (other.node, other.creation))
            .then_with(|| self.words.iter().rev().cmp(other.words.iter().rev()))
    }
}

/// The local pid (payload) that an alias reference names.
pub fn alias_pid(reference: Term) -> Option<u64> {
    (reference.is_kind(Kind::Ref) && reference.header().arity() == 3).then(|| reference.word(2))
}

/// The three words of a local reference.
pub fn local_ref_words(reference: Term) -> Option<[u32; 3]> {
    match reference.kind()? {
        Kind::Ref | Kind::MagicRef => RefView::of(reference).map(|r| [r.words[0], r.words[1], r.words[2]]),
        _ => None,
    }
}

fn cmp_nodes(a: (Atom, u32), b: (Atom, u32)) -> Ordering {
    a.0.cmp_name(b.0).then_with(|| a.1.cmp(&b.1))
}

fn external(heap: &mut Heap, kind: Kind, node: Atom, creation: u32, id: u64) -> Term {
    lives::enter(node.index(), creation);
    let ptr = heap.alloc(4);
    // SAFETY: four words were just allocated.
    unsafe {
        *ptr = Header::new(kind, 3).raw();
        *ptr.add(1) = Term::atom(node).raw();
        *ptr.add(2) = creation as u64;
        *ptr.add(3) = id;
    }
    Term::boxed(ptr)
}
