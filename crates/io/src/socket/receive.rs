//! Receiving: one operation at a time; the processes that come meanwhile wait for their turn.

use super::answer::{atom, closed, errno, error, int, last_errno, map_of, not_in_range, ok_with, raise_select, raise_state, wrong_state};
use super::handle::Handle;
use super::requestors::{Requestor, Turn};
use super::socket::{ReadSide, Socket, state};
use super::supports::MESSAGE_FLAGS;
use super::{address, bytes, control};
use crate::inet::address::Address;
use crate::ports::poll::Interest;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, am, big};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_recv"/4 => receive,
        "nif_recvfrom"/4 => receive_from,
        "nif_recvmsg"/5 => receive_message,
    }
}

/// What the caller of an operation gave.
struct Request {
    socket: Arc<Socket>,
    pid: u64,
    /// None: the caller does not wait (`zero`).
    handle: Option<Handle>,
    flags: i32,
}

/// Takes an operation's arguments apart: the socket, numbers of bytes, flags, handle. `Err` has the answer for others.
fn request<const N: usize>(p: &mut Process, a: &[Term]) -> Result<(Request, [usize; N]), NativeResult> {
    let socket = Socket::of(p, a[0]).map_err(Err)?;
    let (lengths, flags, handle) = (&a[1..=N], a[N + 1], a[N + 2]);
    let handle = match Handle::of(handle) {
        None if handle != atom("zero") => return Err(Err(p.badarg())),
        handle => handle,
    };
    let numbers = &a[1..N + 2];
    let known = lengths.iter().map(|&term| big::to_u64(term).and_then(|n| isize::try_from(n).ok())).collect::<Option<Vec<_>>>();
    if let (Some(known), Some(flags)) = (&known, int(flags)) {
        let request = Request { socket, pid: p.pid(), handle, flags };
        return Ok((request, std::array::from_fn(|i| known[i] as usize)));
    }
    if numbers.iter().any(|term| !term.is_integer()) {
        return Err(Err(p.badarg()));
    }
    let is_wrong = |term: &&Term| big::to_u64(**term).is_none_or(|n| isize::try_from(n).is_err());
    let wrong = lengths.iter().find(is_wrong).copied().unwrap_or(flags);
    Err(not_in_range(p, wrong))
}

impl Request {
    /// What every operation asks first: `Some` is its answer if it may not receive now.
    fn turn(&self, p: &mut Process, read: &mut ReadSide) -> Option<NativeResult> {
        if !read.is_open() {
            return Some(Ok(closed(&mut p.heap)));
        }
        if read.acceptors.current.is_some() {
            return Some(Ok(wrong_state(&mut p.heap)));
        }
        match (read.readers.turn_of(self.pid), self.handle) {
            (Turn::Now, _) | (Turn::Later, None) => None,
            (Turn::Waits, _) => Some(Err(raise_state(p))),
            (Turn::Later, Some(handle)) => {
                self.socket.watch(read, self.pid);
                read.readers.push(Requestor { pid: self.pid, handle });
                Some(Ok(atom("select")))
            }
        }
    }

    fn tried(&self, read: &mut ReadSide) {
        self.socket.count(&mut read.traffic.tries, 1, "read_tries");
    }

    /// The operation is done: the next process has its turn.
    fn next(&self, read: &mut ReadSide) {
        if read.readers.current.is_some() {
            self.socket.next_reader(read);
        }
    }

    /// The process goes on itself, and the others wait.
    fn stay(&self, p: &mut Process, read: &mut ReadSide) {
        if let Some(handle) = self.handle {
            self.socket.watch(read, p.pid());
            read.readers.current = Some(Requestor { pid: self.pid, handle });
        }
    }

    fn fail(&self, read: &mut ReadSide, reason: &str) {
        if read.readers.current.is_some() {
            self.socket.abort_waiting(&mut read.readers, reason);
        }
    }

