//! Module `zlib`: streams of the C library, so that what is compressed agrees with stock byte for byte.
//!
//! A stream is a magic reference. It belongs to one process; its input waits in a queue until `deflate_nif` or `inflate_nif`
//! takes a chunk.

use super::{atomics, bytes};
use crate::args;
use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::list::iolist_to_vec;
use heddle_term::{Atom, Resource, Term, am, list};
use libz_sys::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

heddle_runtime::natives! { TABLE:
    "zlib" => {
        "open_nif"/0 => open,
        "close_nif"/1 => close,
        "set_controller_nif"/2 => set_controller,
        "enqueue_nif"/2 => enqueue,
        "getStash_nif"/1 => get_stash,
        "setStash_nif"/2 => set_stash,
        "clearStash_nif"/1 => clear_stash,
        "deflateInit_nif"/6 => deflate_init,
        "deflateSetDictionary_nif"/2 => deflate_set_dictionary,
        "deflateReset_nif"/1 => deflate_reset,
        "deflateEnd_nif"/1 => deflate_end,
        "deflateParams_nif"/3 => deflate_params,
        "deflate_nif"/4 => deflate,
        "inflateInit_nif"/3 => inflate_init,
        "inflateSetDictionary_nif"/2 => inflate_set_dictionary,
        "inflateGetDictionary_nif"/1 => inflate_get_dictionary,
        "inflateReset_nif"/1 => inflate_reset,
        "inflateEnd_nif"/1 => inflate_end,
        "inflate_nif"/4 => inflate,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Deflate,
    Inflate,
    Closed,
}

/// What happens with input after the end of a compressed stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterEnd {
    Error,
    /// It begins another stream.
    Reset,
    /// It is dropped.
    Cut,
}

struct Inner {
    state: State,
    /// Pid of the process that may use it.
    controller: Term,
    /// In a box: the library keeps its address.
    z: Box<z_stream>,
    /// Input, oldest first, and how much of the first is used.
    queue: VecDeque<Vec<u8>>,
    used: usize,
    stash: Option<Package>,
    after_end: AfterEnd,
    end_seen: bool,
}

// SAFETY: the raw pointers of the stream are used under the mutex alone; a controller is an immediate.
unsafe impl Send for Inner {}

struct Stream(Mutex<Inner>);

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
    fn end(&mut self) -> i32 {
        // SAFETY: the state says which of the two the stream was initialised for.
        let result = unsafe {
            match self.state {
                State::Deflate => deflateEnd(&mut *self.z),
                State::Inflate => inflateEnd(&mut *self.z),
                _ => Z_OK,
            }
        };
        self.state = State::Idle;
        result
    }

    fn clear_queue(&mut self) {
        self.queue.clear();
        self.used = 0;
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
        if self.queue.front().is_some_and(|first| self.used == first.len()) {
            self.queue.pop_front();
            self.used = 0;
        }
    }

    /// One call of the library on the first bytes of the queue (at most `input`), or on none. Answers its result and how
    /// many bytes it took.
    fn step(&mut self, input: usize, out: &mut Vec<u8>, call: unsafe extern "C" fn(z_streamp, i32) -> i32, flush: i32) -> (i32, usize) {
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
        // SAFETY: the library wrote that many bytes behind the old length.
        unsafe { out.set_len(out.len() + written) };
        let taken = count - self.z.avail_in as usize;
        self.consume(taken);
        (result, taken)
    }
}

fn raise(p: &mut Process, name: &str) -> Thrown {
    p.error(Atom::new(name))
}

/// `ok`, the exceptions, or one of the two results that are answers.
fn answer(p: &mut Process, result: i32) -> NativeResult {
    match result {
        Z_OK => Ok(am::OK.into()),
        Z_BUF_ERROR => Ok(Atom::new("buf_error").into()),
        Z_MEM_ERROR => Ok(Atom::new("mem_error").into()),
        Z_DATA_ERROR => Err(raise(p, "data_error")),
        _ => Err(raise(p, "stream_error")),
    }
}

fn stream(p: &mut Process, term: Term) -> Result<Arc<Stream>, Thrown> {
    args::resource::<Stream>(term).ok_or_else(|| p.badarg())
}

