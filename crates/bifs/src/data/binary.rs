//! Module `binary`, without searching.

use super::bytes::{self, slice};
use super::types;
use heddle_natives::args;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
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
    long::room(p, total)?;
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
    let size = (view.size_bits / 8) as usize;
    let at = |i: usize| view.byte_at(if big_endian { i } else { size - 1 - i } as u64 * 8);
    let zeros = (0..size).take_while(|&i| at(i) == 0).count();
    p.bump(zeros / 64);
    let len = size - zeros;
    if len > big::MAX_DIGITS * 8 {
        return Err(p.system_limit());
    }
    p.bump(len / 64);
    let from = if big_endian { zeros } else { 0 };
    let mut copy = Vec::new();
    let bytes = bytes::range(view, from, from + len, &mut copy);
    Ok(big::from_bytes(&mut p.heap, bytes, big_endian, false))
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

/// Bytes that are compared at one go if two binaries are not aligned alike.
const COMPARED_BYTES: usize = 4096;

/// How many bytes at the start (or the end) all binaries of a list have in common. Each is compared with the first, as far as those
/// before it agreed with that.
fn common(p: &mut Process, list: Term, at_end: bool) -> NativeResult {
    let views: Option<Vec<BitsView>> = list::to_vec(list).and_then(|l| l.into_iter().map(bytes::view).collect());
    let Some([first, rest @ ..]) = views.as_deref() else { return Err(p.badarg()) };
    let size = |view: &BitsView| (view.size_bits / 8) as usize;
    let mut len = rest.iter().map(size).min().unwrap_or(0).min(size(first));
    if rest.is_empty() {
        len = size(first);
    }
    let mut work = rest.len() * 64;
    for other in rest {
        len = agreement(first, other, len, at_end);
        work += len;
        if work > long::BINARIES.here(usize::MAX) {
            return Err(Thrown::DirtyCpu);
        }
    }
    long::done(p, work);
    Ok(Term::small(len as i64))
}

/// The first of at most `len` bytes, counted from the start or the end, in which two binaries differ.
fn agreement(x: &BitsView, y: &BitsView, len: usize, at_end: bool) -> usize {
    let (mut x_copy, mut y_copy) = (Vec::new(), Vec::new());
    let mut same = 0;
    while same < len {
        let count = COMPARED_BYTES.min(len - same);
        let from = |view: &BitsView| if at_end { (view.size_bits / 8) as usize - same - count } else { same };
        let a = bytes::range(*x, from(x), from(x) + count, &mut x_copy);
        let b = bytes::range(*y, from(y), from(y) + count, &mut y_copy);
        if a != b {
            let pairs = a.iter().zip(b);
            return same + if at_end { pairs.rev().take_while(|(a, b)| a == b).count() } else { pairs.take_while(|(a, b)| a == b).count() };
        }
        same += count;
    }
    len
}

fn longest_common_prefix(p: &mut Process, a: &[Term]) -> NativeResult {
    common(p, a[0], false)
}

fn longest_common_suffix(p: &mut Process, a: &[Term]) -> NativeResult {
    common(p, a[0], true)
}

/// The size in bytes of the off-heap block that a binary refers to. For a binary on the heap the result is its number of bits, as in stock.
fn referenced_byte_size(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = BitsView::of(a[0]) else { return Err(p.badarg()) };
    let original = if a[0].is_kind(Kind::SubBits) { a[0].slot(2) } else { a[0] };
    let size = match original.kind() {
        // SAFETY: a BinRef owns a reference to a live block.
        Some(Kind::BinRef) => unsafe { RefBin::size_bytes(original.word(2) as *const RefBin) as u64 },
        _ => view.size_bits,
    };
    Ok(Term::small(size as i64))
}
