//! A cursor over the bytes of one chunk. Every read is checked; errors name the chunk and the byte.

use crate::error::{BeamError, ChunkId};

#[derive(Clone)]
pub(crate) struct Reader<'a> {
    chunk: ChunkId,
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    pub fn new(chunk: ChunkId, bytes: &'a [u8]) -> Reader<'a> {
        Reader { chunk, bytes, pos: 0 }
    }

    #[inline]
    pub fn pos(&self) -> usize {
        self.pos
    }

    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.pos
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pos == self.bytes.len()
    }

    #[cold]
    pub fn error(&self, problem: impl Into<String>) -> BeamError {
        BeamError::chunk(self.chunk, self.pos, problem)
    }

    #[cold]
    fn cut(&self, wanted: usize) -> BeamError {
        self.error(format!("{wanted} more bytes wanted, {} left", self.remaining()))
    }

    #[inline]
    pub fn u8(&mut self) -> Result<u8, BeamError> {
        match self.bytes.get(self.pos) {
            Some(&byte) => {
                self.pos += 1;
                Ok(byte)
            }
            None => Err(self.cut(1)),
        }
    }

    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], BeamError> {
        if count > self.remaining() {
            return Err(self.cut(count));
        }
        let slice = &self.bytes[self.pos..self.pos + count];
        self.pos += count;
        Ok(slice)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], BeamError> {
        match self.bytes[self.pos..].first_chunk::<N>() {
            Some(array) => {
                self.pos += N;
                Ok(*array)
            }
            None => Err(self.cut(N)),
        }
    }

    pub fn u16(&mut self) -> Result<u16, BeamError> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, BeamError> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn i64(&mut self) -> Result<i64, BeamError> {
        self.array().map(i64::from_be_bytes)
    }

    pub fn rest(&mut self) -> &'a [u8] {
        let slice = &self.bytes[self.pos..];
        self.pos = self.bytes.len();
        slice
    }

    /// A count of entries that take at least `entry_bytes` each; a count the rest of the chunk cannot hold is refused before
    /// anybody allocates for it.
    pub fn count(&mut self, entry_bytes: usize) -> Result<usize, BeamError> {
        let count = self.u32()? as usize;
        self.check_count(count, entry_bytes)
    }

    pub fn check_count(&self, count: usize, entry_bytes: usize) -> Result<usize, BeamError> {
        if count > self.remaining() / entry_bytes {
            return Err(self.error(format!("{count} entries announced, but only {} bytes are left", self.remaining())));
        }
        Ok(count)
    }
}