/// The stream's inside, if the caller controls it.
fn controlled<'a>(p: &mut Process, stream: &'a Stream) -> Result<MutexGuard<'a, Inner>, Thrown> {
    let inner = stream.0.lock().unwrap();
    if inner.controller == p.pid_term() { Ok(inner) } else { Err(raise(p, "not_on_controlling_process")) }
}

fn in_state<'a>(p: &mut Process, stream: &'a Stream, state: State) -> Result<MutexGuard<'a, Inner>, Thrown> {
    let inner = controlled(p, stream)?;
    if inner.state == state { Ok(inner) } else { Err(raise(p, "not_initialized")) }
}

unsafe extern "C" {
    fn inflateGetDictionary(z: z_streamp, dictionary: *mut u8, len: *mut u32) -> i32;
}

unsafe extern "C" fn allocate(_: *mut libc::c_void, items: u32, size: u32) -> *mut libc::c_void {
    // SAFETY: any two numbers will do.
    unsafe { libc::calloc(items as usize, size as usize) }
}

unsafe extern "C" fn free(_: *mut libc::c_void, block: *mut libc::c_void) {
    // SAFETY: the library gives back what `allocate` gave.
    unsafe { libc::free(block) }
}

fn empty_z() -> Box<z_stream> {
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

fn open(p: &mut Process, _: &[Term]) -> NativeResult {
    let inner = Inner {
        state: State::Idle,
        controller: p.pid_term(),
        z: empty_z(),
        queue: VecDeque::new(),
        used: 0,
        stash: None,
        after_end: AfterEnd::Cut,
        end_seen: false,
    };
    Ok(atomics::magic(p, Arc::new(Stream(Mutex::new(inner)))))
}

fn close(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    if inner.state == State::Closed {
        return Err(raise(p, "not_initialized"));
    }
    inner.end();
    inner.clear_queue();
    inner.stash = None;
    inner.state = State::Closed;
    Ok(am::OK.into())
}

fn set_controller(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    if !a[1].is_local_pid() {
        return Err(p.badarg());
    }
    inner.controller = a[1];
    Ok(am::OK.into())
}

/// Bytes that one call puts into the queue.
const ENQUEUE_BYTES: usize = 256 * 1024;

fn enqueue(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    if !matches!(inner.state, State::Deflate | State::Inflate) {
        return Err(raise(p, "not_initialized"));
    }
    let Some(list) = list::to_vec(a[1]) else { return Err(p.badarg()) };
    if !list.iter().all(|t| t.is_binary()) {
        return Err(p.badarg());
    }
    let mut room = ENQUEUE_BYTES;
    for (i, &binary) in list.iter().enumerate() {
        let Some(view) = bytes::view(binary) else { return Err(p.badarg()) };
        let size = (view.size_bits / 8) as usize;
        let taken = size.min(room);
        let mut copy = Vec::new();
        let all = bytes::bytes(binary, &mut copy).unwrap_or(&[]);
        if taken > 0 {
            inner.queue.push_back(all[..taken].to_vec());
        }
        room -= taken;
        if taken < size {
            p.bump(ENQUEUE_BYTES / 512);
            let mut rest = vec![bytes::slice(&mut p.heap, binary, taken as u64 * 8, (size - taken) as u64 * 8)];
            rest.extend_from_slice(&list[i + 1..]);
            let rest = p.heap.list(&rest);
            return Ok(p.heap.tuple(&[Atom::new("continue").into(), rest]));
        }
    }
    p.bump((ENQUEUE_BYTES - room) / 512);
    Ok(am::OK.into())
}

fn get_stash(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let inner = controlled(p, &stream)?;
    Ok(match &inner.stash {
        Some(stash) => {
            let term = p.heap.copy(stash.term());
            p.heap.tuple(&[am::OK.into(), term])
        }
        None => Atom::new("empty").into(),
    })
}

fn set_stash(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    if inner.stash.is_some() {
        return Err(raise(p, "already_initialized"));
    }
    inner.stash = Some(Package::new(a[1]));
    Ok(am::OK.into())
}

fn clear_stash(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    if inner.stash.take().is_none() {
        return Err(raise(p, "not_initialized"));
    }
    Ok(am::OK.into())
}

fn number(p: &mut Process, term: Term) -> Result<i32, Thrown> {
    term.as_small().and_then(|n| i32::try_from(n).ok()).ok_or_else(|| p.badarg())
}

const Z_SIZE: i32 = size_of::<z_stream>() as i32;

fn deflate_init(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    let mut numbers = [0; 5];
    for (number_, &term) in numbers.iter_mut().zip(&a[1..]) {
        *number_ = number(p, term)?;
    }
    if inner.state != State::Idle {
        return Err(raise(p, "already_initialized"));
    }
    let [level, method, window_bits, mem_level, strategy] = numbers;
    inner.z = empty_z();
    // SAFETY: a fresh stream; the version is the library's own.
    let result = unsafe { deflateInit2_(&mut *inner.z, level, method, window_bits, mem_level, strategy, zlibVersion(), Z_SIZE) };
    if result == Z_OK {
        inner.state = State::Deflate;
        inner.clear_queue();
    }
    answer(p, result)
}

fn dictionary(p: &mut Process, term: Term) -> Result<Vec<u8>, Thrown> {
    iolist_to_vec(term).map_err(|_| p.badarg())
}

fn deflate_set_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Deflate)?;
    let bytes = dictionary(p, a[1])?;
    // SAFETY: initialised; the dictionary is a slice of that length.
    match unsafe { deflateSetDictionary(&mut *inner.z, bytes.as_ptr(), bytes.len() as u32) } {
        Z_OK => Ok(Term::small(inner.z.adler as i64)),
        error => answer(p, error),
    }
}

