//! Decompressing.

use super::stream::*;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term};
use libz_sys::*;

unsafe extern "C" {
    fn inflateGetDictionary(z: z_streamp, dictionary: *mut u8, len: *mut u32) -> i32;
}

pub(super) fn inflate_init(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = controlled(p, &stream)?;
    let (window_bits, after_end) = (number(p, a[1])?, number(p, a[2])?);
    let after_end = match after_end {
        0 => AfterEnd::Error,
        1 => AfterEnd::Reset,
        2 => AfterEnd::Cut,
        _ => return Err(p.badarg()),
    };
    if inner.state != StreamState::Idle {
        return Err(raise(p, "already_initialized"));
    }
    inner.z = empty_z();
    // SAFETY: a fresh stream; the version is the library's own.
    let result = unsafe { inflateInit2_(&mut *inner.z, window_bits, zlibVersion(), Z_SIZE) };
    if result == Z_OK {
        inner.state = StreamState::Inflate;
        inner.after_end = after_end;
        inner.end_seen = false;
        inner.clear_queue();
    }
    answer(p, result)
}

pub(super) fn inflate_set_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Inflate)?;
    let bytes = dictionary(p, a[1])?;
    // SAFETY: initialised; the dictionary is a slice of that length.
    let result = unsafe { inflateSetDictionary(&mut *inner.z, bytes.as_ptr(), bytes.len() as u32) };
    answer(p, result)
}

/// Largest window of the format.
pub(super) const WINDOW_BYTES: usize = 32 * 1024;

pub(super) fn inflate_get_dictionary(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Inflate)?;
    let mut out = vec![0u8; WINDOW_BYTES];
    let mut len = 0u32;
    // SAFETY: initialised; the buffer has room for the largest window.
    match unsafe { inflateGetDictionary(&mut *inner.z, out.as_mut_ptr(), &mut len) } {
        Z_OK => Ok(p.heap.binary(&out[..len as usize])),
        error => answer(p, error),
    }
}

pub(super) fn inflate_reset(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Inflate)?;
    inner.clear_queue();
    inner.end_seen = false;
    // SAFETY: initialised.
    let result = unsafe { inflateReset(&mut *inner.z) };
    answer(p, result)
}

pub(super) fn inflate_end(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Inflate)?;
    let result = inner.end();
    let whole = inner.end_seen && inner.queue.is_empty();
    inner.clear_queue();
    answer(p, if whole { result } else { Z_DATA_ERROR })
}

pub(super) fn inflate(p: &mut Process, a: &[Term]) -> NativeResult {
    let stream = stream(p, a[0])?;
    let mut inner = in_state(p, &stream, StreamState::Inflate)?;
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
