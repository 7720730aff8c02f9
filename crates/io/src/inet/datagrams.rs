//! Datagrams that come in: read when a process wants them, and given to the owner (active) or to the process that asked (passive).

use super::address::Address;
use super::ancillary::{self, Item, Room};
use super::input::data_term;
use super::options::Active;
use super::reason::{Reason, name_of};
use super::udp::Udp;
use crate::ports::port::Port;
use heddle_term::{Atom, Heap, Term, am};
use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A buffer larger than this is not kept for the next datagram.
const KEPT_BYTES: usize = 256 << 10;
/// No datagram is larger than this.
const LARGEST: usize = 64 << 20;

thread_local! {
    /// Where a thread reads datagrams. Sockets have no buffer of their own, since a datagram is delivered as soon as it is read.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A datagram, whose data is in the thread's buffer.
struct Datagram {
    from: Address,
    /// None if the socket does not want ancillary data.
    ancillary: Option<Vec<Item>>,
}

impl Udp {
    fn is_wanted(&self) -> bool {
        self.socket.is_open() && (self.socket.options.active != Active::No || self.waiting.is_some())
    }

    /// Called when `active` was set: delivers what has come and asks for more.
    pub(super) fn activated(&mut self, port: &Arc<Port>) {
        if self.socket.options.active == Active::Count(0) {
            self.become_passive(port);
        }
        self.take_input(port);
    }

    /// Reads and delivers datagrams, as long as a process wants them and there are some.
    pub(super) fn take_input(&mut self, port: &Arc<Port>) {
        let mut buffer = BUFFER.take();
        for _ in 0..self.socket.options.read_packets {
            if !self.is_wanted() {
                break;
            }
            let Some(fd) = &self.socket.fd else { break };
            let bytes = self.socket.options.buffer_bytes.min(LARGEST);
            match read(fd, &mut buffer, bytes, self.socket.options.has_ancillary()) {
                Ok(datagram) => self.deliver(port, &datagram, &buffer),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EWOULDBLOCK | libc::EINTR) => break,
                    _ => self.fail(port, name_of(&error)),
                },
            }
        }
        if buffer.capacity() <= KEPT_BYTES {
            BUFFER.set(buffer);
        }
        if self.is_wanted() {
            self.arm(port);
        }
    }

    fn deliver(&mut self, port: &Arc<Port>, datagram: &Datagram, data: &[u8]) {
        self.socket.received.add(data.len());
        crate::ports::BYTES_IN.fetch_add(data.len() as u64, Ordering::Relaxed);
        let options = &self.socket.options;
        if options.active == Active::No {
            let Some(caller) = self.waiting.take() else { return };
            caller.tell(port, |heap| {
                let all = self.with_address(heap, datagram, data, true, options.binary);
                let all = match &datagram.ancillary {
                    Some(items) => {
                        let items = ancillary::list(heap, items);
                        heap.tuple(&[all, items])
                    }
                    None => all,
                };
                heap.tuple(&[am::OK.into(), all])
            });
            return;
        }
        port.send(port.owner(), |heap| {
            if !options.term {
                let all = self.with_address(heap, datagram, data, false, port.binary);
                let inner = heap.tuple(&[Atom::new("data").into(), all]);
                return heap.tuple(&[port.term(), inner]);
            }
            let (address, number) = datagram.from.terms(heap);
            let mut message = vec![Atom::new("udp").into(), port.term(), address, number];
            if let Some(items) = &datagram.ancillary {
                message.push(ancillary::list(heap, items));
            }
            message.push(data_term(heap, data, options.header, options.binary));
            heap.tuple(&message)
        });
        self.socket.options.active = options.active.after_message();
        if self.socket.options.active == Active::Count(0) {
            self.become_passive(port);
        }
    }

    /// The bytes of the address and the data after them. `is_list`: those of the address come as a list in any case.
    fn with_address(&self, heap: &mut Heap, datagram: &Datagram, data: &[u8], is_list: bool, is_binary: bool) -> Term {
        let address = datagram.from.bytes();
        let header = self.socket.options.header + if is_list { address.len() } else { 0 };
        data_term(heap, &[&address, data].concat(), header, is_binary)
    }

    fn become_passive(&mut self, port: &Port) {
        self.socket.options.active = Active::No;
        port.send(port.owner(), |heap| heap.tuple(&[Atom::new("udp_passive").into(), port.term()]));
    }

    /// The system reports an error, mostly of an earlier send. The socket goes on.
    fn fail(&mut self, port: &Port, reason: Reason) {
        if self.socket.options.active != Active::No {
            port.send(port.owner(), |heap| heap.tuple(&[Atom::new("udp_error").into(), port.term(), Atom::new(reason).into()]));
        } else if let Some(caller) = self.waiting.take() {
            caller.fail(port, reason);
        }
    }
}

/// Reads one datagram of at most `bytes` bytes into the buffer. The rest of a longer one is lost, as in stock.
fn read(fd: &OwnedFd, buffer: &mut Vec<u8>, bytes: usize, has_ancillary: bool) -> std::io::Result<Datagram> {
    buffer.clear();
    buffer.reserve(bytes);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: bytes };
    let mut room = Room::default();
    // SAFETY: plain numbers and pointers, for which zeros are valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
    if has_ancillary {
        (message.msg_control, message.msg_controllen) = (room.bytes().as_mut_ptr().cast(), room.bytes().len());
    }
    let mut from = Address::empty();
    let (place, len) = from.target();
    (message.msg_name, message.msg_namelen) = (place.cast(), *len);
    // SAFETY: room for an address, `bytes` bytes of data, and control messages, as long as said.
    let n = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut message, 0) };
    *len = message.msg_namelen;
    if n < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the system wrote `n` bytes, which is at most what was reserved.
    unsafe { buffer.set_len(n as usize) };
    let ancillary = has_ancillary.then(|| room.items(message.msg_controllen).collect());
    Ok(Datagram { from, ancillary })
}