fn deflate_reset(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Deflate)?;
    inner.clear_queue();
    // SAFETY: initialised.
    let result = unsafe { deflateReset(&mut *inner.z) };
    answer(p, result)
}

fn deflate_end(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Deflate)?;
    let result = inner.end();
    let left = !inner.queue.is_empty();
    inner.clear_queue();
    answer(p, if result == Z_OK && left { Z_DATA_ERROR } else { result })
}

fn deflate_params(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Deflate)?;
    let (level, strategy) = (number(p, a[1])?, number(p, a[2])?);
    // What it may have to write goes nowhere: the caller flushed before.
    let mut out = [0u8; 16];
    inner.z.next_in = std::ptr::null_mut();
    inner.z.avail_in = 0;
    inner.z.next_out = out.as_mut_ptr();
    inner.z.avail_out = 0;
    // SAFETY: initialised; no input and no room for output.
    let result = unsafe { deflateParams(&mut *inner.z, level, strategy) };
    answer(p, result)
}

/// Sizes of the chunks to take and to make.
fn chunks(p: &mut Process, a: &[Term]) -> Result<(usize, usize, i32), Thrown> {
    let size = |term: Term| args::count(term).filter(|&n| n > 0 && n <= 1 << 30);
    match (size(a[1]), size(a[2]), number(p, a[3])) {
        (Some(input), Some(output), Ok(flush)) => Ok((input, output, flush)),
        _ => Err(p.badarg()),
    }
}

fn output(p: &mut Process, out: &[u8]) -> Term {
    if out.is_empty() {
        return Term::NIL;
    }
    let binary = p.heap.binary(out);
    p.heap.list(&[binary])
}

fn progress(p: &mut Process, finished: bool, out: &[u8]) -> Term {
    let out = output(p, out);
    p.heap.tuple(&[Atom::new(if finished { "finished" } else { "continue" }).into(), out])
}

const BYTES_PER_REDUCTION: usize = 64;

fn deflate(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Deflate)?;
    let (input, out_size, flush) = chunks(p, a)?;
    let mut out = Vec::with_capacity(out_size);
    let mut left = input;
    let mut result = Z_OK;
    // Input first; the flush comes when there is none left.
    while result == Z_OK && left > 0 && out.len() < out.capacity() && !inner.queue.is_empty() {
        let taken;
        (result, taken) = inner.step(left, &mut out, libz_sys::deflate, Z_NO_FLUSH);
        left -= taken;
    }
    if matches!(result, Z_OK | Z_BUF_ERROR) && inner.queue.is_empty() && out.len() < out.capacity() {
        (result, _) = inner.step(0, &mut out, libz_sys::deflate, flush);
    }
    p.bump((input - left + out.len()) / BYTES_PER_REDUCTION);
    match result {
        Z_STREAM_END => Ok(progress(p, true, &out)),
        Z_OK | Z_BUF_ERROR => {
            let finished = inner.queue.is_empty() && out.len() < out_size;
            Ok(progress(p, finished, &out))
        }
        error => answer(p, error),
    }
}

