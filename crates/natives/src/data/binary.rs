//! Module `binary`, but for searching.

use super::bytes::{self, slice};
use super::{long, types};
use crate::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::bits::BitsView;
use heddle_term::refbin::RefBin;
use heddle_term::{Kind, Term, big, list};

heddle_runtime::natives! { TABLE:
    "binary" => {
        "at"/2 => at,
        "first"/1 => first,
        "last"/1 => last,
        "copy"/1 => copy_1,
        "copy"/2 => copy_2,
        "part"/2 => part_2,
        "part"/3 => part_3,
        "decode_unsigned"/1 => decode_unsigned,
        "decode_unsigned"/2 => decode_unsigned,
        "encode_unsigned"/1 => encode_unsigned,
        "encode_unsigned"/2 => encode_unsigned,
        "longest_common_prefix"/1 => longest_common_prefix,
        "longest_common_suffix"/1 => longest_common_suffix,
        "referenced_byte_size"/1 => referenced_byte_size,
    }
}

fn byte(p: &mut Process, term: Term, position: impl FnOnce(usize) -> Option<usize>) -> NativeResult {
    let found = bytes::view(term).and_then(|view| {
        let size = (view.size_bits / 8) as usize;
        let at = position(size).filter(|&at| at < size)?;
        Some(view.byte_at(at as u64 * 8))
    });
    match found {
        Some(byte) => Ok(Term::small(byte as i64)),
        None => Err(p.badarg()),
    }
}

fn at(p: &mut Process, a: &[Term]) -> NativeResult {
    byte(p, a[0], |_| args::count(a[1]))
}
fn first(p: &mut Process, a: &[Term]) -> NativeResult {
    byte(p, a[0], |_| Some(0))
}
fn last(p: &mut Process, a: &[Term]) -> NativeResult {
    byte(p, a[0], |size| size.checked_sub(1))
}

fn copies(p: &mut Process, term: Term, count: u64) -> NativeResult {
    let Some(view) = bytes::view(term) else { return Err(p.badarg()) };
    let size = (view.size_bits / 8) as usize;
    // Bits must be countable in 63 bits.
    let total = match (size as u64).checked_mul(count) {
        Some(total) if total < 1 << 60 => total as usize,
        _ => return Err(p.system_limit()),
    };
    long::BINARIES.work(p, total)?;
    let bytes = view.to_vec();
    if total <= heddle_term::boxed::HEAP_BITS_MAX_BYTES {
        return Ok(p.heap.binary(&bytes.repeat(count as usize)));
    }
    let block = RefBin::allocate(total);
    // SAFETY: the fresh block has room for all copies.
    unsafe {
        let target = RefBin::data(block);
        if size == 1 {
            std::ptr::write_bytes(target, bytes[0], total);
        } else {
            for i in 0..count as usize {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.add(i * size), size);
            }
        }
    }
    Ok(p.heap.bin_ref(block, total as u64 * 8))
}

fn copy_1(p: &mut Process, a: &[Term]) -> NativeResult {
    copies(p, a[0], 1)
}

fn copy_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(count) = big::to_u64(a[1]) else { return Err(p.badarg()) };
    if count > 0 && bytes::view(a[0]).is_some_and(|v| v.size_bits == 0) {
        return copies(p, a[0], 0);
    }
    copies(p, a[0], count)
}

fn part_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = bytes::view(a[0]) else { return Err(p.badarg()) };
    let Some((start, length)) = types::part(a[1], a[2], (view.size_bits / 8) as usize) else { return Err(p.badarg()) };
    Ok(slice(&mut p.heap, a[0], start as u64 * 8, length as u64 * 8))
}

fn part_2(p: &mut Process, a: &[Term]) -> NativeResult {
    match a[1].as_tuple() {
        Some(&[position, length]) => part_3(p, &[a[0], position, length]),
        _ => Err(p.badarg()),
    }
}

/// True for `big` (or none), false for `little`.
fn big_endian(term: Option<&Term>) -> Option<bool> {
    match term {
        None => Some(true),
        Some(term) => match term.as_atom()?.name() {
            "big" => Some(true),
            "little" => Some(false),
            _ => None,
        },
    }
}

fn decode_unsigned(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(view), Some(big_endian)) = (bytes::view(a[0]), big_endian(a.get(1))) else { return Err(p.badarg()) };
    let bytes = view.to_vec();
    let zeros =
        if big_endian { bytes.iter().take_while(|&&b| b == 0).count() } else { bytes.iter().rev().take_while(|&&b| b == 0).count() };
    if bytes.len() - zeros > big::MAX_DIGITS * 8 {
        return Err(p.system_limit());
    }
    p.bump(bytes.len() / 64);
    Ok(big::from_bytes(&mut p.heap, &bytes, big_endian, false))
}

fn encode_unsigned(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(big_endian) = big_endian(a.get(1)) else { return Err(p.badarg()) };
    let len = match a[0].as_small() {
        Some(0) => 1,
        Some(n) if n > 0 => (64 - n.leading_zeros()).div_ceil(8) as usize,
        None if a[0].is_kind(Kind::PosBig) => {
            let digits = a[0].header().arity();
            (64 * digits - a[0].word(digits - 1).leading_zeros() as usize).div_ceil(8)
        }
        _ => return Err(p.badarg()),
    };
    p.bump(len / 64);
    let bytes = big::to_bytes(a[0], len, big_endian);
    Ok(p.heap.binary(&bytes))
}

fn common(p: &mut Process, list: Term, count: fn(&[u8], &[u8]) -> usize) -> NativeResult {
    let all: Option<Vec<Vec<u8>>> = list::to_vec(list).and_then(|l| l.into_iter().map(|t| Some(bytes::view(t)?.to_vec())).collect());
    let Some([first, rest @ ..]) = all.as_deref() else { return Err(p.badarg()) };
    let shortest = rest.iter().map(Vec::len).min().unwrap_or(0).min(first.len());
    long::BINARIES.work(p, shortest * rest.len() * 4 + rest.len() * 64)?;
    let len = rest.iter().fold(first.len(), |len, other| len.min(count(first, other)));
    Ok(Term::small(len as i64))
}

fn longest_common_prefix(p: &mut Process, a: &[Term]) -> NativeResult {
    common(p, a[0], |x, y| x.iter().zip(y).take_while(|(a, b)| a == b).count())
}

fn longest_common_suffix(p: &mut Process, a: &[Term]) -> NativeResult {
    common(p, a[0], |x, y| x.iter().rev().zip(y.iter().rev()).take_while(|(a, b)| a == b).count())
}

/// Bytes of the block behind a binary. Of one on the heap stock answers the number of bits.
fn referenced_byte_size(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = BitsView::of(a[0]) else { return Err(p.badarg()) };
    let original = if a[0].is_kind(Kind::SubBits) { a[0].slot(2) } else { a[0] };
    let size = match original.kind() {
        // SAFETY: a BinRef owns a reference to a live block.
        Some(Kind::BinRef) => unsafe { RefBin::capacity_bytes(original.word(2) as *const RefBin) as u64 },
        _ => view.size_bits,
    };
    Ok(Term::small(size as i64))
}
