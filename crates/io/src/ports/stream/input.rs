//! Input: read when the poller reports it, cut into pieces, and sent to the owner.

use super::Stream;
use crate::ports::driver::After;
use crate::ports::frame;
use crate::ports::poll::{self, Interest};
use crate::ports::port::{Port, PortKind};
use heddle_runtime::task::{Context, Owned};
use heddle_term::{Atom, Term, am};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes that one read takes at most.
const CHUNK_BYTES: usize = 64 << 10;
/// Reads in a row while the descriptor fills whole chunks.
const READS: usize = 8;

thread_local! {
    /// Input is read into this buffer of the thread first, so ports that wait for input hold no buffer.
    static CHUNK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// True if a read would not wait now. Called before reading from descriptors that were given to the VM, since they may be blocking.
fn has_input(fd: RawFd) -> bool {
    let mut wait = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd, and no waiting.
    unsafe { libc::poll(&mut wait, 1, 0) != 0 }
}

#[derive(Clone, Copy)]
enum Read {
    Bytes(usize),
    Nothing,
    End,
}

/// One read. The first bytes of `to`, as many as `Read::Bytes` says, are initialised after it.
fn read(fd: RawFd, to: &mut [MaybeUninit<u8>]) -> Read {
    // SAFETY: room for as many bytes.
    let n = unsafe { libc::read(fd, to.as_mut_ptr().cast(), to.len()) };
    match n {
        0 => Read::End,
        1.. => {
            crate::ports::BYTES_IN.fetch_add(n as u64, Ordering::Relaxed);
            Read::Bytes(n as usize)
        }
        _ => match std::io::Error::last_os_error().kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted => Read::Nothing,
            // A terminal whose other side is gone reports EIO.
            _ => Read::End,
        },
    }
}

/// The side of a stream that reads.
pub(super) struct Input {
    fd: Option<OwnedFd>,
    /// The part of an unfinished packet that has been read.
    buffer: Vec<u8>,
    has_ended: bool,
    /// `eof` was sent, or the port has no input.
    end_told: bool,
    /// The status of the program, which has ended. It is reported after the rest of the input.
    status: Option<i32>,
}

impl Input {
    pub fn new(fd: Option<OwnedFd>) -> Input {
        Input { has_ended: fd.is_none(), end_told: fd.is_none(), fd, buffer: Vec::new(), status: None }
    }
    pub fn take(&mut self) -> Option<OwnedFd> {
        self.fd.take()
    }
}

impl Stream {
    pub(super) fn await_input(&self, port: &Arc<Port>) {
        if let Some(fd) = &self.input.fd {
            port.watch(fd.as_raw_fd(), Interest::Read);
        }
    }

    /// Reads: the poller reported input, or its end.
    pub(super) fn readable(&mut self, port: &Arc<Port>, context: &mut Context<'_>) -> After {
        for _ in 0..READS {
            match self.read(port) {
                Read::Bytes(n) => {
                    context.work(n / 200);
                    if n < CHUNK_BYTES {
                        break;
                    }
                }
                Read::Nothing => break,
                Read::End => return self.input_end(port),
            }
        }
        self.await_input(port);
        After::Continue
    }

    fn read(&mut self, port: &Port) -> Read {
        let Some(fd) = self.input.fd.as_ref().map(|fd| fd.as_raw_fd()) else { return Read::Nothing };
        if port.kind == PortKind::Descriptors && !has_input(fd) {
            return Read::Nothing;
        }
        if !self.input.buffer.is_empty() {
            // The input is appended to the part of a packet that was read before.
            let mut buffer = std::mem::take(&mut self.input.buffer);
            let old = buffer.len();
            buffer.reserve(CHUNK_BYTES);
            let read = read(fd, &mut buffer.spare_capacity_mut()[..CHUNK_BYTES]);
            if let Read::Bytes(n) = read {
                // SAFETY: `n` bytes were written there.
                unsafe { buffer.set_len(old + n) };
                let used = deliver_whole(port, &buffer);
                buffer.drain(..used);
            }
            if !buffer.is_empty() {
                self.input.buffer = buffer;
            }
            return read;
        }
        // Most reads end with a whole packet, and leave nothing for the port to keep.
        let mut chunk = CHUNK.take();
        chunk.clear();
        chunk.reserve(CHUNK_BYTES);
        let read = read(fd, &mut chunk.spare_capacity_mut()[..CHUNK_BYTES]);
        if let Read::Bytes(n) = read {
            // SAFETY: `read` initialised the first `n` bytes.
            unsafe { chunk.set_len(n) };
            let used = deliver_whole(port, &chunk);
            self.input.buffer = chunk[used..].to_vec();
        }
        CHUNK.set(chunk);
        read
    }

    /// Delivers what is left when the input has ended.
    fn deliver_rest(&mut self, port: &Port) {
        let buffer = std::mem::take(&mut self.input.buffer);
        if let Some(rest) = frame::rest(port.packet, &buffer) {
            port.deliver(rest);
        }
    }

    fn input_end(&mut self, port: &Port) -> After {
        if !port.exit_status {
            self.deliver_rest(port);
        }
        if let Some(input) = self.input.take() {
            poll::forget(input.as_raw_fd());
        }
        self.input.has_ended = true;
        // The status goes before the end of input: programs close the port at `eof` and then look for the status.
        let status = self.input.status.take();
        if status.is_some() || !port.exit_status { self.report_end(port, status) } else { After::Continue }
    }

    /// Called when the program has ended with this status.
    pub fn exited(&mut self, port: &Port, status: i32) -> After {
        if self.is_closing || self.is_output_only {
            return After::Continue;
        }
        if !self.input.has_ended {
            // The rest of its output is delivered first.
            self.input.status = Some(status);
            return After::Continue;
        }
        self.report_end(port, Some(status))
    }

    fn report_end(&mut self, port: &Port, status: Option<i32>) -> After {
        if let Some(status) = status
            && port.exit_status
        {
            // As in stock an unfinished line comes after the status: programs that read lines expect it there.
            port.tell_owner(|heap| heap.tuple(&[Atom::new("exit_status").into(), Term::small(status as i64)]));
            self.deliver_rest(port);
        }
        if !port.eof {
            return After::Close(Owned::atom(am::NORMAL));
        }
        if !std::mem::replace(&mut self.input.end_told, true) {
            port.tell_owner(|_| Atom::new("eof").into());
        }
        After::Continue
    }
}

/// Returns how many bytes were in whole pieces.
fn deliver_whole(port: &Port, bytes: &[u8]) -> usize {
    let (pieces, used) = frame::cut(port.packet, bytes);
    for piece in pieces {
        port.deliver(piece);
    }
    used
}
