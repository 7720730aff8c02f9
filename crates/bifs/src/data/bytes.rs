//! Binaries and lists of bytes: conversions, I/O data, splitting.

use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::bits::{BitsView, copy_bits};
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::list::{Piece, iolist_size, walk_iolist};
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Term};
use smallvec::SmallVec;

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "binary_to_list"/1 => binary_to_list,
        "binary_to_list"/3 => binary_to_list_3,
        "bitstring_to_list"/1 => bitstring_to_list,
        "list_to_binary"/1 => list_to_binary,
        "list_to_bitstring"/1 => list_to_bitstring,
        "iolist_to_binary"/1 => iolist_to_binary,
        "iolist_size"/1 => iolist_size_1,
        "iolist_to_iovec"/1 => iolist_to_iovec,
        "split_binary"/2 => split_binary,
    }
    "binary" => {
        "list_to_bin"/1 => list_to_binary,
    }
}

/// Bytes of a cell of a list.
const CELL_BYTES: usize = 16;

/// The view of a binary (whole bytes).
pub fn view(term: Term) -> Option<BitsView> {
    BitsView::of(term).filter(BitsView::is_binary)
}

/// Bytes of a binary: in place if they are aligned, else in `copy`.
pub fn bytes(term: Term, copy: &mut Vec<u8>) -> Option<&[u8]> {
    let view = view(term)?;
    match view.as_bytes() {
        Some(bytes) => Some(bytes),
        None => {
            *copy = view.to_vec();
            Some(copy)
        }
    }
}

/// Bytes `from..to` of a binary: in place if they are aligned, else in `copy`. The caller checked the range.
pub fn range(view: BitsView, from: usize, to: usize, copy: &mut Vec<u8>) -> &[u8] {
    let part = BitsView { offset_bits: view.offset_bits + from as u64 * 8, size_bits: (to - from) as u64 * 8, ..view };
    match part.as_bytes() {
        Some(bytes) => bytes,
        None => {
            *copy = part.to_vec();
            copy
        }
    }
}

/// A part of a bitstring. A small part gets bytes of its own, so that it does not keep a large binary alive.
pub fn slice(heap: &mut Heap, whole: Term, start_bits: u64, size_bits: u64) -> Term {
    if size_bits > HEAP_BITS_MAX_BYTES as u64 * 8 {
        return heap.sub_bits(whole, start_bits, size_bits);
    }
    let Some(view) = BitsView::of(whole) else { return whole };
    let first_bit = view.offset_bits + start_bits;
    if (first_bit | size_bits).is_multiple_of(8) {
        // SAFETY: the caller checked the range.
        let bytes = unsafe { std::slice::from_raw_parts(view.base.add((first_bit / 8) as usize), (size_bits / 8) as usize) };
        return heap.binary(bytes);
    }
    let (term, data) = heap.heap_bits(size_bits);
    // SAFETY: the fresh object has room for the bits; the caller checked the range.
    unsafe { copy_bits(view.base, view.offset_bits + start_bits, data, 0, size_bits) };
    term
}

fn binary_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = view(a[0]) else { return Err(p.badarg()) };
    long::room(p, (view.size_bits / 8) as usize * CELL_BYTES)?;
    long::work(p, (view.size_bits / 8) as usize * 4)?;
    let mut copy = Vec::new();
    let bytes = bytes(a[0], &mut copy).unwrap_or(&[]);
    Ok(p.heap.byte_list(bytes))
}

fn binary_to_list_3(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut copy = Vec::new();
    let (Some(bytes), Some(from), Some(to)) =
        (bytes(a[0], &mut copy), heddle_natives::args::count(a[1]), heddle_natives::args::count(a[2]))
    else {
        return Err(p.badarg());
    };
    if from < 1 || from > to || to > bytes.len() {
        return Err(p.badarg());
    }
    long::room(p, (to - from) * CELL_BYTES)?;
    long::work(p, (to - from) * 4)?;
    Ok(p.heap.byte_list(&bytes[from - 1..to]))
}

fn bitstring_to_list(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(view) = BitsView::of(a[0]) else { return Err(p.badarg()) };
    long::room(p, view.len_bytes() * (CELL_BYTES + 8))?;
    long::work(p, view.len_bytes() * 4)?;
    let all = view.to_vec();
    let rest_bits = view.size_bits % 8;
    let tail = if rest_bits == 0 {
        Term::NIL
    } else {
        let last = slice(&mut p.heap, a[0], view.size_bits - rest_bits, rest_bits);
        p.heap.cons(last, Term::NIL)
    };
    let whole: Vec<Term> = all[..(view.size_bits / 8) as usize].iter().map(|&b| Term::small(b as i64)).collect();
    Ok(p.heap.list_with_tail(&whole, tail))
}

/// A binary of all bytes of I/O data.
pub fn flatten(p: &mut Process, data: Term) -> NativeResult {
    let Ok(size) = iolist_size(data) else { return Err(p.badarg()) };
    long::room(p, size)?;
    long::work(p, size)?;
    if size <= HEAP_BITS_MAX_BYTES {
        let (term, target) = p.heap.heap_bits(size as u64 * 8);
        fill(data, target);
        return Ok(term);
    }
    let block = RefBin::allocate(size);
    // SAFETY: freshly allocated.
    fill(data, unsafe { RefBin::data(block) });
    Ok(p.heap.bin_ref(block, size as u64 * 8))
}

