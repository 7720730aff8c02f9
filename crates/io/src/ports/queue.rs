//! Bytes that wait until their descriptor takes them.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

#[derive(Default)]
pub struct Queue {
    chunks: VecDeque<Vec<u8>>,
    /// Bytes of the first buffer that are written.
    written: usize,
    bytes: usize,
}

impl Queue {
    pub fn push(&mut self, chunk: Vec<u8>) {
        if !chunk.is_empty() {
            self.bytes += chunk.len();
            self.chunks.push_back(chunk);
        }
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    pub fn clear(&mut self) {
        *self = Queue::default();
    }

    /// Writes what the descriptor takes. Returns true if the queue is empty then. The VM ignores SIGPIPE, so a broken pipe or socket is an error
    /// here.
    pub fn write(&mut self, fd: &OwnedFd) -> Result<bool> {
        while let Some(front) = self.chunks.front() {
            let rest = &front[self.written..];
            // SAFETY: writes from a live slice.
            let n = unsafe { libc::write(fd.as_raw_fd(), rest.as_ptr().cast(), rest.len()) };
            if n < 0 {
                let error = Error::last_os_error();
                match error.kind() {
                    ErrorKind::Interrupted => continue,
                    ErrorKind::WouldBlock => return Ok(false),
                    _ => return Err(error),
                }
            }
            self.written += n as usize;
            self.bytes -= n as usize;
            super::BYTES_OUT.fetch_add(n as u64, Ordering::Relaxed);
            if self.written == front.len() {
                self.chunks.pop_front();
                self.written = 0;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::FromRawFd;

    #[test]
    fn what_a_pipe_does_not_take_stays_in_order() {
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors.
        assert_eq!(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_NONBLOCK) }, 0);
        // SAFETY: fresh and ours.
        let (mut reader, writer) = unsafe { (std::fs::File::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) };
        let mut queue = Queue::default();
        let chunks: Vec<Vec<u8>> = (0..100u8).map(|i| vec![i; 3000]).collect();
        chunks.iter().for_each(|chunk| queue.push(chunk.clone()));
        let mut got = Vec::new();
        let mut part = [0; 5000];
        while !queue.write(&writer).expect("a pipe") || got.len() < 300_000 {
            let n = reader.read(&mut part).expect("something was written");
            got.extend_from_slice(&part[..n]);
        }
        assert!(queue.is_empty());
        assert_eq!(got, chunks.concat());
    }
}
