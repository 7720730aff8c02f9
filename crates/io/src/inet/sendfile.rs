//! Sending a file over a connection (`file:sendfile`): the system copies, so no byte passes through the VM.

use super::reason::{Reason, Reply};
use super::request::Request;
use super::tcp::{Phase, Tcp};
use crate::ports::BYTES_OUT;
use crate::ports::port::Port;
use crate::ports::queue::Queue;
use heddle_term::{Atom, Heap, Term, am};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Most bytes of one system call. Guessed: a disk that is slow holds the thread no longer than this takes.
const CHUNK: u64 = 1 << 20;
/// Calls before other ports have their turn.
const CALLS: usize = 16;

pub struct SendFile {
    /// A copy of the program's descriptor, so the program may close the file meanwhile.
    file: OwnedFd,
    offset: i64,
    /// Bytes that are still to be sent, if the file has them.
    left: u64,
    sent: u64,
    caller: u64,
    /// What other processes send meanwhile. It comes after the file.
    pub after: Queue,
}

impl SendFile {
    /// Sends what the connection takes. Returns true if all is sent, or the file has no more.
    pub fn write(&mut self, fd: &OwnedFd) -> Result<bool> {
        for _ in 0..CALLS {
            if self.left == 0 {
                return Ok(true);
            }
            // SAFETY: a system call on two open descriptors, which writes the offset.
            let n = unsafe { libc::sendfile(fd.as_raw_fd(), self.file.as_raw_fd(), &mut self.offset, self.left.min(CHUNK) as usize) };
            match n {
                0 => return Ok(true),
                1.. => {
                    self.sent += n as u64;
                    self.left -= n as u64;
                    BYTES_OUT.fetch_add(n as u64, Ordering::Relaxed);
                }
                _ => {
                    let error = Error::last_os_error();
                    match error.kind() {
                        ErrorKind::Interrupted => {}
                        ErrorKind::WouldBlock => return Ok(false),
                        _ => return Err(error),
                    }
                }
            }
        }
        Ok(false)
    }

    /// `{sendfile, Port, Result}`
    fn tell(&self, port: &Port, result: impl FnOnce(&mut Heap) -> Term) {
        port.send(self.caller, |heap| {
            let result = result(heap);
            heap.tuple(&[Atom::new("sendfile").into(), port.term(), result])
        });
    }

    /// The result is `{ok, Low, High}`: the lower and the upper 32 bits of how many bytes were sent.
    pub fn tell_sent(&self, port: &Port) {
        let (low, high) = (Term::small((self.sent & 0xffff_ffff) as i64), Term::small((self.sent >> 32) as i64));
        self.tell(port, |heap| heap.tuple(&[am::OK.into(), low, high]));
    }

    pub fn fail(&self, port: &Port, reason: Reason) {
        let reason = if matches!(reason, "econnreset" | "enotconn" | "epipe") { "closed" } else { reason };
        self.tell(port, |heap| heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()]));
    }
}

impl Tcp {
    /// `[Descriptor:32 (in the computer's order), Offset:64, Length:64]`. The answer is a message to the caller.
    pub(super) fn send_file(&mut self, port: &Arc<Port>, caller: u64, data: &[u8]) -> Reply {
        let parse = |data: &[u8]| {
            let mut request = Request(data);
            let file = i32::from_ne_bytes(request.bytes(4)?.try_into().ok()?);
            let offset = i64::from_be_bytes(request.bytes(8)?.try_into().ok()?);
            let length = i64::from_be_bytes(request.bytes(8)?.try_into().ok()?);
            request.0.is_empty().then_some((file, offset, u64::try_from(length).ok()?))
        };
        let (file, offset, left) = parse(data).ok_or("einval")?;
        if self.phase != Phase::Connected {
            return Err("enotconn");
        }
        if self.output.file.is_some() || offset < 0 {
            return Err("einval");
        }
        if file < 0 {
            return Err("ebadf");
        }
        // SAFETY: borrowed for one system call, which fails for what is no descriptor.
        let file = unsafe { BorrowedFd::borrow_raw(file) }.try_clone_to_owned().map_err(|e| super::reason::name_of(&e))?;
        self.output.file = Some(Box::new(SendFile { file, offset, left, sent: 0, caller, after: Queue::default() }));
        self.flush(port);
        Ok(Vec::new())
    }
}
