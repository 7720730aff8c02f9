//! A stream: the library's state, its input, and what all functions check.

use heddle_natives::args;
use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::list::iolist_to_vec;
use heddle_term::{Atom, Resource, Term, am};
use libz_sys::*;
use std::alloc::Layout;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamState {
    Idle,
    Deflate,
    Inflate,
    Closed,
}

/// What happens with input after the end of a compressed stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterEnd {
    Error,
    /// The input begins another stream.
    Reset,
    /// The input is dropped.
    Cut,
}

pub(super) struct Inner {
    pub(super) state: StreamState,
    /// Pid of the process that may use it.
    pub(super) controller: Term,
    /// In a box, since the library keeps its address.
    pub(super) z: Box<z_stream>,
    /// Input, oldest first, and how much of the first is used.
    pub(super) queue: VecDeque<Vec<u8>>,
    pub(super) used: usize,
    pub(super) stash: Option<Package>,
    pub(super) after_end: AfterEnd,
    pub(super) end_seen: bool,
}

// SAFETY: the raw pointers of the stream are used under the mutex alone; a controller is an immediate.
unsafe impl Send for Inner {}

pub(super) struct Stream(pub(super) Mutex<Inner>);

impl Resource for Stream {
    fn type_name(&self) -> &'static str {
        "zlib"
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    pub(super) fn end(&mut self) -> i32 {
        // SAFETY: the state says which of the two the stream was initialised for.
        let result = unsafe {
            match self.state {
                StreamState::Deflate => deflateEnd(&mut *self.z),
                StreamState::Inflate => inflateEnd(&mut *self.z),
                _ => Z_OK,
            }
        };
        self.state = StreamState::Idle;
        result
    }

    pub(super) fn clear_queue(&mut self) {
        self.queue.clear();
        self.used = 0;
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.used += count;
        if self.queue.front().is_some_and(|first| self.used == first.len()) {
            self.queue.pop_front();
            self.used = 0;
        }
    }

    /// One call of the library on the first bytes of the queue (at most `input`), or on none. Returns its result and how
    /// many bytes it took.
    pub(super) fn step(
        &mut self,
        input: usize,
        out: &mut Vec<u8>,
        call: unsafe extern "C" fn(z_streamp, i32) -> i32,
        flush: i32,
    ) -> (i32, usize) {
        let (mut next, mut count) = (std::ptr::null_mut(), 0);
        if input > 0
            && let Some(first) = self.queue.front()
        {
            let rest = &first[self.used..];
            next = rest.as_ptr().cast_mut();
            count = rest.len().min(input);
        }
        let room = out.capacity() - out.len();
        self.z.next_in = next;
        self.z.avail_in = count as u32;
        self.z.next_out = out.spare_capacity_mut().as_mut_ptr().cast();
        self.z.avail_out = room as u32;
        // SAFETY: the stream is initialised; both buffers have the sizes given.
        let result = unsafe { call(&mut *self.z, flush) };
        let written = room - self.z.avail_out as usize;
        // SAFETY: the library wrote that many bytes after the old length.
        unsafe { out.set_len(out.len() + written) };
        let taken = count - self.z.avail_in as usize;
        self.consume(taken);
        (result, taken)
    }
}

pub(super) fn raise(p: &mut Process, name: &str) -> Thrown {
    p.error(Atom::new(name))
}

/// `ok`, the exceptions, or one of the two results that are answers.
pub(super) fn answer(p: &mut Process, result: i32) -> NativeResult {
    match result {
        Z_OK => Ok(am::OK.into()),
        Z_BUF_ERROR => Ok(Atom::new("buf_error").into()),
        Z_MEM_ERROR => Ok(Atom::new("mem_error").into()),
        Z_DATA_ERROR => Err(raise(p, "data_error")),
        _ => Err(raise(p, "stream_error")),
    }
}

pub(super) fn stream(p: &mut Process, term: Term) -> Result<Arc<Stream>, Thrown> {
    args::resource::<Stream>(term).ok_or_else(|| p.badarg())
}

