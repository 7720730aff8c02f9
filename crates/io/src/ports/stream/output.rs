//! Output: written to the descriptor at once as far as it takes it, and queued otherwise.

use super::Stream;
use crate::ports::driver::After;
use crate::ports::frame;
use crate::ports::poll::Interest;
use crate::ports::port::Port;
use crate::ports::queue::Queue;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) struct Output {
    fd: Option<OwnedFd>,
    queue: Queue,
    /// The poller watches the descriptor, and reports when it takes more.
    is_watched: bool,
}

impl Output {
    pub fn new(fd: Option<OwnedFd>) -> Output {
        Output { fd, queue: Queue::default(), is_watched: false }
    }
    pub fn bytes(&self) -> usize {
        self.queue.bytes()
    }
    pub fn take(&mut self) -> Option<OwnedFd> {
        self.fd.take()
    }
}

impl Stream {
    /// Writes the data, or queues what the descriptor does not take.
    pub(super) fn put(&mut self, port: &Arc<Port>, data: Vec<u8>) -> After {
        if self.output.fd.is_none() {
            // As in stock, a port without output accepts the command and ends.
            return After::failed(&io::Error::from_raw_os_error(libc::EBADF));
        }
        let Some(mut message) = frame::header(port.packet, data.len()) else {
            // The packet's header has no room for the length. As in stock the port ends, and the caller gets no error.
            return After::failed(&io::Error::from_raw_os_error(libc::EINVAL));
        };
        port.bytes_out.fetch_add(data.len() as u64, Ordering::Relaxed);
        if message.is_empty() {
            message = data;
        } else {
            message.extend(data);
        }
        self.output.queue.push(message);
        if self.output.is_watched {
            // The descriptor took nothing the last time, and the poller has not reported it since.
            self.has_queued(port);
            return After::Continue;
        }
        self.pump(port)
    }

    /// Writes what the descriptor takes. The port ends if the other side is gone.
    fn pump(&mut self, port: &Arc<Port>) -> After {
        let Some(fd) = &self.output.fd else { return After::Continue };
        match self.output.queue.write(fd) {
            Ok(all_out) => {
                if !all_out {
                    self.output.is_watched = true;
                    port.watch(fd.as_raw_fd(), Interest::Write);
                }
                self.has_queued(port);
                After::Continue
            }
            Err(error) => {
                self.output.queue.clear();
                After::failed(&error)
            }
        }
    }

    pub(super) fn writable(&mut self, port: &Arc<Port>) -> After {
        self.output.is_watched = false;
        self.pump(port)
    }

    /// Publishes the number of queued bytes, which may make the port busy or end that.
    fn has_queued(&mut self, port: &Port) {
        let bytes = self.output.bytes();
        port.queued_bytes.store(bytes, Ordering::Relaxed);
        if !self.is_closing {
            port.gate.queued(bytes);
        }
    }
}
