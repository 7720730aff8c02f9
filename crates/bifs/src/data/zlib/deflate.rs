//! Compressing.

use super::stream::*;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;
use libz_sys::*;

pub(super) fn deflate_init(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    let mut numbers = [0; 5];
    for (number_, &term) in numbers.iter_mut().zip(&a[1..]) {
        *number_ = number(p, term)?;
    }
    if inner.state != StreamState::Idle {
        return Err(raise(p, "already_initialized"));
    }
    let [level, method, window_bits, mem_level, strategy] = numbers;
    inner.z = empty_z();
    // SAFETY: a fresh stream; the version is the library's own.
    let result = unsafe { deflateInit2_(&mut *inner.z, level, method, window_bits, mem_level, strategy, zlibVersion(), Z_SIZE) };
    if result == Z_OK {
        inner.state = StreamState::Deflate;
        inner.clear_queue();
    }
    answer(p, result)
}

pub(super) fn deflate_set_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Deflate)?;
    let bytes = dictionary(p, a[1])?;
    // SAFETY: initialised; the dictionary is a slice of that length.
    match unsafe { deflateSetDictionary(&mut *inner.z, bytes.as_ptr(), bytes.len() as u32) } {
        Z_OK => Ok(Term::small(inner.z.adler as i64)),
        error => answer(p, error),
    }
}

pub(super) fn deflate_reset(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Deflate)?;
    inner.clear_queue();
    // SAFETY: initialised.
    let result = unsafe { deflateReset(&mut *inner.z) };
    answer(p, result)
}

pub(super) fn deflate_end(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Deflate)?;
    let result = inner.end();
    let left = !inner.queue.is_empty();
    inner.clear_queue();
    answer(p, if result == Z_OK && left { Z_DATA_ERROR } else { result })
}

pub(super) fn deflate_params(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Deflate)?;
    let (level, strategy) = (number(p, a[1])?, number(p, a[2])?);
    // It writes nothing that is needed: the caller has flushed before.
    let mut out = [0u8; 16];
    inner.z.next_in = std::ptr::null_mut();
    inner.z.avail_in = 0;
    inner.z.next_out = out.as_mut_ptr();
    inner.z.avail_out = 0;
    // SAFETY: initialised; no input and no room for output.
    let result = unsafe { deflateParams(&mut *inner.z, level, strategy) };
    answer(p, result)
}

pub(super) fn deflate(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Deflate)?;
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
