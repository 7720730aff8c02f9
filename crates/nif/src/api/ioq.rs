//! Vectors of bytes, and queues of them.

use crate::api::binaries::{self, Binary};
use crate::env::Env;
use heddle_term::Term;
use heddle_term::bits::BitsView;
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Kind};
use libc::{c_int, iovec, size_t};
use std::collections::VecDeque;
use std::ptr::null_mut;

/// `ERL_NIF_IOVEC_SIZE`.
const SMALL: usize = 16;

/// `ErlNifIOVec`.
#[repr(C)]
struct IoVec {
    count: c_int,
    size: size_t,
    iov: *mut iovec,
    blocks: *mut *mut RefBin,
    flags: c_int,
    small_iov: [iovec; SMALL],
    small_blocks: [*mut RefBin; SMALL],
}

/// The structure is the library's; else it is the first field of a `Large`.
const OF_LIBRARY: c_int = 1;

#[repr(C)]
struct Large {
    vector: IoVec,
    iov: Vec<iovec>,
    blocks: Vec<*mut RefBin>,
}

/// Bytes that lie in a block.
#[derive(Clone, Copy)]
struct Piece {
    block: *mut RefBin,
    data: *mut u8,
    size: usize,
}

/// A block that the vector or queue has one reference of.
fn retain(block: *mut RefBin) {
    if !block.is_null() {
        // SAFETY: the caller got it from a term or binary that is there.
        unsafe { RefBin::retain(block) };
    }
}

/// # Safety
/// The caller has a reference.
// SAFETY: vectors and queues give up what they took by `retain`.
unsafe fn release(block: *mut RefBin) {
    if !block.is_null() {
        // SAFETY: by contract.
        unsafe { RefBin::release(block) };
    }
}

/// The block of a binary whose bytes lie there one after another.
fn in_block(binary: Term, view: &BitsView) -> Option<Piece> {
    let original = if binary.is_kind(Kind::SubBits) { binary.slot(2) } else { binary };
    let bytes = view.as_bytes()?;
    original.is_kind(Kind::BinRef).then(|| Piece {
        block: original.word(2) as *mut RefBin,
        data: bytes.as_ptr().cast_mut(),
        size: bytes.len(),
    })
}

/// The pieces of the first binaries of a list, in one new block those that lie on heaps, and the rest of the list. None if an
/// element is no binary.
fn pieces(list: Term, limit: usize) -> Option<(Vec<Piece>, *mut RefBin, Term)> {
    let mut found: Vec<Result<Piece, Vec<u8>>> = Vec::new();
    let (mut rest, mut count) = (list, 0);
    while rest.is_cons() {
        let binary = rest.head();
        let view = BitsView::of(binary).filter(BitsView::is_binary)?;
        if view.size_bits > 0 {
            found.push(in_block(binary, &view).ok_or_else(|| view.to_vec()));
        }
        rest = rest.tail();
        count += 1;
        if count >= limit {
            break;
        }
    }
    if !rest.is_list() {
        return None;
    }
    let copied: usize = found.iter().map(|p| p.as_ref().err().map_or(0, Vec::len)).sum();
    let block = if copied > 0 { RefBin::allocate(copied) } else { null_mut() };
    let mut used = 0;
    let pieces = found.into_iter().map(|piece| {
        piece.unwrap_or_else(|bytes| {
            // SAFETY: the block has room for all copied bytes.
            let data = unsafe { RefBin::data(block).add(used) };
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len()) };
            used += bytes.len();
            Piece { block, data, size: bytes.len() }
        })
    });
    Some((pieces.collect(), block, rest))
}

