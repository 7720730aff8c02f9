//! What ports send to their owner: `{Port, {data, Data}}`.

use crate::binary::{self, DriverBinary};
use crate::instance::Instance;
use heddle_io::ports;
use heddle_io::ports::frame;
use heddle_io::ports::options::Packet;
use heddle_term::{Atom, Heap, Term};
use std::sync::atomic::Ordering;

/// A piece of data: bytes, and the binary of the library in which they are.
pub struct Piece<'a> {
    pub bytes: &'a [u8],
    pub binary: Option<*mut DriverBinary>,
}

impl Piece<'_> {
    /// The term for the piece, of a port that sends binaries.
    fn term(&self, heap: &mut Heap) -> Term {
        match self.binary {
            Some(binary) => {
                let offset = self.bytes.as_ptr() as usize - binary::data(binary) as usize;
                // SAFETY: the piece is in the binary.
                unsafe { binary::term(heap, binary, offset, self.bytes.len()) }
            }
            None => heap.binary(self.bytes),
        }
    }
}

fn bytes_of<'a>(head: &'a [u8], pieces: &'a [Piece<'_>]) -> Vec<u8> {
    [head].into_iter().chain(pieces.iter().map(|piece| piece.bytes)).flatten().copied().collect()
}

/// Sends the pieces after the bytes of `head`. No pieces: `head` alone.
pub fn send(instance: &Instance, head: &[u8], pieces: &[Piece<'_>]) {
    let port = &instance.port;
    let bytes = head.len() + pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
    port.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    ports::BYTES_IN.fetch_add(bytes as u64, Ordering::Relaxed);
    port.tell_owner(|heap| {
        let data = if port.binary {
            let mut all: Vec<Term> = head.iter().map(|&byte| Term::small(byte as i64)).collect();
            all.extend(pieces.iter().map(|piece| piece.term(heap)));
            // The last piece is the tail, so a single one is a binary and no list.
            let tail = if pieces.is_empty() { Term::NIL } else { all.pop().unwrap_or(Term::NIL) };
            heap.list_with_tail(&all, tail)
        } else {
            heap.byte_list(&bytes_of(head, pieces))
        };
        heap.tuple(&[Atom::new("data").into(), data])
    });
}

/// The same for a port that was opened with the option `line`: whole lines, one by one.
pub fn send_lines(instance: &Instance, head: &[u8], bytes: &[u8]) {
    let mut line = instance.line.lock().unwrap();
    line.extend_from_slice(head);
    line.extend_from_slice(bytes);
    let (pieces, used) = frame::cut(instance.port.packet, &line);
    for piece in pieces {
        instance.port.deliver(piece);
    }
    line.drain(..used);
}

pub fn is_in_lines(instance: &Instance) -> bool {
    matches!(instance.port.packet, Packet::Line(_))
}

/// Sends the rest that is no whole line.
pub fn end_of_lines(instance: &Instance) {
    let line = std::mem::take(&mut *instance.line.lock().unwrap());
    if is_in_lines(instance)
        && let Some(rest) = frame::rest(instance.port.packet, &line)
    {
        instance.port.deliver(rest);
    }
}