fn inflate_init(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    let (window_bits, after_end) = (number(p, a[1])?, number(p, a[2])?);
    let after_end = match after_end {
        0 => AfterEnd::Error,
        1 => AfterEnd::Reset,
        2 => AfterEnd::Cut,
        _ => return Err(p.badarg()),
    };
    if inner.state != State::Idle {
        return Err(raise(p, "already_initialized"));
    }
    inner.z = empty_z();
    // SAFETY: a fresh stream; the version is the library's own.
    let result = unsafe { inflateInit2_(&mut *inner.z, window_bits, zlibVersion(), Z_SIZE) };
    if result == Z_OK {
        inner.state = State::Inflate;
        inner.after_end = after_end;
        inner.end_seen = false;
        inner.clear_queue();
    }
    answer(p, result)
}

fn inflate_set_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Inflate)?;
    let bytes = dictionary(p, a[1])?;
    // SAFETY: initialised; the dictionary is a slice of that length.
    let result = unsafe { inflateSetDictionary(&mut *inner.z, bytes.as_ptr(), bytes.len() as u32) };
    answer(p, result)
}

/// Largest window of the format.
const WINDOW_BYTES: usize = 32 * 1024;

fn inflate_get_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Inflate)?;
    let mut out = vec![0u8; WINDOW_BYTES];
    let mut len = 0u32;
    // SAFETY: initialised; the buffer has room for the largest window.
    match unsafe { inflateGetDictionary(&mut *inner.z, out.as_mut_ptr(), &mut len) } {
        Z_OK => Ok(p.heap.binary(&out[..len as usize])),
        error => answer(p, error),
    }
}

fn inflate_reset(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Inflate)?;
    inner.clear_queue();
    inner.end_seen = false;
    // SAFETY: initialised.
    let result = unsafe { inflateReset(&mut *inner.z) };
    answer(p, result)
}

fn inflate_end(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Inflate)?;
    let result = inner.end();
    let whole = inner.end_seen && inner.queue.is_empty();
    inner.clear_queue();
    answer(p, if whole { result } else { Z_DATA_ERROR })
}

fn inflate(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, State::Inflate)?;
    let (input, out_size, flush) = chunks(p, a)?;
    if inner.end_seen && !inner.queue.is_empty() {
        match inner.after_end {
            AfterEnd::Error => return Err(raise(p, "data_error")),
            AfterEnd::Cut => inner.clear_queue(),
            AfterEnd::Reset => {
                inner.end_seen = false;
                // SAFETY: initialised.
                unsafe { inflateReset(&mut *inner.z) };
            }
        }
    }
    let mut out = Vec::with_capacity(out_size);
    let mut left = input;
    let mut result = Z_OK;
    if inner.queue.is_empty() {
        (result, _) = inner.step(0, &mut out, libz_sys::inflate, flush);
    }
    while result == Z_OK && left > 0 && out.len() < out.capacity() && !inner.queue.is_empty() {
        let taken;
        (result, taken) = inner.step(left, &mut out, libz_sys::inflate, flush);
        left -= taken;
    }
    p.bump((input - left + out.len()) / BYTES_PER_REDUCTION);
    match result {
        Z_STREAM_END => {
            inner.end_seen = true;
            let finished = inner.queue.is_empty();
            Ok(progress(p, finished, &out))
        }
        Z_OK | Z_BUF_ERROR => {
            let finished = inner.queue.is_empty() && out.len() < out_size;
            Ok(progress(p, finished, &out))
        }
        Z_NEED_DICT => {
            let adler = Term::small(inner.z.adler as i64);
            let out = output(p, &out);
            Ok(p.heap.tuple(&[Atom::new("need_dictionary").into(), adler, out]))
        }
        error => answer(p, error),
    }
}
