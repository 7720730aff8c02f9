//! Large input that is not cut into packets: read into the memory of the binary that the process gets, so it is not copied.

use super::input::{Read, data_term};
use super::tcp::Tcp;
use crate::packet::PacketKind;
use crate::ports::port::Port;
use heddle_term::refbin::RefBin;
use heddle_term::{Heap, Term};
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Smaller reads are copied: that costs less than memory that stays half empty.
const MIN_BYTES: usize = 4096;

/// A block of memory that a read filled, with the reference that its binary will have.
pub struct Block {
    memory: *mut RefBin,
    bytes: usize,
}

impl Block {
    /// The binary with the bytes. Takes over the reference.
    fn term(self, heap: &mut Heap) -> Term {
        heap.bin_ref(self.memory, self.bytes as u64 * 8)
    }
}

impl Tcp {
    /// Bytes that the next read asks for, if it may go into a binary of its own: input is delivered as it comes, and the process waits for that
    /// many bytes, or the last read was a large one.
    pub(super) fn block_bytes(&self) -> Option<usize> {
        let options = &self.socket.options;
        let fits = self.input.is_empty() && options.binary && options.term && options.header == 0 && self.framing().kind == PacketKind::Raw;
        let bytes = match self.input.wanted_bytes() {
            Some(bytes) if bytes > 0 => bytes,
            _ => self.input.bulk_bytes,
        };
        (fits && bytes >= MIN_BYTES).then_some(bytes)
    }

    /// Reads once, and delivers what came unless a process waits for more.
    pub(super) fn read_block(&mut self, port: &Arc<Port>, bytes: usize) -> Read {
        let Some(fd) = self.socket.fd.as_ref().map(|fd| fd.as_raw_fd()) else { return Read::Nothing };
        let memory = RefBin::allocate(bytes);
        // SAFETY: a fresh block of `bytes` bytes that nothing else has.
        let n = unsafe { libc::read(fd, RefBin::data(memory).cast(), bytes) };
        let outcome = self.outcome(port, n, bytes);
        let count = n.max(0) as usize;
        let is_part = self.input.wanted_bytes().is_some_and(|wanted| wanted > count);
        self.input.bulk_bytes = match count {
            _ if count < bytes / 2 => 0,
            _ if count == bytes => self.socket.options.more_than(bytes),
            _ => bytes,
        };
        if count > 0 && !is_part && self.input.bulk_bytes != 0 {
            self.socket.received.add(count);
            let block = Block { memory, bytes: count };
            self.give(port, |_, heap, _| block.term(heap));
            return outcome;
        }
        // SAFETY: the system wrote the first `count` bytes. The block is released below, after this use.
        let data = unsafe { std::slice::from_raw_parts(RefBin::data(memory), count) };
        if is_part {
            self.input.keep(data);
        } else if count > 0 {
            self.socket.received.add(count);
            self.give(port, |_, heap, _| data_term(heap, data, 0, true));
        }
        // SAFETY: the one reference, which no binary has taken over.
        unsafe { RefBin::release(memory) };
        outcome
    }
}
