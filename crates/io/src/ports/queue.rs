//! Bytes that wait until their descriptor takes them.

use super::channel::Piece;
use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

/// Most chunks that one system call writes.
const CHUNKS: usize = 16;

#[derive(Default)]
pub struct Queue {
    chunks: VecDeque<Chunk>,
    bytes: usize,
}

struct Chunk {
    data: Piece,
    /// Bytes at its start that do not go out, or are written already.
    done: usize,
}

impl Chunk {
    fn rest(&self) -> &[u8] {
        &self.data.as_bytes()[self.done..]
    }
}

impl Queue {
    pub fn push(&mut self, chunk: Vec<u8>) {
        self.push_from(chunk, 0);
    }
    /// Adds the bytes of `chunk` from `from` on.
    pub fn push_from(&mut self, chunk: Vec<u8>, from: usize) {
        if from < chunk.len() {
            self.bytes += chunk.len() - from;
            self.chunks.push_back(Chunk { data: Piece::Own(chunk), done: from });
        }
    }
    /// Adds bytes that may be shared with others.
    pub fn push_piece(&mut self, piece: Piece) {
        let bytes = piece.as_bytes().len();
        if bytes > 0 {
            self.bytes += bytes;
            self.chunks.push_back(Chunk { data: piece, done: 0 });
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
        while !self.chunks.is_empty() {
            let n = self.write_once(fd);
            if n < 0 {
                let error = Error::last_os_error();
                match error.kind() {
                    ErrorKind::Interrupted => continue,
                    ErrorKind::WouldBlock => return Ok(false),
                    _ => return Err(error),
                }
            }
            self.bytes -= n as usize;
            super::BYTES_OUT.fetch_add(n as u64, Ordering::Relaxed);
            self.written(n as usize);
        }
        Ok(true)
    }

    fn write_once(&self, fd: &OwnedFd) -> isize {
        let (mut parts, mut count) = ([libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; CHUNKS], 0);
        for (part, chunk) in parts.iter_mut().zip(&self.chunks) {
            let rest = chunk.rest();
            *part = libc::iovec { iov_base: rest.as_ptr().cast_mut().cast(), iov_len: rest.len() };
            count += 1;
        }
        // SAFETY: writes from live slices.
        unsafe { libc::writev(fd.as_raw_fd(), parts.as_ptr(), count) }
    }

    /// Removes the first `bytes` bytes.
    fn written(&mut self, mut bytes: usize) {
        while let Some(front) = self.chunks.front_mut() {
            let rest = front.rest().len();
            if bytes < rest {
                front.done += bytes;
                return;
            }
            bytes -= rest;
            self.chunks.pop_front();
        }
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

    #[test]
    fn only_the_end_of_a_chunk_is_written() {
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors.
        assert_eq!(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_NONBLOCK) }, 0);
        // SAFETY: fresh and ours.
        let (mut reader, writer) = unsafe { (std::fs::File::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) };
        let mut queue = Queue::default();
        (0..40).for_each(|i| queue.push_from(b"head and tail".to_vec(), i % 14));
        assert_eq!(queue.bytes(), (0..40).map(|i| 13 - i % 14).sum::<usize>());
        assert!(queue.write(&writer).expect("a pipe"));
        let mut got = vec![0; 1000];
        let n = reader.read(&mut got).expect("something was written");
        assert_eq!(got[..n], (0..40).flat_map(|i| b"head and tail"[i % 14..].to_vec()).collect::<Vec<u8>>());
    }
}
