//! The driver `trace_ip_drv` of dbg. It listens on a TCP port for one client, which gets each message after an operation byte and its length.
//! Messages that the client is too slow for wait in a queue. When that is full, messages are dropped, and the client is told how many.

use super::driver::{After, Driver, DriverEntry, DriverName};
use super::poll::{self, Interest};
use super::port::Port;
use heddle_runtime::task::Context;
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub const ENTRY: DriverEntry = DriverEntry {
    is_meant: |name| matches!(name, DriverName::Command(line) if line.split(|&b| b == b' ').next() == Some(NAME)),
    open: |line, _| {
        let request = Request::parse(line.as_encoded_bytes()).ok_or(Error::from_raw_os_error(libc::EINVAL))?;
        // Stock names no other reason.
        let driver = request.open().map_err(|_| Error::from_raw_os_error(libc::EINVAL))?;
        Ok(Box::new(driver))
    },
};

const NAME: &[u8] = b"trace_ip_drv";

/// Operation bytes: a message, or the number of messages that were dropped.
const MESSAGE: u8 = 0;
const DROPPED: u8 = 1;

/// Bytes of the operation byte and the length or number.
const HEAD_BYTES: usize = 5;

/// What the command line of the port asks for: the TCP port, the messages to be queued, and flags.
struct Request {
    port: u16,
    queue_length: usize,
    flags: u8,
}

/// The flag that says that messages are queued while there is no client, too. The flag 1, which asks to drop the oldest message, does nothing.
const FILL_ALWAYS: u8 = 2;
const FLAGS_MAX: u8 = 3;

impl Request {
    fn parse(line: &[u8]) -> Option<Request> {
        let mut numbers = std::str::from_utf8(line.strip_prefix(NAME)?).ok()?.split_ascii_whitespace().map(str::parse::<u32>);
        let mut next = || numbers.next()?.ok();
        let (port, queue_length, flags) = (next()?, next()?, next()?);
        (flags <= u32::from(FLAGS_MAX)).then_some(Request { port: port as u16, queue_length: queue_length as usize, flags: flags as u8 })
    }

    fn open(self) -> Result<TraceIp> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, self.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let queue = Queue { limit: self.queue_length, entries: VecDeque::new() };
        Ok(TraceIp { listener, port, fills_always: self.flags & FILL_ALWAYS != 0, client: None, queue })
    }
}

/// Messages that wait, up to `limit`, and after them a number of dropped ones.
struct Queue {
    limit: usize,
    entries: VecDeque<Entry>,
}

struct Entry {
    bytes: Vec<u8>,
    written: usize,
}

impl Entry {
    fn new(operation: u8, number: usize, message: &[u8]) -> Entry {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + message.len());
        bytes.push(operation);
        bytes.extend_from_slice(&(number as u32).to_be_bytes());
        bytes.extend_from_slice(message);
        Entry { bytes, written: 0 }
    }

    /// Counts one more dropped message. False if this is no such number, or the client has some of it already.
    fn drops_another(&mut self) -> bool {
        if self.bytes[0] != DROPPED || self.written != 0 {
            return false;
        }
        if let Some(number) = self.bytes.last_chunk().map(|bytes| u32::from_be_bytes(*bytes)) {
            self.bytes[1..].copy_from_slice(&number.wrapping_add(1).to_be_bytes());
        }
        true
    }
}

impl Queue {
    fn add(&mut self, message: &[u8]) {
        if self.entries.len() < self.limit {
            self.entries.push_back(Entry::new(MESSAGE, message.len(), message));
        } else if !(self.entries.len() > self.limit && self.entries.back_mut().is_some_and(Entry::drops_another)) {
            self.entries.push_back(Entry::new(DROPPED, 1, &[]));
        }
    }

    /// Writes until nothing waits or the client takes no more. False if the client is gone.
    fn write_to(&mut self, client: &mut TcpStream) -> bool {
        while let Some(entry) = self.entries.front_mut() {
            match client.write(&entry.bytes[entry.written..]) {
                Ok(bytes) => entry.written += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
            if entry.written == entry.bytes.len() {
                self.entries.pop_front();
            }
        }
        true
    }
}

pub struct TraceIp {
    listener: TcpListener,
    port: u16,
    fills_always: bool,
    client: Option<TcpStream>,
    queue: Queue,
}

impl TraceIp {
    /// Takes a client, unless there is one: then another one is turned away.
    fn accept(&mut self) {
        while let Ok((client, _)) = self.listener.accept() {
            if self.client.is_none() && client.set_nonblocking(true).is_ok() {
                self.client = Some(client);
            }
        }
    }