/// The stream's state, if the caller controls it.
pub(super) fn controlled<'a>(p: &mut Process, stream: &'a Stream) -> Result<MutexGuard<'a, Inner>, Thrown> {
    let inner = stream.0.lock().unwrap();
    if inner.controller == p.pid_term() { Ok(inner) } else { Err(raise(p, "not_on_controlling_process")) }
}

pub(super) fn in_state<'a>(p: &mut Process, stream: &'a Stream, state: StreamState) -> Result<MutexGuard<'a, Inner>, Thrown> {
    let inner = controlled(p, stream)?;
    if inner.state == state { Ok(inner) } else { Err(raise(p, "not_initialized")) }
}

/// What stands in front of each block that the library asks for: the bytes of both, which it does not tell when it gives the block
/// back. The allocator keeps such blocks for the next stream; the C library would map and unmap them each time.
const IN_FRONT_BYTES: usize = 16;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, IN_FRONT_BYTES).ok()
}

unsafe extern "C" fn allocate(_: *mut libc::c_void, items: u32, size: u32) -> *mut libc::c_void {
    let bytes = (items as usize).checked_mul(size as usize).and_then(|bytes| bytes.checked_add(IN_FRONT_BYTES));
    let Some((bytes, layout)) = bytes.and_then(|bytes| Some((bytes, layout(bytes)?))) else { return std::ptr::null_mut() };
    // SAFETY: the layout is not empty, and the block has room for its own size.
    unsafe {
        let block = std::alloc::alloc(layout);
        if block.is_null() {
            return std::ptr::null_mut();
        }
        block.cast::<usize>().write(bytes);
        block.add(IN_FRONT_BYTES).cast()
    }
}

unsafe extern "C" fn free(_: *mut libc::c_void, block: *mut libc::c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: the library gives back what `allocate` gave, so its bytes stand in front.
    unsafe {
        let block = block.cast::<u8>().sub(IN_FRONT_BYTES);
        let bytes = block.cast::<usize>().read();
        std::alloc::dealloc(block, layout(bytes).expect("as it was allocated"));
    }
}

pub(super) fn empty_z() -> Box<z_stream> {
    use std::ptr::null_mut;
    Box::new(z_stream {
        next_in: null_mut(),
        avail_in: 0,
        total_in: 0,
        next_out: null_mut(),
        avail_out: 0,
        total_out: 0,
        msg: null_mut(),
        state: null_mut(),
        zalloc: allocate,
        zfree: free,
        opaque: null_mut(),
        data_type: 0,
        adler: 0,
        reserved: 0,
    })
}

pub(super) fn number(p: &mut Process, term: Term) -> Result<i32, Thrown> {
    term.as_small().and_then(|n| i32::try_from(n).ok()).ok_or_else(|| p.badarg())
}

pub(super) const Z_SIZE: i32 = size_of::<z_stream>() as i32;

pub(super) fn dictionary(p: &mut Process, term: Term) -> Result<Vec<u8>, Thrown> {
    iolist_to_vec(term).map_err(|_| p.badarg())
}

/// Sizes of the chunks to take and to make.
pub(super) fn chunks(p: &mut Process, a: &[Term]) -> Result<(usize, usize, i32), Thrown> {
    let size = |term: Term| args::count(term).filter(|&n| n > 0 && n <= 1 << 30);
    match (size(a[1]), size(a[2]), number(p, a[3])) {
        (Some(input), Some(output), Ok(flush)) => Ok((input, output, flush)),
        _ => Err(p.badarg()),
    }
}

pub(super) fn output(p: &mut Process, out: &[u8]) -> Term {
    if out.is_empty() {
        return Term::NIL;
    }
    let binary = p.heap.binary(out);
    p.heap.list(&[binary])
}

pub(super) fn progress(p: &mut Process, finished: bool, out: &[u8]) -> Term {
    let out = output(p, out);
    p.heap.tuple(&[Atom::new(if finished { "finished" } else { "continue" }).into(), out])
}

pub(super) const BYTES_PER_REDUCTION: usize = 64;
