//! Bytes of a file on their way to a process.

use heddle_runtime::process::Process;
use heddle_term::Term;
use heddle_term::refbin::RefBin;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;

/// Most bytes that are allocated for one read before it is known that the file has them.
const AT_ONCE: usize = 1 << 26;

/// Reads up to `size` bytes at the position: fewer only if the file ends.
pub fn read(mut file: &File, size: usize) -> io::Result<Vec<u8>> {
    let at = if size > AT_ONCE { file.stream_position().unwrap_or(0) } else { 0 };
    filled(room(file, size, at), |part, _| file.read(part))
}

/// Reads up to `size` bytes at an offset: fewer only if the file ends.
pub fn read_at(file: &File, size: usize, offset: u64) -> io::Result<Vec<u8>> {
    filled(room(file, size, offset), |part, before| file.read_at(part, offset + before as u64))
}

/// Bytes that `read` gives until there are `size`, or no more. It gets what is to fill, and how many came before.
fn filled(size: usize, mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < bytes.len() {
        match read(&mut bytes[filled..], filled) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Of the bytes that are asked for, those that there can be: what is beyond `AT_ONCE` must be in the file.
fn room(file: &File, size: usize, at: u64) -> usize {
    if size <= AT_ONCE {
        return size;
    }
    let there = file.metadata().map_or(0, |meta| meta.len().saturating_sub(at));
    size.min(AT_ONCE.max(there.try_into().unwrap_or(usize::MAX)))
}

/// A binary of the bytes. Those of a large one are not copied.
pub fn binary(p: &mut Process, bytes: Vec<u8>) -> Term {
    if bytes.len() <= AT_ONCE {
        return p.heap.binary(&bytes);
    }
    let bits = bytes.len() as u64 * 8;
    // SAFETY: the bytes are those of the vector, which nothing changes, and which the block keeps.
    let block = unsafe { RefBin::foreign(bytes.as_ptr(), bytes.len(), Box::new(bytes)) };
    p.heap.bin_ref(block, bits)
}