    /// The client sends nothing. It is readable when it closes.
    fn read(&mut self) {
        let Some(client) = &mut self.client else { return };
        let mut ignored = [0; 128];
        let is_over = match client.read(&mut ignored) {
            Ok(bytes) => bytes == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        if is_over {
            self.close_client();
        }
    }

    fn write(&mut self, port: &Port) {
        let Some(client) = &mut self.client else { return };
        if !self.queue.write_to(client) {
            self.close_client();
        } else if !self.queue.entries.is_empty() {
            port.watch(client.as_raw_fd(), Interest::Write);
        }
    }

    fn close_client(&mut self) {
        if let Some(client) = self.client.take() {
            poll::forget(client.as_raw_fd());
        }
        if !self.fills_always {
            self.queue.entries.clear();
        }
    }

    fn watch(&self, port: &Port) {
        port.watch(self.listener.as_raw_fd(), Interest::Read);
        if let Some(client) = &self.client {
            port.watch(client.as_raw_fd(), Interest::Read);
        }
    }
}

impl Driver for TraceIp {
    fn start(&mut self, port: &Arc<Port>, _: &mut Context<'_>) -> After {
        self.watch(port);
        After::Continue
    }

    fn command(&mut self, port: &Arc<Port>, _: Option<u64>, message: Vec<u8>, _: &mut Context<'_>) -> Option<After> {
        // Relaxed: a figure.
        port.bytes_out.fetch_add(message.len() as u64, Ordering::Relaxed);
        if self.client.is_none() {
            if self.fills_always {
                self.queue.add(&message);
            }
            return Some(After::Continue);
        }
        self.write(port);
        if self.queue.entries.is_empty() {
            // What waits alone is written at once, whatever the queue may hold.
            self.queue.entries.push_back(Entry::new(MESSAGE, message.len(), &message));
            self.write(port);
        } else {
            self.queue.add(&message);
        }
        Some(After::Continue)
    }

    fn control(&mut self, _: &Arc<Port>, _: u64, operation: u32, _: &[u8], _: &mut Context<'_>) -> (Option<Vec<u8>>, After) {
        if operation != u32::from(b'p') {
            return (None, After::Continue);
        }
        let [high, low] = self.port.to_be_bytes();
        (Some(vec![0, high, low]), After::Continue)
    }

    fn replies_in_binary(&self) -> bool {
        true
    }

    fn ready(&mut self, port: &Arc<Port>, interest: Interest, _: &mut Context<'_>) -> After {
        match interest {
            Interest::Write => self.write(port),
            _ => {
                self.read();
                self.accept();
                self.watch(port);
                self.write(port);
            }
        }
        After::Continue
    }

    fn close(&mut self, _: &Port, _: bool) {
        self.close_client();
        poll::forget(self.listener.as_raw_fd());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_counts_the_messages_that_it_drops() {
        let mut queue = Queue { limit: 2, entries: VecDeque::new() };
        for message in [b"a", b"b", b"c", b"d"] {
            queue.add(message);
        }
        let bytes: Vec<Vec<u8>> = queue.entries.iter().map(|e| e.bytes.clone()).collect();
        assert_eq!(bytes, [b"\0\0\0\0\x01a".to_vec(), b"\0\0\0\0\x01b".to_vec(), b"\x01\0\0\0\x02".to_vec()]);
        queue.entries.pop_front();
        queue.entries.pop_front();
        queue.add(b"e");
        assert_eq!(queue.entries.len(), 2);
        assert_eq!(queue.entries[1].bytes, b"\0\0\0\0\x01e");
    }

    #[test]
    fn the_command_line_has_three_numbers() {
        let parse = |line: &str| Request::parse(line.as_bytes()).map(|r| (r.port, r.queue_length, r.flags));
        assert_eq!(parse("trace_ip_drv 4711 200 2"), Some((4711, 200, 2)));
        for line in ["trace_ip_drv", "trace_ip_drv 1 2", "trace_ip_drv 1 2 4", "trace_ip_drv -1 2 1", "trace_ip_drv 1 x 1"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
