//! What goes out: to the driver, or to the descriptor, at once where it takes it and queued otherwise.

use super::body::{Body, Driver};
use super::frame;
use super::poll::Interest;
use super::queue::Queue;
use crate::trace::ports;
use heddle_runtime::task::{Context, Next, Owned};
use heddle_term::{Atom, Term, am};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

pub struct Output {
    fd: Option<OwnedFd>,
    queue: Queue,
    /// The poller will say when the descriptor takes more.
    is_watched: bool,
}

impl Output {
    pub fn new(fd: Option<OwnedFd>) -> Output {
        Output { fd, queue: Queue::default(), is_watched: false }
    }
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
    pub fn bytes(&self) -> usize {
        self.queue.bytes()
    }
    pub fn take(&mut self) -> Option<OwnedFd> {
        self.fd.take()
    }
}

impl Body {
    /// A process commands. False when the port takes no output any more.
    pub fn command_from(&mut self, from: Term, data: Vec<u8>, context: &mut Context<'_>) -> (bool, Next) {
        let port = self.port.clone();
        ports::scheduled(port.term(), "command", || {
            ports::received(port.term(), from, |heap| {
                let data = heap.binary(&data);
                heap.tuple(&[Atom::new("command").into(), data])
            });
            if let Some(Driver::Tcp(_)) = self.driver {
                return (true, self.with_tcp(context, |tcp, port| tcp.send(port, from.payload(), &data)));
            }
            self.command(data)
        })
    }

    pub fn command(&mut self, data: Vec<u8>) -> (bool, Next) {
        let done = match &mut self.driver {
            Some(Driver::Ram(ram)) => Ok(Some(ram.command(&data))),
            Some(Driver::TraceFile(file)) => file.write(&data).map(|()| None),
            // Only processes send, see `command_from`.
            Some(Driver::Tcp(_)) => return (false, Next::Wait),
            Some(Driver::Resolver(resolver)) => {
                resolver.ask(&self.port, data);
                return (true, Next::Wait);
            }
            None => return self.put(data),
        };
        match done {
            Ok(Some(reply)) => self.port.tell_owner(|heap| {
                let reply = reply.build(heap, self.port.binary);
                heap.tuple(&[Atom::new("data").into(), reply])
            }),
            Ok(None) => {}
            Err(error) => return (true, Body::fail(&error)),
        }
        (true, Next::Wait)
    }

    /// Writes or queues.
    fn put(&mut self, data: Vec<u8>) -> (bool, Next) {
        if self.closing.is_some() {
            return (false, Next::Wait);
        }
        if self.output.fd.is_none() {
            // As in stock a port for input alone takes this, and ends.
            return (true, Body::fail(&std::io::Error::from_raw_os_error(libc::EBADF)));
        }
        let Some(mut message) = frame::header(self.port.packet, data.len()) else {
            // As in stock the port ends, and the caller learns nothing else.
            return (true, Body::fail(&std::io::Error::from_raw_os_error(libc::EINVAL)));
        };
        self.port.bytes_out.fetch_add(data.len() as u64, Ordering::Relaxed);
        if message.is_empty() {
            message = data;
        } else {
            message.extend(data);
        }
        self.output.queue.push(message);
        if self.output.is_watched {
            // It takes nothing now, or we were not told yet that it does.
            self.has_queued();
            return (true, Next::Wait);
        }
        (true, self.pump())
    }

    /// Writes what the descriptor takes; the port ends when the other side is gone.
    fn pump(&mut self) -> Next {
        let Some(fd) = &self.output.fd else { return Next::Wait };
        match self.output.queue.write(fd) {
            Ok(all_out) => {
                if !all_out {
                    self.output.is_watched = true;
                    self.port.watch(fd.as_raw_fd(), Interest::Write);
                }
                self.has_queued();
                if all_out && let Some(reason) = self.closing.take() { Next::Exit(reason) } else { Next::Wait }
            }
            Err(error) => {
                self.output.queue.clear();
                match self.closing.take() {
                    Some(reason) => Next::Exit(reason),
                    None => Body::fail(&error),
                }
            }
        }
    }

    pub(super) fn writable(&mut self) -> Next {
        self.output.is_watched = false;
        self.pump()
    }

    /// The number of queued bytes has changed.
    fn has_queued(&mut self) {
        let bytes = self.output.bytes();
        self.port.queued_bytes.store(bytes, Ordering::Relaxed);
        if self.closing.is_none() {
            self.port.gate.queued(bytes);
        }
    }

    /// A process closes the port: by `port_close`, or its owner by a message.
    pub fn close_by(&mut self, from: Term, tells_owner: bool, context: &mut Context<'_>) -> (bool, Next) {
        if self.closing.is_some() {
            return (false, Next::Wait);
        }
        ports::received(self.port.term(), from, |_| Atom::new("close").into());
        (true, self.close(Owned::atom(am::NORMAL), tells_owner, context))
    }
}
