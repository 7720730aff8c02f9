//! What comes in: read when the poller says that there is something, cut into pieces, and sent to the owner.

use super::body::Body;
use super::frame::{self, Piece};
use super::poll::{self, Interest};
use super::port::Kind;
use heddle_runtime::task::{Context, Next, Owned};
use heddle_term::{Atom, Heap, Term, am};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::Ordering;

/// Bytes that one read takes at most.
const CHUNK_BYTES: usize = 64 << 10;
/// Reads in a row while the descriptor fills whole chunks.
const READS: usize = 8;

thread_local! {
    /// What is read goes here first: ports that wait for input need no memory for it.
    static CHUNK: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// True if a read would not wait now. Asked for descriptors that were given to the VM, which may be blocking ones.
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

/// One read; the bytes that it says are written.
fn read(fd: RawFd, to: &mut [MaybeUninit<u8>]) -> Read {
    // SAFETY: room for as many bytes.
    let n = unsafe { libc::read(fd, to.as_mut_ptr().cast(), to.len()) };
    match n {
        0 => Read::End,
        1.. => {
            super::BYTES_IN.fetch_add(n as u64, Ordering::Relaxed);
            Read::Bytes(n as usize)
        }
        _ => match std::io::Error::last_os_error().kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted => Read::Nothing,
            // A terminal whose other side went says EIO.
            _ => Read::End,
        },
    }
}

impl Body {
    pub(super) fn await_input(&self) {
        if let Some(fd) = &self.input {
            self.port.watch(fd.as_raw_fd(), Interest::Read);
        }
    }

    /// There is input, or its end.
    pub(super) fn readable(&mut self, context: &mut Context<'_>) -> Next {
        for _ in 0..READS {
            match self.read() {
                Read::Bytes(n) => {
                    context.work(n / 200);
                    if n < CHUNK_BYTES {
                        break;
                    }
                }
                Read::Nothing => break,
                Read::End => return self.input_end(context),
            }
        }
        self.await_input();
        Next::Wait
    }

    fn read(&mut self) -> Read {
        let Some(fd) = self.input.as_ref().map(|fd| fd.as_raw_fd()) else { return Read::Nothing };
        if self.port.kind == Kind::Descriptors && !has_input(fd) {
            return Read::Nothing;
        }
        if !self.buffer.is_empty() {
            // The input goes after the part of a packet that is there already.
            let mut buffer = std::mem::take(&mut self.buffer);
            let old = buffer.len();
            buffer.reserve(CHUNK_BYTES);
            let read = read(fd, &mut buffer.spare_capacity_mut()[..CHUNK_BYTES]);
            if let Read::Bytes(n) = read {
                // SAFETY: `n` bytes were written there.
                unsafe { buffer.set_len(old + n) };
                let used = self.deliver_whole(&buffer);
                buffer.drain(..used);
            }
            if !buffer.is_empty() {
                self.buffer = buffer;
            }
            return read;
        }
        // Mostly whole packets come, and nothing of them stays with the port.
        let mut chunk = CHUNK.take();
        chunk.clear();
        chunk.reserve(CHUNK_BYTES);
        let read = read(fd, &mut chunk.spare_capacity_mut()[..CHUNK_BYTES]);
        if let Read::Bytes(n) = read {
            // SAFETY: as above.
            unsafe { chunk.set_len(n) };
            let used = self.deliver_whole(&chunk);
            self.buffer = chunk[used..].to_vec();
        }
        CHUNK.set(chunk);
        read
    }

    /// How many bytes were in whole pieces.
    fn deliver_whole(&self, bytes: &[u8]) -> usize {
        let (pieces, used) = frame::cut(self.port.packet, bytes);
        for piece in pieces {
            self.deliver(piece);
        }
        used
    }

    /// What is left at the end.
    fn deliver_rest(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if let Some(rest) = frame::rest(self.port.packet, &buffer) {
            self.deliver(rest);
        }
    }

    pub(crate) fn deliver(&self, piece: Piece<'_>) {
        let port = &self.port;
        port.bytes_in.fetch_add(piece.len() as u64, Ordering::Relaxed);
        let bytes = |heap: &mut Heap, b: &[u8]| if port.binary { heap.binary(b) } else { heap.byte_list(b) };
        port.tell_owner(|heap| {
            let data = match piece {
                Piece::Data(b) => bytes(heap, b),
                Piece::Line(whole, b) => {
                    let data = bytes(heap, b);
                    heap.tuple(&[Atom::new(if whole { "eol" } else { "noeol" }).into(), data])
                }
            };
            heap.tuple(&[Atom::new("data").into(), data])
        });
    }

    fn input_end(&mut self, context: &mut Context<'_>) -> Next {
        if !self.port.exit_status {
            self.deliver_rest();
        }
        if let Some(input) = self.input.take() {
            poll::forget(input.as_raw_fd());
        }
        self.input_ended = true;
        // The status goes before the end of input: programs close the port at `eof` and then look for the status.
        let status = self.status.take();
        if status.is_some() || !self.port.exit_status { self.report_end(status, context) } else { Next::Wait }
    }

    /// The program ended.
    pub fn exited(&mut self, status: i32, context: &mut Context<'_>) -> Next {
        if self.closing.is_some() || self.is_output_only {
            return Next::Wait;
        }
        if !self.input_ended {
            // Its last output comes first.
            self.status = Some(status);
            return Next::Wait;
        }
        self.report_end(Some(status), context)
    }

    fn report_end(&mut self, status: Option<i32>, context: &mut Context<'_>) -> Next {
        if let Some(status) = status
            && self.port.exit_status
        {
            // As in stock an unfinished line comes after the status: programs that read lines expect it there.
            self.port.tell_owner(|heap| heap.tuple(&[Atom::new("exit_status").into(), Term::small(status as i64)]));
            self.deliver_rest();
        }
        if !self.port.eof {
            return self.close(Owned::atom(am::NORMAL), false, context);
        }
        if !std::mem::replace(&mut self.end_told, true) {
            self.port.tell_owner(|_| Atom::new("eof").into());
        }
        Next::Wait
    }
}
