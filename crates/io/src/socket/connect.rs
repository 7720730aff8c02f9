//! Addresses of a socket, connecting, listening and accepting.

use super::address;
use super::answer::{
    atom, closed, errno, error, int, invalid, last_errno, last_error, not_in_range, ok, ok_with, raise_invalid, raise_select, raise_state,
    wrong_state,
};
use super::handle::Handle;
use super::messages;
use super::open::system_int;
use super::requestors::{Requestor, Turn};
use super::socket::{ReadSide, Socket, Start, state};
use crate::inet::address::Address;
use crate::ports::poll::Interest;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::Term;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_bind"/2 => bind,
        "nif_connect"/1 => connected,
        "nif_connect"/3 => connect,
        "nif_listen"/2 => listen,
        "nif_accept"/2 => accept,
        "nif_shutdown"/2 => shutdown,
        "nif_sockname"/1 => sockname,
        "nif_peername"/1 => peername,
    }
}

fn bind(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(address) = address::decode(a[1]) else { return Ok(invalid(&mut p.heap, "sockaddr")) };
    let mut read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let (pointer, len) = address.pointer();
    // SAFETY: an address as long as said.
    if unsafe { libc::bind(socket.fd(), pointer, len) } < 0 {
        return Ok(last_error(&mut p.heap));
    }
    read.state |= state::BOUND;
    Ok(ok())
}

/// (Socket, Handle, Address): `ok`, or `select` if the process will be told when to ask again with `connected`.
fn connect(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(handle) = Handle::of(a[1]) else { return Err(p.badarg()) };
    let Some(address) = address::decode(a[2]) else { return Ok(invalid(&mut p.heap, "sockaddr")) };
    let (mut read, mut write) = socket.both();
    if !write.is_open() {
        return Ok(closed(&mut p.heap));
    }
    if write.writers.current.is_some() {
        return Ok(wrong_state(&mut p.heap));
    }
    if let Some(connector) = write.connector {
        if connector.pid != p.pid() {
            return Ok(error(&mut p.heap, atom("already")));
        }
        drop((read, write));
        return connected(p, a);
    }
    let (pointer, len) = address.pointer();
    // SAFETY: an address as long as said.
    if unsafe { libc::connect(socket.fd(), pointer, len) } == 0 {
        write.state |= state::CONNECTED;
        return Ok(ok());
    }
    match last_errno() {
        libc::EINPROGRESS => {
            let connector = Requestor { pid: p.pid(), handle };
            if socket.select(Interest::Write, connector).is_err() {
                return Err(raise_select(p, "select_write"));
            }
            socket.watch(&mut read, p.pid());
            write.connector = Some(connector);
            write.state |= state::CONNECTING | state::SELECTED;
            Ok(atom("select"))
        }
        code => Ok(errno(&mut p.heap, code)),
    }
}

/// (Socket): how connecting ended.
fn connected(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let mut write = socket.write();
    if !write.is_open() {
        return Ok(closed(&mut p.heap));
    }
    if write.writers.current.is_some() {
        return Ok(wrong_state(&mut p.heap));
    }
    if write.connector.is_none_or(|connector| connector.pid != p.pid()) {
        return Err(raise_state(p));
    }
    write.connector = None;
    write.state &= !state::CONNECTING;
    match system_int(socket.fd(), libc::SOL_SOCKET, libc::SO_ERROR).unwrap_or_else(last_errno) {
        0 => {
            write.state |= state::CONNECTED;
            Ok(ok())
        }
        code => Ok(errno(&mut p.heap, code)),
    }
}

fn listen(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let Some(backlog) = int(a[1]) else { return not_in_range(p, a[1]) };
    let mut read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    // SAFETY: a call with numbers alone.
    if unsafe { libc::listen(socket.fd(), backlog) } < 0 {
        return Ok(last_error(&mut p.heap));
    }
    read.state |= state::LISTENING;
    Ok(ok())
}