    /// The answer to an error of the system.
    fn failed(&self, p: &mut Process, read: &mut ReadSide, code: i32) -> NativeResult {
        read.buffers_taken = 0;
        if code == libc::EAGAIN {
            return match self.handle {
                None => Ok(atom("timeout")),
                Some(_) => self.wait(p, read),
            };
        }
        self.socket.count(&mut read.traffic.fails, 1, "read_fails");
        self.fail(read, crate::errno::name(code));
        Ok(errno(&mut p.heap, code))
    }

    /// `select`: the process will be told when to ask again.
    fn wait(&self, p: &mut Process, read: &mut ReadSide) -> NativeResult {
        self.stay(p, read);
        let Some(me) = read.readers.current else { return Ok(atom("timeout")) };
        if self.socket.select(Interest::Read, me).is_err() {
            self.socket.next_reader(read);
            return Err(raise_select(p, "select_read"));
        }
        read.state |= state::SELECTED;
        Ok(atom("select"))
    }

    /// Counts a package of `len_bytes`.
    fn package(&self, read: &mut ReadSide, len_bytes: usize) {
        self.socket.count(&mut read.traffic.packages, 1, "read_pkg");
        self.socket.count(&mut read.traffic.bytes, len_bytes, "read_byte");
        read.traffic.whole(len_bytes as u64);
        read.buffers_taken = 0;
        self.next(read);
    }
}

/// Calls the system until no signal interrupts it. An error is its number.
fn uninterrupted(call: impl Fn() -> isize) -> Result<usize, i32> {
    loop {
        match call() {
            n if n >= 0 => return Ok(n as usize),
            _ => match last_errno() {
                libc::EINTR => {}
                code => return Err(code),
            },
        }
    }
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
    let before = read.partial.len();
    if before >= wanted || before > 0 && asked == 0 {
        let taken = before.min(wanted);
        let data = p.heap.binary(&read.partial[..taken]);
        read.partial.drain(..taken);
        request.package(read, taken);
        return Ok(ok_with(&mut p.heap, data));
    }
    long::room(p, wanted)?;
    request.tried(read);
    let fd = request.socket.fd();
    bytes::with_room(wanted - before, |room| {
        let (target, len) = (room.as_mut_ptr(), room.len());
        // SAFETY: the room is as large as said.
        let got = uninterrupted(|| unsafe { libc::recv(fd, target.cast(), len, request.flags) });
        match got {
            Err(code) => request.failed(p, read, code),
            Ok(0) if request.socket.is_stream() => Ok(ended(p, &request, read)),
            Ok(got) => {
                let got = got.min(room.len());
                long::done(p, got);
                received(p, &request, read, asked, wanted, &room[..got])
            }
        }
    })
}

/// The other end closed: `{error, closed}`, or `{error, {closed, Data}}` with what came of an incomplete operation.
fn ended(p: &mut Process, request: &Request, read: &mut ReadSide) -> Term {
    let data = std::mem::take(&mut read.partial);
    request.fail(read, "closed");
    if data.is_empty() {
        return closed(&mut p.heap);
    }
    let data = p.heap.binary(&data);
    let reason = p.heap.tuple(&[atom("closed"), data]);
    error(&mut p.heap, reason)
}

fn received(p: &mut Process, request: &Request, read: &mut ReadSide, asked: usize, wanted: usize, got: &[u8]) -> NativeResult {
    let all = read.partial.len() + got.len();
    let is_stream = request.socket.is_stream();
    if all < wanted && is_stream && asked > 0 && request.handle.is_some() {
        read.partial.extend_from_slice(got);
        read.buffers_taken = 0;
        return request.wait(p, read);
    }
    let data = if read.partial.is_empty() {
        p.heap.binary(got)
    } else {
        let mut whole = std::mem::take(&mut read.partial);
        whole.extend_from_slice(got);
        p.heap.binary(&whole)
    };
    if all == wanted && asked == 0 && is_stream {
        read.buffers_taken += 1;
        if read.buffers_taken < read.buffers {
            request.socket.count(&mut read.traffic.bytes, all, "read_byte");
            read.traffic.begun += all as u64;
            request.stay(p, read);
            return Ok(p.heap.tuple(&[atom("more"), data]));
        }
    }
    request.package(read, all);
    let tag = if all < wanted && is_stream && asked > 0 { atom("timeout") } else { am::OK.into() };
    Ok(p.heap.tuple(&[tag, data]))
}

