//! Module `zlib`: streams of the C library, so that what is compressed agrees with stock byte for byte.
//!
//! A stream is a magic reference. It belongs to one process; its input waits in a queue until `deflate_nif` or `inflate_nif`
//! takes a chunk.

mod deflate;
mod inflate;
mod stream;

use super::{atomics, bytes};
use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Atom, Term, am, list};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use stream::*;

heddle_runtime::natives! { TABLE:
    "zlib" => {
        "open_nif"/0 => open,
        "close_nif"/1 => close,
        "set_controller_nif"/2 => set_controller,
        "enqueue_nif"/2 => enqueue,
        "getStash_nif"/1 => get_stash,
        "setStash_nif"/2 => set_stash,
        "clearStash_nif"/1 => clear_stash,
        "deflateInit_nif"/6 => deflate::deflate_init,
        "deflateSetDictionary_nif"/2 => deflate::deflate_set_dictionary,
        "deflateReset_nif"/1 => deflate::deflate_reset,
        "deflateEnd_nif"/1 => deflate::deflate_end,
        "deflateParams_nif"/3 => deflate::deflate_params,
        "deflate_nif"/4 => deflate::deflate,
        "inflateInit_nif"/3 => inflate::inflate_init,
        "inflateSetDictionary_nif"/2 => inflate::inflate_set_dictionary,
        "inflateGetDictionary_nif"/1 => inflate::inflate_get_dictionary,
        "inflateReset_nif"/1 => inflate::inflate_reset,
        "inflateEnd_nif"/1 => inflate::inflate_end,
        "inflate_nif"/4 => inflate::inflate,
    }
}

fn open(p: &mut Process, _: &[Term]) -> NativeResult {
    let inner = Inner {
        state: StreamState::Idle,
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
    if inner.state == StreamState::Closed {
        return Err(raise(p, "not_initialized"));
    }
    inner.end();
    inner.clear_queue();
    inner.stash = None;
    inner.state = StreamState::Closed;
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
    if !matches!(inner.state, StreamState::Deflate | StreamState::Inflate) {
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
