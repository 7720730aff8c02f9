//! Decoding of terms without terms inside: atoms, numbers, binaries, identifiers.

use super::decode::DecodeOptions;
use super::reader::Reader;
use super::{DecodeError, tag};
use crate::atom::{Atom, AtomError};
use crate::big;
use crate::code_cell::{Export, Mfa};
use crate::code_hooks::hooks;
use crate::heap::Heap;
use crate::ident::{PID_NUMBER_BITS, PidView, PortView, REF_WORD0_BITS, RefView};
use crate::term::Term;

fn intern(name: &str, options: &DecodeOptions) -> Result<Atom, DecodeError> {
    if options.safe {
        return Atom::existing(name).ok_or(DecodeError::Unsafe);
    }
    if let Some(budget) = options.atom_budget {
        return Ok(budget.atom(name)?);
    }
    Atom::try_new(name).map_err(|error| match error {
        AtomError::TooLong => DecodeError::SystemLimit,
        AtomError::TableFull => DecodeError::AtomTableFull,
    })
}

fn utf8_atom(bytes: &[u8], options: &DecodeOptions) -> Result<Atom, DecodeError> {
    let name = std::str::from_utf8(bytes).map_err(|_| DecodeError::Malformed("atom is not UTF-8"))?;
    intern(name, options)
}

fn latin1_atom(bytes: &[u8], options: &DecodeOptions) -> Result<Atom, DecodeError> {
    if bytes.is_ascii() {
        return utf8_atom(bytes, options);
    }
    let name: String = bytes.iter().map(|&b| b as char).collect();
    intern(&name, options)
}

/// An atom whose tag was read already; None if the tag is none of an atom.
pub fn atom_after(reader: &mut Reader, tag: u8, options: &DecodeOptions) -> Result<Option<Atom>, DecodeError> {
    let atom = match tag {
        tag::SMALL_ATOM_UTF8 => {
            let len = reader.u8()? as usize;
            utf8_atom(reader.take(len)?, options)?
        }
        tag::ATOM_UTF8 => {
            let len = reader.u16()? as usize;
            utf8_atom(reader.take(len)?, options)?
        }
        tag::SMALL_ATOM => {
            let len = reader.u8()? as usize;
            latin1_atom(reader.take(len)?, options)?
        }
        tag::ATOM => {
            let len = reader.u16()? as usize;
            latin1_atom(reader.take(len)?, options)?
        }
        tag::ATOM_CACHE_REF => {
            let index = reader.u8()? as usize;
            *options.atom_cache.get(index).ok_or(DecodeError::Malformed("no such atom cache entry"))?
        }
        _ => return Ok(None),
    };
    Ok(Some(atom))
}

pub fn atom(reader: &mut Reader, options: &DecodeOptions) -> Result<Atom, DecodeError> {
    let tag = reader.u8()?;
    atom_after(reader, tag, options)?.ok_or(DecodeError::Malformed("an atom was expected"))
}

/// An integer of at most 32 bits.
pub fn small_integer(reader: &mut Reader) -> Result<i32, DecodeError> {
    match reader.u8()? {
        tag::SMALL_INTEGER => Ok(reader.u8()? as i32),
        tag::INTEGER => Ok(reader.u32()? as i32),
        _ => Err(DecodeError::Malformed("a small integer was expected")),
    }
}

pub fn big(reader: &mut Reader, heap: &mut Heap, len: usize) -> Result<Term, DecodeError> {
    let negative = reader.u8()? != 0;
    let bytes = reader.take(len)?;
    // Leading zeros count, as in ERTS.
    if len > big::MAX_DIGITS * 8 {
        return Err(DecodeError::SystemLimit);
    }
    let used = bytes.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
    let bytes = &bytes[..used];
    if bytes.len() <= 8 {
        let mut word = [0u8; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        return Ok(big::from_digits(heap, negative, &[u64::from_le_bytes(word)]));
    }
    let mut digits = vec![0u64; bytes.len().div_ceil(8)];
    for (i, &byte) in bytes.iter().enumerate() {
        digits[i / 8] |= (byte as u64) << (8 * (i % 8));
    }
    Ok(big::from_digits(heap, negative, &digits))
}

pub fn finite(value: f64) -> Result<f64, DecodeError> {
    if value.is_finite() { Ok(value) } else { Err(DecodeError::Malformed("float is not finite")) }
}

/// The 31 byte text form, padded with zero bytes.
pub fn text_float(reader: &mut Reader) -> Result<f64, DecodeError> {
    let bytes = reader.take(31)?;
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let text = std::str::from_utf8(&bytes[..end]).map_err(|_| DecodeError::Malformed("float text"))?;
    if !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return Err(DecodeError::Malformed("float text"));
    }
    finite(text.parse().map_err(|_| DecodeError::Malformed("float text"))?)
}

