//! prim_buffer: a mutable queue of bytes, used by one process for read-ahead.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::refs;
use heddle_term::bits::BitsView;
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;
use heddle_term::held::HeldBytes;
use heddle_term::{Atom, Resource, Term, am};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

heddle_runtime::natives! { TABLE:
    "prim_buffer" => {
        "new"/0 => new,
        "size"/1 => size,
        "peek_head"/1 => peek_head,
        "copying_read"/2 => copying_read,
        "write"/2 => write,
        "skip"/2 => skip,
        "find_byte_index"/2 => find_byte_index,
        "try_lock"/1 => try_lock,
        "unlock"/1 => unlock,
    }
}

#[derive(Default)]
struct Buffer {
    /// Chunks, and how much of the first was read.
    inner: Mutex<Inner>,
    /// Acquire in `try_lock`, Release in `unlock`.
    locked: AtomicBool,
}

#[derive(Default)]
struct Inner {
    chunks: VecDeque<HeldBytes>,
    offset: usize,
    size: usize,
}

impl Resource for Buffer {
    fn type_name(&self) -> &'static str {
        "buffer"
    }
}

impl Inner {
    fn skip(&mut self, mut n: usize) {
        self.size -= n;
        while n > 0 {
            let left = self.chunks[0].as_bytes().len() - self.offset;
            if n < left {
                self.offset += n;
                return;
            }
            n -= left;
            self.chunks.pop_front();
            self.offset = 0;
        }
    }
    fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().enumerate().map(|(i, chunk)| &chunk.as_bytes()[if i == 0 { self.offset } else { 0 }..])
    }
}

fn buffer(p: &mut Process, term: Term) -> Result<Arc<Buffer>, heddle_runtime::Thrown> {
    args::resource::<Buffer>(term).ok_or_else(|| p.badarg())
}

fn new(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.magic_reference(refs::fresh().words(), Arc::new(Buffer::default())))
}

fn size(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let size = b.inner.lock().unwrap().size;
    Ok(Term::small(size as i64))
}

fn peek_head(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let inner = b.inner.lock().unwrap();
    let Some(slice) = inner.slices().next() else { return Err(p.badarg()) };
    let shared = if slice.len() > HEAP_BITS_MAX_BYTES { inner.chunks[0].binary(&mut p.heap, slice) } else { None };
    Ok(shared.unwrap_or_else(|| p.heap.binary(slice)))
}

fn copying_read(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let mut inner = b.inner.lock().unwrap();
    let Some(n) = args::count(a[1]).filter(|n| *n <= inner.size) else { return Err(p.badarg()) };
    let first = inner.slices().next().filter(|slice| slice.len() >= n).map(|slice| p.heap.binary(&slice[..n]));
    if let Some(binary) = first {
        inner.skip(n);
        return Ok(binary);
    }
    let mut out = Vec::with_capacity(n);
    for slice in inner.slices() {
        let take = slice.len().min(n - out.len());
        out.extend_from_slice(&slice[..take]);
        if out.len() == n {
            break;
        }
    }
    inner.skip(n);
    Ok(p.heap.binary(&out))
}

fn write(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let Some(items) = args::list(a[1]) else { return Err(p.badarg()) };
    let mut chunks = Vec::new();
    for item in items {
        match BitsView::of(item).filter(|v| v.is_binary()) {
            Some(view) if view.offset_bits % 8 == 0 => chunks.push(HeldBytes::of(item)),
            Some(view) => chunks.push(HeldBytes::copy_of(&view.to_vec())),
            None => return Err(p.badarg()),
        }
    }
    let mut inner = b.inner.lock().unwrap();
    for chunk in chunks.into_iter().filter(|chunk| !chunk.as_bytes().is_empty()) {
        inner.size += chunk.as_bytes().len();
        inner.chunks.push_back(chunk);
    }
    Ok(am::OK.into())
}

fn skip(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let mut inner = b.inner.lock().unwrap();
    let Some(n) = args::count(a[1]).filter(|n| *n <= inner.size) else { return Err(p.badarg()) };
    inner.skip(n);
    Ok(am::OK.into())
}

fn find_byte_index(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    let Some(byte) = args::count(a[1]).and_then(|n| u8::try_from(n).ok()) else { return Err(p.badarg()) };
    let inner = b.inner.lock().unwrap();
    let mut before = 0;
    for slice in inner.slices() {
        if let Some(i) = memchr::memchr(byte, slice) {
            return Ok(p.heap.tuple(&[am::OK.into(), Term::small((before + i) as i64)]));
        }
        before += slice.len();
    }
    Ok(Atom::new("not_found").into())
}

fn try_lock(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    // Acquire: pairs with the Release in `unlock`.
    let busy = b.locked.swap(true, Ordering::Acquire);
    Ok(Atom::new(if busy { "busy" } else { "acquired" }).into())
}

fn unlock(p: &mut Process, a: &[Term]) -> NativeResult {
    let b = buffer(p, a[0])?;
    b.locked.store(false, Ordering::Release);
    Ok(am::OK.into())
}