/// Fills the library's vector, or makes one if it has none or that is too small.
///
/// # Safety
/// `vector` is null or a vector of the library.
// SAFETY: functions of the interface call it with what the library passes.
unsafe fn fill(vector: *mut IoVec, pieces: &[Piece]) -> (*mut IoVec, Option<*mut Large>) {
    let iov = pieces.iter().map(|p| iovec { iov_base: p.data.cast(), iov_len: p.size });
    let blocks = pieces.iter().map(|p| p.block);
    let size = pieces.iter().map(|p| p.size).sum();
    // SAFETY: the library passes a vector, or null; a new one is ours.
    unsafe {
        if !vector.is_null() && pieces.len() < SMALL {
            let v = &mut *vector;
            for (i, (part, block)) in iov.zip(blocks).enumerate() {
                (v.small_iov[i], v.small_blocks[i]) = (part, block);
            }
            (v.count, v.size, v.flags) = (pieces.len() as c_int, size, OF_LIBRARY);
            (v.iov, v.blocks) = (v.small_iov.as_mut_ptr(), v.small_blocks.as_mut_ptr());
            return (vector, None);
        }
        let none = iovec { iov_base: null_mut(), iov_len: 0 };
        let large = Box::into_raw(Box::new(Large {
            vector: IoVec {
                count: pieces.len() as c_int,
                size,
                iov: null_mut(),
                blocks: null_mut(),
                flags: 0,
                small_iov: [none; SMALL],
                small_blocks: [null_mut(); SMALL],
            },
            iov: iov.collect(),
            blocks: blocks.collect(),
        }));
        (*large).vector.iov = (*large).iov.as_mut_ptr();
        (*large).vector.blocks = (*large).blocks.as_mut_ptr();
        (large.cast(), Some(large))
    }
}

/// A vector that an environment frees.
pub struct OfEnv(*mut Large);

impl Drop for OfEnv {
    fn drop(&mut self) {
        // SAFETY: made by `fill`; the environment alone has it.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// A block that an environment keeps.
pub struct Kept(*mut RefBin);

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the environment has the reference of the new block.
        unsafe { release(self.0) };
    }
}

/// `ErlNifIOQueue`. Each piece has one reference of its block.
struct Queue {
    pieces: VecDeque<Piece>,
    size: usize,
    /// What `enif_ioq_peek` shows.
    shown: Vec<iovec>,
}

impl Queue {
    fn add(&mut self, pieces: impl Iterator<Item = Piece>, mut skip: usize) {
        for mut piece in pieces {
            let skipped = skip.min(piece.size);
            skip -= skipped;
            piece.data = piece.data.wrapping_add(skipped);
            piece.size -= skipped;
            if piece.size == 0 {
                continue;
            }
            if piece.block.is_null() {
                // Bytes that belong to an environment or a term.
                // SAFETY: the library passes bytes that are there.
                let bytes = unsafe { std::slice::from_raw_parts(piece.data, piece.size) };
                piece.block = RefBin::from_bytes(bytes);
                // SAFETY: just made.
                piece.data = unsafe { RefBin::data(piece.block) };
            } else {
                retain(piece.block);
            }
            self.size += piece.size;
            self.pieces.push_back(piece);
        }
    }

    /// Removes that many bytes. False if there are fewer.
    fn remove(&mut self, mut count: usize) -> bool {
        if count > self.size {
            return false;
        }
        self.size -= count;
        while count > 0 {
            let Some(first) = self.pieces.front_mut() else { break };
            let part = count.min(first.size);
            first.data = first.data.wrapping_add(part);
            first.size -= part;
            count -= part;
            if first.size == 0
                && let Some(gone) = self.pieces.pop_front()
            {
                // SAFETY: the queue has a reference.
                unsafe { release(gone.block) };
            }
        }
        true
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.remove(self.size);
    }
}

