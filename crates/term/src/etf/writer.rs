//! Terms without terms inside to bytes: atoms, integers, identifiers.

use super::tag;
use crate::atom::Atom;
use crate::ident::{PidView, PortView, RefView};
use crate::term::Term;

/// How an encoder writes atoms.
pub trait AtomWriter {
    /// Appends the atom as a term.
    fn write(&mut self, out: &mut Vec<u8>, atom: Atom);
}

impl<A: AtomWriter> AtomWriter for &mut A {
    #[inline(always)]
    fn write(&mut self, out: &mut Vec<u8>, atom: Atom) {
        (**self).write(out, atom);
    }
}

/// Each atom is written with its name.
#[derive(Clone, Copy)]
pub struct WholeAtoms {
    /// Below 2: Latin-1 atoms in the old form.
    pub minor_version: u8,
}

impl Default for WholeAtoms {
    fn default() -> Self {
        WholeAtoms { minor_version: 2 }
    }
}

impl AtomWriter for WholeAtoms {
    #[inline]
    fn write(&mut self, out: &mut Vec<u8>, atom: Atom) {
        let name = atom.name();
        if self.minor_version < 2 && name.chars().all(|c| (c as u32) < 256) {
            let latin1: Vec<u8> = name.chars().map(|c| c as u8).collect();
            out.push(tag::ATOM);
            out.extend_from_slice(&(latin1.len() as u16).to_be_bytes());
            out.extend_from_slice(&latin1);
            return;
        }
        match u8::try_from(name.len()) {
            Ok(len) => out.extend_from_slice(&[tag::SMALL_ATOM_UTF8, len]),
            Err(_) => {
                out.push(tag::ATOM_UTF8);
                out.extend_from_slice(&(name.len() as u16).to_be_bytes());
            }
        }
        out.extend_from_slice(name.as_bytes());
    }
}

/// Appends terms to bytes.
pub struct Writer<'a, A> {
    pub out: &'a mut Vec<u8>,
    pub atoms: A,
}

impl<A: AtomWriter> Writer<'_, A> {
    #[inline(always)]
    pub fn u8(&mut self, byte: u8) {
        self.out.push(byte);
    }
    #[inline(always)]
    pub fn u16(&mut self, value: u16) {
        self.array(value.to_be_bytes());
    }
    #[inline(always)]
    pub fn u32(&mut self, value: u32) {
        self.array(value.to_be_bytes());
    }
    #[inline(always)]
    pub fn u64(&mut self, value: u64) {
        self.array(value.to_be_bytes());
    }
    /// A tag, and the four bytes that follow it.
    #[inline(always)]
    pub fn tag_u32(&mut self, tag: u8, value: u32) {
        let [a, b, c, d] = value.to_be_bytes();
        self.array([tag, a, b, c, d]);
    }

    /// A few bytes. They are stored where this is inlined, without a call.
    #[inline(always)]
    fn array<const N: usize>(&mut self, bytes: [u8; N]) {
        self.out.reserve(N);
        let len = self.out.len();
        // SAFETY: there is room for N more bytes, which are written before they count.
        unsafe {
            self.out.as_mut_ptr().add(len).cast::<[u8; N]>().write(bytes);
            self.out.set_len(len + N);
        }
    }

    #[inline(always)]
    pub fn atom(&mut self, atom: Atom) {
        self.atoms.write(self.out, atom);
    }

    pub fn nil(&mut self) {
        self.u8(tag::NIL);
    }

    /// The beginning of a tuple, which the elements follow.
    #[inline]
    pub fn tuple(&mut self, arity: usize) {
        match u8::try_from(arity) {
            Ok(arity) => self.array([tag::SMALL_TUPLE, arity]),
            Err(_) => self.tag_u32(tag::LARGE_TUPLE, arity as u32),
        }
    }

    #[inline]
    pub fn integer(&mut self, value: i64) {
        if let Ok(byte) = u8::try_from(value) {
            self.array([tag::SMALL_INTEGER, byte]);
        } else if let Ok(word) = i32::try_from(value) {
            self.tag_u32(tag::INTEGER, word as u32);
        } else {
            self.big(value < 0, &[value.unsigned_abs()]);
        }
    }

    /// The integers of up to 32 bits with which a list begins: `most` of them, and a few more. Returns the rest of the list, and how many there
    /// were.
    pub fn integers_of(&mut self, list: Term, most: usize) -> (Term, usize) {
        const AT_ONCE: usize = 16;
        const MAX_BYTES: usize = 5;
        let (mut rest, mut count) = (list, 0);
        while count < most && rest.is_cons() && rest.head().is_small() {
            self.out.reserve(AT_ONCE * MAX_BYTES);
            let begin = self.out.len();
            let before = count;
            let mut at = begin;
            while count < before + AT_ONCE && rest.is_cons() {
                let Some(value) = rest.head().as_small().and_then(|value| i32::try_from(value).ok()) else { break };
                let (bytes, len) = match u8::try_from(value) {
                    Ok(byte) => ([tag::SMALL_INTEGER, byte, 0, 0, 0], 2),
                    Err(_) => {
                        let [a, b, c, d] = value.to_be_bytes();
                        ([tag::INTEGER, a, b, c, d], 5)
                    }
                };
                // SAFETY: there is room for that many bytes for each of the integers.
                unsafe { self.out.as_mut_ptr().add(at).cast::<[u8; MAX_BYTES]>().write(bytes) };
                at += len;
                count += 1;
                rest = rest.tail();
            }
            // SAFETY: the bytes before are written.
            unsafe { self.out.set_len(at) };
            if count < before + AT_ONCE {
                break;
            }
        }
        (rest, count)
    }

    /// Any integer of 64 bits without sign.
    pub fn unsigned(&mut self, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.integer(value),
            Err(_) => self.big(false, &[value]),
        }
    }

    /// Sign and magnitude, lowest digit first.
    pub fn big(&mut self, negative: bool, digits: &[u64]) {
        let top = digits.last().copied().unwrap_or(0);
        let len = digits.len() * 8 - top.leading_zeros() as usize / 8;
        match u8::try_from(len) {
            Ok(len) => self.array([tag::SMALL_BIG, len]),
            Err(_) => self.tag_u32(tag::LARGE_BIG, len as u32),
        }
        self.u8(negative as u8);
        let end = self.out.len() + len;
        for digit in digits {
            self.out.extend_from_slice(&digit.to_le_bytes());
        }
        self.out.truncate(end);
    }

    pub fn pid(&mut self, pid: PidView) {
        self.u8(tag::NEW_PID);
        self.atom(pid.node);
        self.u64((pid.number as u64) << 32 | pid.serial as u64);
        self.u32(pid.creation);
    }

    pub fn port(&mut self, port: PortView) {
        self.u8(tag::V4_PORT);
        self.atom(port.node);
        self.u64(port.number);
        self.u32(port.creation);
    }

    pub fn reference(&mut self, reference: RefView) {
        self.u8(tag::NEWER_REFERENCE);
        self.u16(reference.count as u16);
        self.atom(reference.node);
        self.u32(reference.creation);
        for &word in &reference.words[..reference.count] {
            self.u32(word);
        }
    }
}
