//! Sending: one operation at a time; the processes that come meanwhile wait for their turn.

use super::answer::{
    atom, closed, errno, field, int, invalid, last_errno, not_in_range, ok, ok_with, raise_select, raise_state, wrong_state,
};
use super::handle::Handle;
use super::info::max_parts;
use super::requestors::{Requestor, Turn};
use super::socket::{Socket, WriteSide, state};
use super::{address, bytes, control};
use crate::inet::address::Address;
use crate::ports::poll::Interest;
use heddle_natives::{args, long};
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::Term;
use std::borrow::Cow;
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_send"/4 => send,
        "nif_sendto"/5 => sendto,
        "nif_sendmsg"/5 => sendmsg,
        "nif_sendv"/3 => sendv,
    }
}

/// What every operation asks first: `Err` has its answer if it may not send now.
pub fn turn(p: &mut Process, write: &mut WriteSide, me: Requestor) -> Result<(), NativeResult> {
    if !write.is_open() {
        return Err(Ok(closed(&mut p.heap)));
    }
    if write.connector.is_some() {
        return Err(Ok(wrong_state(&mut p.heap)));
    }
    match write.writers.turn_of(me.pid) {
        Turn::Now => Ok(()),
        Turn::Waits => Err(Err(raise_state(p))),
        Turn::Later => {
            write.writers.push(me);
            Err(Ok(atom("select")))
        }
    }
}

/// (Socket, Data, Flags, Handle)
fn send(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (Some(handle), Some(data)) = (Handle::of(a[3]), bytes::of_data(&a[1])) else { return Err(p.badarg()) };
    let Some(flags) = int(a[2]) else { return not_in_range(p, a[2]) };
    operate(p, &socket, handle, |fd| {
        // SAFETY: the bytes live, and are as many as said.
        let sent = unsafe { libc::send(fd, data.as_ptr().cast(), data.len(), flags | libc::MSG_DONTWAIT) };
        (sent, data.len(), false)
    })
}

/// (Socket, Data, Address, Flags, Handle)
fn sendto(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (Some(handle), Some(data)) = (Handle::of(a[4]), bytes::of_data(&a[1])) else { return Err(p.badarg()) };
    let Some(flags) = int(a[3]) else { return not_in_range(p, a[3]) };
    let Some(address) = address::decode(a[2]) else { return Ok(invalid(&mut p.heap, "sockaddr")) };
    operate(p, &socket, handle, |fd| {
        let (to, len) = address.pointer();
        // SAFETY: the bytes live, and are as many as said; so is the address.
        let sent = unsafe { libc::sendto(fd, data.as_ptr().cast(), data.len(), flags | libc::MSG_DONTWAIT, to, len) };
        (sent, data.len(), false)
    })
}

/// Calls `f` with the descriptor if it is the process's turn, and answers for what that returns: bytes that were sent (below 0: an
/// error), bytes that the caller wants sent, and whether more data stands after them.
fn operate(p: &mut Process, socket: &Arc<Socket>, handle: Handle, f: impl FnOnce(i32) -> (isize, usize, bool)) -> NativeResult {
    let me = Requestor { pid: p.pid(), handle };
    let mut write = socket.write();
    if let Err(answer) = turn(p, &mut write, me) {
        drop(write);
        watch(socket, me.pid);
        return answer;
    }
    socket.count(&mut write.traffic.tries, 1, "write_tries");
    let (sent, all, is_more) = f(socket.fd());
    let code = if sent < 0 { last_errno() } else { 0 };
    if sent > 0 {
        long::done(p, sent as usize);
    }
    let waits = write.writers.len();
    let answer = outcome(p, socket, &mut write, me, Outcome { sent, all, is_more, code });
    let has_new = write.writers.len() > waits;
    drop(write);
    if has_new {
        watch(socket, me.pid);
    }
    answer
}

/// Has the end of a process noted that waits. The caller has no lock.
pub fn watch(socket: &Arc<Socket>, pid: u64) {
    let is_there = {
        let mut read = socket.read();
        !read.is_open() || socket.watch(&mut read, pid)
    };
    if !is_there {
        socket.process_ended(pid);
    }
}

struct Outcome {
    sent: isize,
    all: usize,
    is_more: bool,
    code: i32,
}

fn outcome(p: &mut Process, socket: &Arc<Socket>, write: &mut WriteSide, me: Requestor, outcome: Outcome) -> NativeResult {
    let Outcome { sent, all, is_more, code } = outcome;
    if sent < 0 {
        return match code {
            libc::EAGAIN | libc::EINTR => retry(p, socket, write, me, None),
            code => Ok(fail(p, socket, write, code)),
        };
    }
    let sent = sent as usize;
    if sent < all || is_more {
        if !socket.is_stream() {
            // A part of a datagram is all that there is of it.
            sent_whole(socket, write, sent);
            return Ok(ok_with(&mut p.heap, Term::small(sent as i64)));
        }
        write.traffic.begun += sent as u64;
        if sent == all {
            // The caller goes on with the rest of its vector at once.
            write.writers.current = Some(me);
            return Ok(p.heap.tuple(&[atom("iov"), Term::small(sent as i64)]));
        }
        return retry(p, socket, write, me, Some(sent));
    }
    sent_whole(socket, write, sent);
    Ok(ok())
}

fn sent_whole(socket: &Arc<Socket>, write: &mut WriteSide, sent: usize) {
    socket.count(&mut write.traffic.packages, 1, "write_pkg");
    socket.count(&mut write.traffic.bytes, sent, "write_byte");
    write.traffic.whole(sent as u64);
    socket.next_writer(write);
}