/// A binary of the bytes of a piece, which stay where they are if they are many.
fn binary_of(heap: &mut Heap, piece: &Piece) -> Term {
    // SAFETY: the queue keeps the block.
    let (bytes, base, capacity) = unsafe {
        let bytes = std::slice::from_raw_parts(piece.data, piece.size);
        (bytes, RefBin::bytes_of(piece.block), RefBin::size_bytes(piece.block))
    };
    if piece.size <= heddle_term::boxed::HEAP_BITS_MAX_BYTES {
        return heap.binary(bytes);
    }
    retain(piece.block);
    let whole = heap.bin_ref(piece.block, capacity as u64 * 8);
    let start = piece.data as usize - base as usize;
    if (start, piece.size) == (0, capacity) { whole } else { heap.sub_bits(whole, start as u64 * 8, piece.size as u64 * 8) }
}

api! { FUNCTIONS:
    fn enif_inspect_iovec(env: *mut Env, limit: size_t, list: Term, tail: *mut Term, to: *mut *mut IoVec) -> c_int {
        let Some((pieces, copied, rest)) = pieces(list, limit) else { return 0 };
        let (vector, large) = fill(*to, &pieces);
        if env.is_null() {
            // The vector outlives the terms: it has a reference for each piece.
            pieces.iter().for_each(|p| retain(p.block));
            release(copied);
        } else {
            (*env).rare().kept.push(Box::new(Kept(copied)));
            if let Some(large) = large {
                (*env).rare().kept.push(Box::new(OfEnv(large)));
            }
        }
        *to = vector;
        *tail = rest;
        1
    }
    fn enif_free_iovec(vector: *mut IoVec) {
        for i in 0..(*vector).count as usize {
            release(*(*vector).blocks.add(i));
        }
        if (*vector).flags != OF_LIBRARY {
            drop(Box::from_raw(vector.cast::<Large>()));
        }
    }
    fn enif_ioq_create(options: c_int) -> *mut Queue {
        // ERL_NIF_IOQ_NORMAL
        if options != 1 {
            return null_mut();
        }
        Box::into_raw(Box::new(Queue { pieces: VecDeque::new(), size: 0, shown: Vec::new() }))
    }
    fn enif_ioq_destroy(queue: *mut Queue) {
        drop(Box::from_raw(queue));
    }
    fn enif_ioq_enq_binary(queue: *mut Queue, binary: *mut Binary, skip: size_t) -> c_int {
        let fits = skip <= (*binary).size;
        if fits {
            let piece = Piece { block: (*binary).block, data: (*binary).data, size: (*binary).size };
            (*queue).add(std::iter::once(piece), skip);
        }
        binaries::give_up(binary);
        fits as c_int
    }
    fn enif_ioq_enqv(queue: *mut Queue, vector: *mut IoVec, skip: size_t) -> c_int {
        if skip > (*vector).size {
            return 0;
        }
        let v = &*vector;
        let pieces = (0..v.count as usize).map(|i| {
            let part = *v.iov.add(i);
            Piece { block: *v.blocks.add(i), data: part.iov_base.cast(), size: part.iov_len }
        });
        (*queue).add(pieces, skip);
        1
    }
    fn enif_ioq_size(queue: *mut Queue) -> size_t {
        (*queue).size
    }
    fn enif_ioq_deq(queue: *mut Queue, count: size_t, size: *mut size_t) -> c_int {
        if !(*queue).remove(count) {
            return 0;
        }
        if !size.is_null() {
            *size = (*queue).size;
        }
        1
    }
    fn enif_ioq_peek(queue: *mut Queue, count: *mut c_int) -> *mut iovec {
        let queue = &mut *queue;
        queue.shown = queue.pieces.iter().map(|p| iovec { iov_base: p.data.cast(), iov_len: p.size }).collect();
        *count = queue.shown.len() as c_int;
        queue.shown.as_mut_ptr()
    }
    fn enif_ioq_peek_head(env: *mut Env, queue: *mut Queue, size: *mut size_t, to: *mut Term) -> c_int {
        let Some(first) = (*queue).pieces.front() else { return 0 };
        if !size.is_null() {
            *size = first.size;
        }
        *to = binary_of(&mut *(*env).heap, first);
        1
    }
}