/// (Socket, Bytes, Flags, Handle): `{ok, {Address, Data}}`
fn receive_from(p: &mut Process, a: &[Term]) -> NativeResult {
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
    long::room(p, wanted)?;
    request.tried(read);
    let fd = request.socket.fd();
    bytes::with_room(wanted, |room| {
        let mut from = Address::empty();
        let (pointer, address_len) = from.target();
        let (target, len, address_len) = (room.as_mut_ptr(), room.len(), &raw mut *address_len);
        // SAFETY: room for data and any address, as large as said.
        let got = uninterrupted(|| unsafe { libc::recvfrom(fd, target.cast(), len, request.flags, pointer, address_len) });
        match got {
            Err(code) => request.failed(p, read, code),
            Ok(0) if request.socket.is_stream() => {
                request.socket.count(&mut read.traffic.fails, 1, "read_fails");
                Ok(closed(&mut p.heap))
            }
            Ok(got) => {
                let got = got.min(room.len());
                long::done(p, got);
                let (from, data) = (address::encode_known(&mut p.heap, &from), p.heap.binary(&room[..got]));
                request.package(read, got);
                let pair = p.heap.tuple(&[from, data]);
                Ok(ok_with(&mut p.heap, pair))
            }
        }
    })
}

/// (Socket, Bytes, ControlBytes, Flags, Handle): `{ok, #{addr, iov, ctrl, flags}}`
fn receive_message(p: &mut Process, a: &[Term]) -> NativeResult {
    let (request, [asked, asked_control]) = match request(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    let mut read = request.socket.read();
    let read = &mut *read;
    if let Some(answer) = request.turn(p, read) {
        return answer;
    }
    let wanted = if asked == 0 { read.buffer_bytes } else { asked };
    let control_bytes = if asked_control == 0 { read.control_bytes } else { asked_control };
    long::room(p, wanted.saturating_add(control_bytes))?;
    request.tried(read);
    let fd = request.socket.fd();
    bytes::with_room(wanted, |room| {
        let mut from = Address::empty();
        // Words, for the system aligns the messages.
        let mut control = vec![0u64; control_bytes.div_ceil(8)];
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        // SAFETY: plain numbers and pointers, for which zeros are valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        let (pointer, len) = from.target();
        (message.msg_name, message.msg_namelen) = (pointer.cast(), *len);
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), control_bytes);
        let target = &raw mut message;
        // SAFETY: what the message points to is room as large as said.
        match uninterrupted(|| unsafe { libc::recvmsg(fd, target, request.flags) }) {
            Err(code) => request.failed(p, read, code),
            Ok(0) if request.socket.is_stream() => {
                request.socket.count(&mut read.traffic.fails, 1, "read_fails");
                Ok(closed(&mut p.heap))
            }
            Ok(got) => {
                long::done(p, got);
                *from.target().1 = message.msg_namelen;
                let heap = &mut p.heap;
                // With MSG_TRUNC the system says how long a datagram was; what there is of it is in the room.
                let data = bytes::vector(heap, &room[..got.min(room.len())]);
                let filled = message.msg_controllen.min(control_bytes);
                // SAFETY: words, of which each byte is initialised.
                let filled = unsafe { std::slice::from_raw_parts(control.as_ptr().cast::<u8>(), filled) };
                let mut fields = vec![
                    ("iov", data),
                    ("ctrl", control::decode(heap, filled)),
                    ("flags", control::flags_term(heap, message.msg_flags, MESSAGE_FLAGS)),
                ];
                if message.msg_namelen != 0 {
                    fields.push(("addr", address::encode_known(heap, &from)));
                }
                let fields = map_of(heap, &fields);
                request.package(read, got);
                Ok(ok_with(&mut p.heap, fields))
            }
        }
    })
}