/// `{error, Posix}`. The processes that wait get the error too, unless the operation itself was wrong.
fn fail(p: &mut Process, socket: &Arc<Socket>, write: &mut WriteSide, code: i32) -> Term {
    socket.count(&mut write.traffic.fails, 1, "write_fails");
    if code != libc::EINVAL && write.writers.current.is_some() {
        socket.abort_waiting(&mut write.writers, crate::errno::name(code));
    }
    errno(&mut p.heap, code)
}

/// `select`, or `{select, Sent}`: the process will be told when to go on.
fn retry(p: &mut Process, socket: &Arc<Socket>, write: &mut WriteSide, me: Requestor, sent: Option<usize>) -> NativeResult {
    write.writers.current = Some(me);
    if let Err(error) = socket.select(Interest::Write, me) {
        socket.abort_waiting(&mut write.writers, crate::errno::name(error.raw_os_error().unwrap_or(libc::EIO)));
        return Err(raise_select(p, "select_write"));
    }
    socket.count(&mut write.traffic.waits, 1, "write_waits");
    write.state |= state::SELECTED;
    Ok(match sent {
        None => atom("select"),
        Some(sent) => p.heap.tuple(&[atom("select"), Term::small(sent as i64)]),
    })
}

/// A list of binaries for one call.
struct Vector<'a> {
    parts: Vec<Cow<'a, [u8]>>,
    /// True if there are more bytes than one call takes.
    is_more: bool,
}

impl<'a> Vector<'a> {
    /// None: it is no list of binaries, or too long for one datagram.
    fn of(list: &'a [Term], is_stream: bool) -> Option<Vector<'a>> {
        let mut parts = list.iter().map(bytes::of).collect::<Option<Vec<_>>>()?;
        let rest = if parts.len() > max_parts() { parts.split_off(max_parts()) } else { Vec::new() };
        let is_more = rest.iter().any(|part| !part.is_empty());
        if is_more && !is_stream { None } else { Some(Vector { parts, is_more }) }
    }

    fn len_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    fn pointers(&self) -> Vec<libc::iovec> {
        self.parts.iter().map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() }).collect()
    }
}

/// (Socket, Binaries, Handle)
fn sendv(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(handle) = Handle::of(a[2]) else { return Err(p.badarg()) };
    if let Some(answer) = not_yet(p, &socket, handle)? {
        return Ok(answer);
    }
    let list = args::list(a[1]);
    let vector = list.as_deref().and_then(|list| Vector::of(list, socket.is_stream()));
    let Some(vector) = vector else { return Ok(invalid(&mut p.heap, "iov")) };
    operate(p, &socket, handle, |fd| {
        let sent = send_message(fd, None, &mut vector.pointers(), &[], 0);
        (sent, vector.len_bytes(), vector.is_more)
    })
}

/// The answer if a vector need not be looked at yet: the socket cannot send, or it is another process's turn.
fn not_yet(p: &mut Process, socket: &Arc<Socket>, handle: Handle) -> Result<Option<Term>, Thrown> {
    let me = Requestor { pid: p.pid(), handle };
    let mut write = socket.write();
    match turn(p, &mut write, me) {
        Ok(()) => Ok(None),
        Err(answer) => {
            drop(write);
            watch(socket, me.pid);
            answer.map(Some)
        }
    }
}

/// (Socket, #{addr, ctrl}, Flags, Handle, Binaries)
fn sendmsg(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(handle) = Handle::of(a[3]).filter(|_| a[1].is_map()) else { return Err(p.badarg()) };
    let Some(flags) = int(a[2]) else { return not_in_range(p, a[2]) };
    if let Some(answer) = not_yet(p, &socket, handle)? {
        return Ok(answer);
    }
    let address = match field(a[1], "addr") {
        None => None,
        Some(address) => match address::decode(address) {
            None => return Ok(invalid(&mut p.heap, "addr")),
            known => known,
        },
    };
    let list = args::list(a[4]);
    let vector = list.as_deref().and_then(|list| Vector::of(list, socket.is_stream()));
    let Some(vector) = vector else { return Ok(invalid(&mut p.heap, "iov")) };
    let control = match field(a[1], "ctrl") {
        None => Vec::new(),
        Some(messages) => {
            let room_bytes = socket.write().control_bytes;
            match control::encode(messages, room_bytes) {
                Some(control) => control,
                None => return Ok(invalid(&mut p.heap, "ctrl")),
            }
        }
    };
    operate(p, &socket, handle, |fd| {
        let sent = send_message(fd, address.as_ref(), &mut vector.pointers(), &control, flags);
        (sent, vector.len_bytes(), vector.is_more)
    })
}

fn send_message(fd: i32, address: Option<&Address>, parts: &mut [libc::iovec], control: &[u64], flags: i32) -> isize {
    // SAFETY: plain numbers and pointers, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    if let Some((pointer, len)) = address.map(Address::pointer) {
        (message.msg_name, message.msg_namelen) = (pointer.cast_mut().cast(), len);
    }
    (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
    if !control.is_empty() {
        (message.msg_control, message.msg_controllen) = (control.as_ptr().cast_mut().cast(), size_of_val(control));
    }
    // SAFETY: what the message points to lives, and is as large as said; the call only reads it.
    unsafe { libc::sendmsg(fd, &raw const message, flags | libc::MSG_DONTWAIT) }
}