/// (Socket, Handle): `{ok, Connection}`, or `select` if the process will be told when to ask again.
fn accept(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let handle = Handle::of(a[1]);
    let pid = p.pid();
    let mut read = socket.read();
    let read = &mut *read;
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    if read.readers.current.is_some() {
        return Ok(wrong_state(&mut p.heap));
    }
    match read.acceptors.turn_of(pid) {
        Turn::Now => {}
        Turn::Waits => return Err(raise_state(p)),
        Turn::Later => {
            let Some(handle) = handle else { return Err(p.badarg()) };
            socket.watch(read, pid);
            read.acceptors.push(Requestor { pid, handle });
            return Ok(atom("select"));
        }
    }
    socket.count(&mut read.accepts.tries, 1, "acc_tries");
    // SAFETY: the address is not wanted.
    let fd = unsafe { libc::accept4(socket.fd(), std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) };
    if fd >= 0 {
        socket.count(&mut read.accepts.success, 1, "acc_success");
        if read.acceptors.current.is_some() {
            socket.next_acceptor(read);
        }
        let connection = accepted(&socket, read, fd, pid);
        let connection = connection.term(&mut p.heap);
        return Ok(ok_with(&mut p.heap, connection));
    }
    match last_errno() {
        libc::EAGAIN => {
            let Some(handle) = handle else { return Err(p.badarg()) };
            let me = Requestor { pid, handle };
            if let Some(before) = read.acceptors.current.take() {
                socket.count(&mut read.accepts.waits, 1, "acc_waits");
                if socket.cancel_select(Interest::Read) {
                    messages::abort(&socket, before, "cancelled");
                }
            }
            if socket.select(Interest::Read, me).is_err() {
                socket.next_acceptor(read);
                return Err(raise_select(p, "select_read"));
            }
            socket.watch(read, me.pid);
            read.acceptors.current = Some(me);
            read.state |= state::ACCEPTING | state::SELECTED;
            Ok(atom("select"))
        }
        code => {
            socket.count(&mut read.accepts.fails, 1, "acc_fails");
            if read.acceptors.current.is_some() {
                socket.abort_waiting(&mut read.acceptors, crate::errno::name(code));
            }
            Ok(errno(&mut p.heap, code))
        }
    }
}

/// The connection has the settings of the socket that listens.
fn accepted(socket: &Arc<Socket>, read: &ReadSide, fd: RawFd, owner: u64) -> Arc<Socket> {
    // SAFETY: the descriptor was opened just now, and nothing else has it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let connection = Socket::new(
        fd,
        &Start {
            sort: socket.sort,
            owner,
            given_fd: -1,
            owns_fd: true,
            is_debugged: socket.is_debugged.load(Ordering::Relaxed),
            is_registered: socket.is_registered.load(Ordering::Relaxed),
            is_connected: true,
        },
    );
    connection.tells_wraps.store(socket.tells_wraps.load(Ordering::Relaxed), Ordering::Relaxed);
    // No other thread knows the connection yet, so these locks are free. Its lock for reading is of the class that the caller holds one
    // of already.
    connection.inherit(read, socket.write().control_bytes);
    connection
}

fn shutdown(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let how = match a[1].as_atom().map(|how| how.name()) {
        Some("read") => libc::SHUT_RD,
        Some("write") => libc::SHUT_WR,
        Some("read_write") => libc::SHUT_RDWR,
        _ => {
            let what = p.heap.tuple(&[atom("how"), a[1]]);
            return Err(raise_invalid(p, what));
        }
    };
    let (read, _write) = socket.both();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    // SAFETY: a call with numbers alone.
    if unsafe { libc::shutdown(socket.fd(), how) } == 0 { Ok(ok()) } else { Ok(last_error(&mut p.heap)) }
}

type NameCall = unsafe extern "C" fn(RawFd, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

fn name(p: &mut Process, term: Term, call: NameCall) -> NativeResult {
    let socket = Socket::of(p, term)?;
    let read = socket.read();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let mut address = Address::empty();
    let (to, len) = address.target();
    // SAFETY: room for any address.
    if unsafe { call(socket.fd(), to, len) } < 0 {
        return Ok(last_error(&mut p.heap));
    }
    let address = address::encode_known(&mut p.heap, &address);
    Ok(ok_with(&mut p.heap, address))
}

fn sockname(p: &mut Process, a: &[Term]) -> NativeResult {
    name(p, a[0], libc::getsockname)
}

fn peername(p: &mut Process, a: &[Term]) -> NativeResult {
    name(p, a[0], libc::getpeername)
}
