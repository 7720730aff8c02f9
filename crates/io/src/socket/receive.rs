//! `recv`: bytes of a stream, as many as asked for or what is there, or a datagram.

use super::answer::{atom, closed, error, ok_with};
use super::block::Block;
use super::bytes;
use super::receive_request::{Request, request, uninterrupted};
use super::socket::ReadSide;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, am};

heddle_runtime::natives! { TABLE:
    "prim_socket" => { "nif_recv"/4 => receive }
}

/// (Socket, Bytes, Flags, Handle); 0 bytes: what is there, up to the size of the buffer.
fn receive(p: &mut Process, a: &[Term]) -> NativeResult {
    let (request, [asked]) = match request(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let mut read = request.socket.read();
    let read = &mut *read;
    if let Some(answer) = request.turn(p, read) {
        return answer;
    }
    let wanted = if asked == 0 { read.buffer_bytes } else { asked };
    let before = read.partial.as_ref().map_or(0, |partial| partial.bytes().len());
    if before >= wanted || before > 0 && asked == 0 {
        return Ok(from_partial(p, &request, read, before.min(wanted)));
    }
    long::room(p, wanted)?;
    request.tried(read);
    let fd = request.socket.fd();
    if before == 0 && (asked == 0 || asked <= SHORT_BYTES) {
        return bytes::with_room(wanted, |room| {
            let (target, len) = (room.as_mut_ptr(), room.len());
            // SAFETY: the room is as large as said.
            match uninterrupted(|| unsafe { libc::recv(fd, target.cast(), len, request.flags()) }) {
                Err(code) => request.failed(p, read, code),
                Ok(got) => {
                    let got = &room[..got.min(len)];
                    if got.is_empty() && request.socket.is_stream() {
                        return Ok(ended(p, &request, read));
                    }
                    if request.is_incomplete(asked, got.len()) {
                        read.partial = Some(Block::with(wanted, got));
                        return request.wait(p, read);
                    }
                    let data = p.heap.binary(got);
                    Ok(received(p, &request, read, (asked, wanted, got.len()), data))
                }
            }
        });
    }
    let mut block = match read.partial.take() {
        Some(partial) if partial.capacity_bytes() == wanted => partial,
        Some(partial) => Block::with(wanted, partial.bytes()),
        None => Block::new(wanted),
    };
    let (target, len) = block.end();
    // SAFETY: the block has as much room as it says.
    match uninterrupted(|| unsafe { libc::recv(fd, target.cast(), len, request.flags()) }) {
        Err(code) => {
            read.partial = (before > 0).then_some(block);
            request.failed(p, read, code)
        }
        Ok(got) => {
            let got = got.min(len);
            // SAFETY: the system wrote that many bytes.
            unsafe { block.filled(got) };
            if got == 0 && request.socket.is_stream() {
                read.partial = (before > 0).then_some(block);
                return Ok(ended(p, &request, read));
            }
            if request.is_incomplete(asked, before + got) {
                read.partial = Some(block);
                return request.wait(p, read);
            }
            let data = block.into_term(&mut p.heap);
            Ok(received(p, &request, read, (asked, wanted, before + got), data))
        }
    }
}

/// A receive of at most that many bytes goes by way of the thread's room.
const SHORT_BYTES: usize = 4 << 10;

/// The result is there from an operation that ended before.
fn from_partial(p: &mut Process, request: &Request, read: &mut ReadSide, taken: usize) -> Term {
    let data = match read.partial.take() {
        Some(partial) if partial.bytes().len() == taken => partial.into_term(&mut p.heap),
        Some(partial) => {
            let (data, rest) = partial.bytes().split_at(taken);
            read.partial = Some(Block::with(rest.len(), rest));
            p.heap.binary(data)
        }
        None => p.heap.binary(&[]),
    };
    request.package(read, taken);
    ok_with(&mut p.heap, data)
}

/// The other end closed: `{error, closed}`, or `{error, {closed, Data}}` with what came of an incomplete operation.
fn ended(p: &mut Process, request: &Request, read: &mut ReadSide) -> Term {
    let partial = read.partial.take();
    request.fail(read, "closed");
    match partial {
        None => closed(&mut p.heap),
        Some(partial) => {
            let data = partial.into_term(&mut p.heap);
            let reason = p.heap.tuple(&[atom("closed"), data]);
            error(&mut p.heap, reason)
        }
    }
}

/// The answer when all data of the operation is there: how many bytes the caller asked for, how many there was room for, and how many came.
fn received(p: &mut Process, request: &Request, read: &mut ReadSide, bytes: (usize, usize, usize), data: Term) -> Term {
    let (asked, wanted, all) = bytes;
    let is_stream = request.socket.is_stream();
    long::done(p, all);
    if all == wanted && asked == 0 && is_stream {
        read.buffers_taken += 1;
        if read.buffers_taken < read.buffers {
            request.socket.count(&mut read.traffic.bytes, all, "read_byte");
            read.traffic.begun += all as u64;
            request.stay(p, read);
            return p.heap.tuple(&[atom("more"), data]);
        }
    }
    request.package(read, all);
    let tag = if all < wanted && is_stream && asked > 0 { atom("timeout") } else { am::OK.into() };
    p.heap.tuple(&[tag, data])
}
