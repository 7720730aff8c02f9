//! Sending a file: the system copies it to the socket. The socket keeps a descriptor of the file until all is sent.

use super::answer::{atom, error, ok, ok_with, out_of_range, raise_select, raise_state, wrong_state};
use super::counters::SendfileFigures;
use super::handle::Handle;
use super::requestors::Requestor;
use super::send::{turn, watch};
use super::socket::{Socket, WriteSide, state};
use crate::files::file::{OpenFile, blocking};
use crate::ports::poll::Interest;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, big};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "prim_socket" => {
        "nif_sendfile"/1 => finish,
        "nif_sendfile"/4 => go_on,
        "nif_sendfile"/5 => start,
    }
}

/// Most bytes that one call of the system sends.
const CHUNK_BYTES: u64 = 0x2000_0000;

/// Handle, offset and count (0: to the end of the file); `Err` has the answer for others.
fn numbers(p: &mut Process, a: &[Term]) -> Result<(Handle, i64, u64), NativeResult> {
    let Some(handle) = Handle::of(a[1]) else { return Err(Err(p.badarg())) };
    match (big::to_i64(a[2]), big::to_u64(a[3])) {
        (Some(offset), Some(count)) => Ok((handle, offset, count)),
        _ if !a[3].is_integer() => Err(Err(p.badarg())),
        // As in stock, an offset that is no number is out of range too.
        (None, _) => Err(Ok(out_of_range(&mut p.heap, a[2]))),
        _ => Err(Ok(out_of_range(&mut p.heap, a[3]))),
    }
}

/// (Socket, Handle, Offset, Count, File)
fn start(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (handle, offset, count) = match numbers(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    if !a[4].is_reference() {
        return Err(p.badarg());
    }
    blocking()?;
    let me = Requestor { pid: p.pid(), handle };
    let mut write = socket.write();
    if let Err(answer) = turn(p, &mut write, me) {
        drop(write);
        watch(&socket, me.pid);
        return answer;
    }
    if write.file.is_some() {
        return Ok(wrong_state(&mut p.heap));
    }
    let file = match args::resource::<OpenFile>(a[4]) {
        Some(file) => file.duplicate(me.pid),
        None => {
            let reason = p.heap.tuple(&[atom("invalid"), atom("efile")]);
            return Ok(fail(p, &socket, &mut write, "einval", reason));
        }
    };
    let file = match file {
        Ok(file) => file,
        Err(code) => {
            let name = crate::errno::name(code);
            return Ok(fail(p, &socket, &mut write, name, atom(name)));
        }
    };
    let figures = write.sendfile.get_or_insert_default();
    figures.tries += 1;
    figures.begun = 0;
    transfer(p, &socket, write, me, file, offset, count)
}

/// (Socket, Handle, Offset, Count): after the process was told to go on.
fn go_on(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    let (handle, offset, count) = match numbers(p, a) {
        Ok(known) => known,
        Err(answer) => return answer,
    };
    blocking()?;
    let me = Requestor { pid: p.pid(), handle };
    let mut write = socket.write();
    if !write.is_open() {
        return Ok(super::answer::closed(&mut p.heap));
    }
    if write.connector.is_some() {
        return Ok(wrong_state(&mut p.heap));
    }
    if write.writers.current.is_none_or(|current| current.pid != me.pid) {
        return Err(raise_state(p));
    }
    let Some(file) = write.file.take() else { return Err(raise_state(p)) };
    transfer(p, &socket, write, me, file, offset, count)
}

/// (Socket): closes the file that is kept.
fn finish(p: &mut Process, a: &[Term]) -> NativeResult {
    let socket = Socket::of(p, a[0])?;
    blocking()?;
    let file = socket.write().file.take();
    match file {
        Some(_) => Ok(ok()),
        None => Ok(wrong_state(&mut p.heap)),
    }
}

/// `{ok, Sent}`, or `{select, Sent}` if the process will be told when to go on.
fn transfer(
    p: &mut Process,
    socket: &Arc<Socket>,
    mut write: super::socket::Write<'_>,
    me: Requestor,
    file: OwnedFd,
    offset: i64,
    count: u64,
) -> NativeResult {
    let side: &mut WriteSide = &mut write;
    let figures = side.sendfile.get_or_insert_default();
    let (sent, end) = copy(socket.fd(), file.as_raw_fd(), offset, count, figures);
    let sent_term = p.heap.unsigned(sent);
    match end {
        End::Done => {
            if side.writers.current.is_some() {
                socket.next_writer(side);
            }
            Ok(ok_with(&mut p.heap, sent_term))
        }
        End::Full => {
            side.writers.current = Some(me);
            if socket.select(Interest::Write, me).is_err() {
                socket.abort_waiting(&mut side.writers, "einval");
                return Err(raise_select(p, "select_write"));
            }
            side.file = Some(file);
            figures_of(side).waits += 1;
            side.state |= state::SELECTED;
            drop(write);
            watch(socket, me.pid);
            Ok(p.heap.tuple(&[atom("select"), sent_term]))
        }
        End::Error(code) => {
            let name = crate::errno::name(code);
            Ok(fail(p, socket, side, name, atom(name)))
        }
    }
}

fn figures_of(write: &mut WriteSide) -> &mut SendfileFigures {
    write.sendfile.get_or_insert_default()
}

fn fail(p: &mut Process, socket: &Arc<Socket>, write: &mut WriteSide, name: &str, reason: Term) -> Term {
    figures_of(write).fails += 1;
    if write.writers.current.is_some() {
        socket.abort_waiting(&mut write.writers, name);
    }
    error(&mut p.heap, reason)
}

enum End {
    Done,
    /// The socket takes no more now.
    Full,
    Error(i32),
}

/// Copies `count` bytes (0: to the end) of the file. Returns how many it copied.
fn copy(socket: RawFd, file: RawFd, mut offset: i64, count: u64, figures: &mut SendfileFigures) -> (u64, End) {
    let mut sent = 0;
    loop {
        let chunk = if count == 0 { CHUNK_BYTES } else { CHUNK_BYTES.min(count - sent) };
        let before = offset;
        // SAFETY: calls on open descriptors, and a place for the offset.
        let result = unsafe { libc::sendfile(socket, file, &raw mut offset, chunk as usize) };
        let code = if result < 0 { super::answer::last_errno() } else { 0 };
        let copied = (offset - before).max(0) as u64;
        figures.calls += 1;
        if copied != 0 {
            sent += copied;
            figures.packages += 1;
            figures.bytes += copied;
            figures.largest_package = figures.largest_package.max(sent);
            figures.begun += copied;
            figures.largest = figures.largest.max(figures.begun);
        }
        if count != 0 && sent == count {
            return (sent, End::Done);
        }
        match code {
            0 if copied == 0 => return (sent, End::Done),
            0 | libc::EINTR => {}
            libc::EAGAIN => return (sent, End::Full),
            code => return (sent, End::Error(code)),
        }
    }
}