pub fn bit_binary(reader: &mut Reader, heap: &mut Heap) -> Result<Term, DecodeError> {
    let len = reader.u32()? as usize;
    let last = reader.u8()? as u64;
    let bytes = reader.take(len)?;
    if last == 0 || last > 8 || len == 0 {
        return Err(DecodeError::Malformed("bits in the last byte"));
    }
    let mut owned = bytes.to_vec();
    let keep = !(0xffu32 >> last) as u8;
    owned[len - 1] &= keep;
    Ok(heap.bits(&owned, (len as u64 - 1) * 8 + last))
}

pub fn pid(reader: &mut Reader, heap: &mut Heap, tag: u8, options: &DecodeOptions) -> Result<Term, DecodeError> {
    let node = atom(reader, options)?;
    let (number, serial) = (reader.u32()?, reader.u32()?);
    let creation = creation(reader, tag == tag::NEW_PID)?;
    if (node, creation) == crate::node::current() && number >= 1 << PID_NUMBER_BITS {
        return Err(DecodeError::Malformed("number of a process of this node"));
    }
    Ok(PidView { node, creation, number, serial }.to_term(heap))
}

fn creation(reader: &mut Reader, wide: bool) -> Result<u32, DecodeError> {
    if wide {
        return reader.u32();
    }
    match reader.u8()? {
        small @ 0..=3 => Ok(small as u32),
        _ => Err(DecodeError::Malformed("creation")),
    }
}

/// Numbers of this node's ports, as in stock.
const OWN_PORT_BITS: u32 = 60;

pub fn port(reader: &mut Reader, heap: &mut Heap, tag: u8, options: &DecodeOptions) -> Result<Term, DecodeError> {
    let node = atom(reader, options)?;
    let number = match tag {
        tag::V4_PORT => reader.u64()?,
        _ => reader.u32()? as u64,
    };
    let creation = creation(reader, tag != tag::PORT)?;
    if (node, creation) == crate::node::current() && number >> OWN_PORT_BITS != 0 {
        return Err(DecodeError::Malformed("number of a port of this node"));
    }
    Ok(PortView { node, creation, number }.to_term(heap))
}

pub fn reference(reader: &mut Reader, heap: &mut Heap, tag: u8, options: &DecodeOptions) -> Result<Term, DecodeError> {
    let count = if tag == tag::REFERENCE { 1 } else { reader.u16()? as usize };
    if count == 0 || count > 5 {
        return Err(DecodeError::Malformed("words of a reference"));
    }
    let node = atom(reader, options)?;
    let mut words = [0u32; 5];
    let creation = if tag == tag::REFERENCE {
        words[0] = reader.u32()?;
        creation(reader, false)?
    } else {
        let creation = creation(reader, tag == tag::NEWER_REFERENCE)?;
        for word in &mut words[..count] {
            *word = reader.u32()?;
        }
        creation
    };
    // Other nodes may use all of it, in the form that has room for a whole creation.
    let is_narrow = tag != tag::NEWER_REFERENCE || (node, creation) == crate::node::current();
    if is_narrow && words[0] >> REF_WORD0_BITS != 0 {
        return Err(DecodeError::Malformed("lowest word of a reference"));
    }
    // References of this node have three words, though they may be written shorter.
    let count = if (node, creation) == crate::node::current() { count.max(3) } else { count };
    let view = RefView { node, creation, count, words };
    if (node, creation) == crate::node::current() && count == 3 {
        let words = [words[0], words[1], words[2]];
        if let Some(object) = (hooks().find_magic)(words) {
            return Ok(heap.magic_reference(words, object));
        }
    }
    Ok(view.to_term(heap))
}

/// Has the sender pay for a function that is not in the code tables yet.
pub fn pay(options: &DecodeOptions, is_there: impl FnOnce() -> bool) -> Result<(), DecodeError> {
    match options.atom_budget {
        Some(budget) if !is_there() && !budget.pay_function() => Err(DecodeError::FunctionBudget),
        _ => Ok(()),
    }
}

pub fn export(reader: &mut Reader, options: &DecodeOptions) -> Result<&'static Export, DecodeError> {
    let (module, function) = (atom(reader, options)?, atom(reader, options)?);
    let arity = match reader.u8()? {
        tag::SMALL_INTEGER => reader.u8()?,
        tag::INTEGER => u8::try_from(reader.u32()?).map_err(|_| DecodeError::Malformed("arity"))?,
        _ => return Err(DecodeError::Malformed("arity")),
    };
    let mfa = Mfa { module, function, arity };
    if options.safe && !(hooks().is_known_export)(mfa) {
        return Err(DecodeError::Unsafe);
    }
    pay(options, || (hooks().has_export)(mfa))?;
    Ok((hooks().find_export)(mfa))
}

/// The old unique number of a fun: 32 bits, written as an integer of any shape that holds it.
pub fn fun_uniq(reader: &mut Reader) -> Result<u32, DecodeError> {
    if reader.bytes.get(reader.at) != Some(&tag::SMALL_BIG) {
        return small_integer(reader).map(|v| v as u32);
    }
    reader.at += 1;
    let (len, negative) = (reader.u8()? as usize, reader.u8()? != 0);
    let value = reader.take(len)?.iter().rev().fold(0u64, |v, &b| v << 8 | b as u64);
    Ok(if negative { (value as u32).wrapping_neg() } else { value as u32 })
}
