//! Closing sockets, and ending operations that wait.

use super::answer::{atom, closed, errno, error, ok, raise_state};
use super::ending::lingers;
use super::handle::Handle;
use super::socket::{Socket, state};
use crate::files::file::wait;
use crate::ports::poll::Interest;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::sched;
use heddle_term::Term;
use std::os::fd::{IntoRawFd, OwnedFd};

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_close"/1 => close,
        "nif_finalize_close"/1 => finalize,
        "nif_cancel"/3 => cancel,
    }
}

/// (Socket): `ok`: the socket is open no more, and the same process calls `finalize`. What waits has been told.
fn close(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (mut read, mut write) = socket.both();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    socket.stop(&mut read, &mut write);
    read.closer = p.pid();
    socket.watch(&mut read, p.pid());
    Ok(ok())
}

/// (Socket): closes the descriptor, and waits for that as long as the option `linger` says.
fn finalize(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (mut read, mut write) = socket.both();
    if read.state & state::CLOSED != 0 {
        return Ok(closed(&mut p.heap));
    }
    if read.state & state::CLOSING == 0 || read.closer != p.pid() {
        return Err(raise_state(p));
    }
    if !sched::on_dirty_thread() && socket.owns_fd && lingers(socket.fd()) {
        return Err(Thrown::DirtyIo);
    }
    read.closer = 0;
    let file = write.file.take();
    let fd = socket.take_fd(&mut read, &mut write);
    drop((read, write));
    let Some(fd) = fd else { return Ok(ok()) };
    let code = if sched::on_dirty_thread() { wait(p, || close_fd(fd)) } else { close_fd(fd) };
    drop(file);
    match code {
        0 => Ok(ok()),
        libc::EAGAIN => Ok(error(&mut p.heap, atom("timeout"))),
        code => Ok(errno(&mut p.heap, code)),
    }
}

/// Closes the descriptor, with all waiting that the option `linger` wants. Returns the number of an error, or 0. The descriptor stays in
/// its mode, in which the system does not wait: others may share that.
fn close_fd(fd: OwnedFd) -> i32 {
    // SAFETY: the descriptor is open, nothing else has it, and it is closed once.
    if unsafe { libc::close(fd.into_raw_fd()) } == 0 { 0 } else { super::answer::last_errno() }
}

#[derive(Clone, Copy)]
enum Operation {
    Connect,
    Accept,
    Send,
    Receive,
}

/// (Socket, Operation, Handle): `ok` if the process will not be told, `select_sent` if it was, or `not_found`.
fn cancel(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (Some(name), Some(handle)) = (a[1].as_atom(), Handle::of(a[2])) else { return Err(p.badarg()) };
    let operation = match name.name() {
        "connect" => Operation::Connect,
        "accept" => Operation::Accept,
        "send" | "sendto" | "sendmsg" | "sendv" | "sendfile" => Operation::Send,
        "recv" | "recvfrom" | "recvmsg" => Operation::Receive,
        _ => {
            let is_open = socket.read().is_open();
            return if is_open { Err(p.badarg()) } else { Ok(closed(&mut p.heap)) };
        }
    };
    let (mut read, mut write) = socket.both();
    if !read.is_open() {
        return Ok(closed(&mut p.heap));
    }
    let (read, write, me) = (&mut *read, &mut *write, p.pid());
    if let Operation::Connect = operation {
        if write.connector.is_none_or(|connector| connector.pid != me || connector.handle != handle) {
            return Ok(error(&mut p.heap, atom("not_found")));
        }
        write.connector = None;
        write.state &= !state::CONNECTING;
        return Ok(cancelled(socket.cancel_select(Interest::Write)));
    }
    let (all, interest) = match operation {
        Operation::Accept => (&mut read.acceptors, Interest::Read),
        Operation::Receive => (&mut read.readers, Interest::Read),
        _ => (&mut write.writers, Interest::Write),
    };
    match all.current {
        Some(current) if current.pid == me => {
            if current.handle != handle {
                return Ok(atom("not_found"));
            }
        }
        Some(_) => return Ok(if all.unqueue(me, Some(handle)) { ok() } else { atom("not_found") }),
        None => return Ok(atom("not_found")),
    }
    let result = cancelled(socket.cancel_select(interest));
    match operation {
        Operation::Accept => socket.next_acceptor(read),
        Operation::Receive => socket.next_reader(read),
        _ => socket.next_writer(write),
    }
    Ok(result)
}

fn cancelled(is_in_time: bool) -> Term {
    if is_in_time { ok() } else { atom("select_sent") }
}
