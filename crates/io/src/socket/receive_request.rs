//! What all operations that receive do: their arguments, whose turn it is, waiting, and errors.

use super::answer::{atom, closed, errno, int, last_errno, not_in_range, raise_select, raise_state, wrong_state};
use super::handle::Handle;
use super::requestors::{Requestor, Turn};
use super::socket::{ReadSide, Socket, state};
use crate::ports::poll::Interest;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::{Term, big};
use std::sync::Arc;

/// What the caller of an operation gave.
pub struct Request {
    pub socket: Arc<Socket>,
    pub pid: u64,
    /// None: the caller does not wait (`zero`).
    pub handle: Option<Handle>,
    flags: i32,
}

/// Takes an operation's arguments apart: the socket, numbers of bytes, flags, handle. `Err` has the answer for others.
pub fn request<const N: usize>(p: &mut Process, a: &[Term]) -> Result<(Request, [usize; N]), NativeResult> {
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
    pub fn turn(&self, p: &mut Process, read: &mut ReadSide) -> Option<NativeResult> {
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

    /// The caller's flags, and that the system must not wait: a program that shares the descriptor may have set that it does.
    pub fn flags(&self) -> i32 {
        self.flags | libc::MSG_DONTWAIT
    }

    /// True if the caller waits until more has come than these bytes of the ones that it asked for.
    pub fn is_incomplete(&self, asked: usize, all: usize) -> bool {
        all < asked && self.socket.is_stream() && self.handle.is_some()
    }

    pub fn tried(&self, read: &mut ReadSide) {
        self.socket.count(&mut read.traffic.tries, 1, "read_tries");
    }

    /// The operation is done: the next process has its turn.
    fn next(&self, read: &mut ReadSide) {
        if read.readers.current.is_some() {
            self.socket.next_reader(read);
        }
    }

    /// The process goes on itself, and the others wait.
    pub fn stay(&self, p: &mut Process, read: &mut ReadSide) {
        if let Some(handle) = self.handle {
            self.socket.watch(read, p.pid());
            read.readers.current = Some(Requestor { pid: self.pid, handle });
        }
    }

    pub fn fail(&self, read: &mut ReadSide, reason: &str) {
        if read.readers.current.is_some() {
            self.socket.abort_waiting(&mut read.readers, reason);
        }
    }

    /// The answer to an error of the system.
    pub fn failed(&self, p: &mut Process, read: &mut ReadSide, code: i32) -> NativeResult {
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
    pub fn wait(&self, p: &mut Process, read: &mut ReadSide) -> NativeResult {
        read.buffers_taken = 0;
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
    pub fn package(&self, read: &mut ReadSide, len_bytes: usize) {
        self.socket.count(&mut read.traffic.packages, 1, "read_pkg");
        self.socket.count(&mut read.traffic.bytes, len_bytes, "read_byte");
        read.traffic.whole(len_bytes as u64);
        read.buffers_taken = 0;
        self.next(read);
    }
}

/// Calls the system until no signal interrupts it. An error is its number.
pub fn uninterrupted(call: impl Fn() -> isize) -> Result<usize, i32> {
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