/// Writes the bytes of checked I/O data to `target`, which has room for them.
fn fill(data: Term, target: *mut u8) {
    let mut at = target;
    // SAFETY: the pieces have as many bytes as the caller allocated.
    let _ = walk_iolist(data, |piece| unsafe {
        match piece {
            Piece::Byte(byte) => {
                *at = byte;
                at = at.add(1);
            }
            Piece::Binary(view) => {
                let size = (view.size_bits / 8) as usize;
                if view.offset_bits.is_multiple_of(8) {
                    std::ptr::copy_nonoverlapping(view.base.add((view.offset_bits / 8) as usize), at, size);
                } else {
                    copy_bits(view.base, view.offset_bits, at, 0, view.size_bits);
                }
                at = at.add(size);
            }
        }
    });
}

fn list_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_list() { flatten(p, a[0]) } else { Err(p.badarg()) }
}

fn iolist_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0].is_binary() { Ok(a[0]) } else { flatten(p, a[0]) }
}

fn iolist_size_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let Ok(size) = iolist_size(a[0]) else { return Err(p.badarg()) };
    if a[0].is_cons() {
        p.bump(size.min(1 << 20) / 128);
    }
    Ok(p.heap.unsigned(size as u64))
}

/// Binaries of at least this many bytes stay as they are in an I/O vector; the rest is joined.
const JOIN_BELOW_BYTES: usize = 256;

fn iolist_to_iovec(p: &mut Process, a: &[Term]) -> NativeResult {
    let Ok(size) = iolist_size(a[0]) else { return Err(p.badarg()) };
    long::work(p, size.min(1 << 18))?;
    if size == 0 {
        return Ok(Term::NIL);
    }
    if a[0].is_binary() {
        return Ok(p.heap.list(&[a[0]]));
    }
    let mut vector: SmallVec<[Term; 8]> = SmallVec::new();
    let mut joined: SmallVec<[u8; 128]> = SmallVec::new();
    let mut stack: SmallVec<[Term; 16]> = SmallVec::new();
    let mut current = a[0];
    loop {
        if current.is_cons() {
            let head = current.head();
            match head.as_small() {
                Some(byte) => {
                    joined.push(byte as u8);
                    current = current.tail();
                }
                None => {
                    stack.push(current.tail());
                    current = head;
                }
            }
            continue;
        }
        if let Some(view) = BitsView::of(current) {
            if (view.size_bits / 8) as usize >= JOIN_BELOW_BYTES {
                flush(p, &mut joined, &mut vector);
                vector.push(current);
            } else if let Some(bytes) = view.as_bytes() {
                joined.extend_from_slice(bytes);
            } else {
                joined.extend_from_slice(&view.to_vec());
            }
        }
        match stack.pop() {
            Some(next) => current = next,
            None => break,
        }
    }
    flush(p, &mut joined, &mut vector);
    Ok(p.heap.list(&vector))
}

fn flush(p: &mut Process, joined: &mut SmallVec<[u8; 128]>, vector: &mut SmallVec<[Term; 8]>) {
    if !joined.is_empty() {
        vector.push(p.heap.binary(joined));
        joined.clear();
    }
}

/// Calls `f` with the place and number of the bits of each part of a list of bytes and bitstrings; None for any other term.
fn walk_bits(data: Term, mut append: impl FnMut(*const u8, u64, u64)) -> Option<()> {
    let mut stack: Vec<Term> = Vec::new();
    let mut current = data;
    loop {
        if current.is_cons() {
            let head = current.head();
            match head.as_small() {
                Some(byte) => {
                    let byte = u8::try_from(byte).ok()?;
                    append(&raw const byte, 0, 8);
                    current = current.tail();
                }
                None => {
                    stack.push(current.tail());
                    current = head;
                }
            }
            continue;
        }
        if !current.is_nil() {
            let view = BitsView::of(current)?;
            append(view.base, view.offset_bits, view.size_bits);
        }
        match stack.pop() {
            Some(next) => current = next,
            None => return Some(()),
        }
    }
}

fn list_to_bitstring(p: &mut Process, a: &[Term]) -> NativeResult {
    let mut size = 0;
    if !a[0].is_list() || walk_bits(a[0], |_, _, count| size += count).is_none() {
        return Err(p.badarg());
    }
    let bytes = size.div_ceil(8) as usize;
    long::room(p, 2 * bytes)?;
    long::work(p, bytes)?;
    let (mut out, mut at) = (vec![0; bytes], 0);
    walk_bits(a[0], |base, offset, count| {
        // SAFETY: the source has the bits, and there is room for as many as were counted.
        unsafe { copy_bits(base, offset, out.as_mut_ptr(), at, count) };
        at += count;
    });
    Ok(p.heap.bits(&out, size))
}

fn split_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(view), Some(at)) = (BitsView::of(a[0]), heddle_natives::args::count(a[1])) else { return Err(p.badarg()) };
    let at = at as u64 * 8;
    if at > view.size_bits {
        return Err(p.badarg());
    }
    let first = slice(&mut p.heap, a[0], 0, at);
    let second = slice(&mut p.heap, a[0], at, view.size_bits - at);
    Ok(p.heap.tuple(&[first, second]))
}

/// Bytes of I/O data, or badarg.
pub fn io_bytes(p: &mut Process, data: Term) -> Result<Vec<u8>, Thrown> {
    let Ok(size) = iolist_size(data) else { return Err(p.badarg()) };
    long::room(p, size)?;
    long::work(p, size)?;
    heddle_term::list::iolist_to_vec(data).map_err(|_| p.badarg())
}
