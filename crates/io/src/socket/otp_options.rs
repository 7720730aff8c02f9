//! Options of a socket that the VM itself keeps (the level `otp`).

use super::address;
use super::answer::{atom, closed, error_invalid, invalid, ok, ok_with, raise_invalid, unsigned};
use super::messages;
use super::socket::{CONTROL_BYTES, RECEIVE_BYTES, Socket};
use heddle_natives::args;
use heddle_runtime::Package;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Term, am, big};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

// The numbers that `prim_socket` has for them.
const DEBUG: i32 = 1001;
const COUNTER_WRAPS: i32 = 1002;
const OWNER: i32 = 1003;
const RECEIVE_BUFFER: i32 = 1004;
const RECEIVE_CONTROL: i32 = 1006;
const SEND_CONTROL: i32 = 1007;
const DESCRIPTOR: i32 = 1008;
const META: i32 = 1009;
const USE_REGISTRY: i32 = 1010;
const DOMAIN: i32 = 1999;

fn unknown(p: &mut Process, number: i32) -> Thrown {
    let what = p.heap.tuple(&[atom("otp_socket_option"), Term::small(number.into())]);
    raise_invalid(p, what)
}

pub fn set(p: &mut Process, socket: &Arc<Socket>, number: i32, value: Term) -> NativeResult {
    let (mut read, mut write) = socket.both();
    if !matches!(number, DEBUG..=RECEIVE_BUFFER | RECEIVE_CONTROL | SEND_CONTROL | META | USE_REGISTRY) {
        return Err(unknown(p, number));
    }
    if !write.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let is_owner = socket.owner() == p.pid();
    let not_owner = |p: &mut Process| Ok(error_invalid(&mut p.heap, atom("not_owner")));
    let is_set = match number {
        DEBUG => flag(&socket.is_debugged, value),
        COUNTER_WRAPS => flag(&socket.tells_wraps, value),
        OWNER if !is_owner => return not_owner(p),
        OWNER => {
            if !value.is_local_pid() {
                return Ok(invalid(&mut p.heap, "value"));
            }
            let is_there = socket.give_to(&mut read, value.payload());
            drop((read, write));
            if !is_there {
                socket.process_ended(value.payload());
            }
            return Ok(ok());
        }
        RECEIVE_BUFFER => match receive_buffer(value) {
            Some((buffers, bytes)) => {
                (read.buffers, read.buffer_bytes) = (buffers, bytes);
                true
            }
            None => false,
        },
        RECEIVE_CONTROL => bytes(value, CONTROL_BYTES).map(|bytes| read.control_bytes = bytes).is_some(),
        SEND_CONTROL => bytes(value, CONTROL_BYTES).map(|bytes| write.control_bytes = bytes).is_some(),
        META if !is_owner => return not_owner(p),
        META => {
            write.meta = Some(Package::new(value));
            true
        }
        // It can only be switched on.
        _ => {
            let is_on = args::boolean(value) == Some(true);
            if is_on && !socket.is_registered.swap(true, Ordering::Relaxed) {
                messages::registry_add(socket);
            }
            is_on
        }
    };
    if is_set { Ok(ok()) } else { Ok(invalid(&mut p.heap, "value")) }
}

fn flag(flag: &AtomicBool, value: Term) -> bool {
    args::boolean(value).map(|on| flag.store(on, Ordering::Relaxed)).is_some()
}

/// A number of bytes above 0, or `default`.
fn bytes(value: Term, default: usize) -> Option<usize> {
    match big::to_u64(value) {
        Some(bytes) => usize::try_from(bytes).ok().filter(|&bytes| bytes != 0 && isize::try_from(bytes).is_ok()),
        None => (value == atom("default")).then_some(default),
    }
}

/// Bytes, or `{Buffers, Bytes}`.
fn receive_buffer(value: Term) -> Option<(u32, usize)> {
    if let Some(bytes) = bytes(value, RECEIVE_BYTES) {
        return Some((0, bytes));
    }
    let &[buffers, size] = value.as_tuple()? else { return None };
    Some((unsigned(buffers).filter(|&buffers| buffers != 0)?, bytes(size, RECEIVE_BYTES)?))
}

pub fn get(p: &mut Process, socket: &Arc<Socket>, number: i32) -> NativeResult {
    let (read, write) = socket.both();
    if !matches!(number, DEBUG..=RECEIVE_BUFFER | RECEIVE_CONTROL..=USE_REGISTRY | DOMAIN) {
        return Err(unknown(p, number));
    }
    if !write.is_open() && number != USE_REGISTRY {
        return Ok(closed(&mut p.heap));
    }
    let bool = |flag: &AtomicBool| Term::bool(flag.load(Ordering::Relaxed));
    let value = match number {
        DEBUG => bool(&socket.is_debugged),
        COUNTER_WRAPS => bool(&socket.tells_wraps),
        OWNER => Term::local_pid(socket.owner()),
        RECEIVE_BUFFER => match read.buffers {
            0 => Term::small(read.buffer_bytes as i64),
            buffers => p.heap.tuple(&[Term::small(buffers.into()), Term::small(read.buffer_bytes as i64)]),
        },
        RECEIVE_CONTROL => Term::small(read.control_bytes as i64),
        SEND_CONTROL => Term::small(write.control_bytes as i64),
        DESCRIPTOR => Term::small(socket.fd().into()),
        META => match &write.meta {
            Some(meta) => p.heap.copy(meta.term()),
            None => am::UNDEFINED.into(),
        },
        USE_REGISTRY => bool(&socket.is_registered),
        _ => address::domain_term(socket.sort.domain),
    };
    Ok(ok_with(&mut p.heap, value))
}
