//! The format jitdump of Linux' `perf`: a file with machine code, its names and its lines. `perf record` finds the file as it is mapped, and `perf inject
//! --jit` makes an object file of each function. All numbers are little endian.

use std::fs::File;
use std::io::{Error, Result, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;
/// x86-64 in ELF.
const MACHINE: u32 = 62;
/// What begins a record: kind, bytes, time.
const RECORD_BYTES: usize = 16;
const CODE_LOAD: u32 = 0;
const CODE_DEBUG_INFO: u32 = 2;

/// Machine code of a part of a function.
pub struct Code<'a> {
    pub name: String,
    pub address: usize,
    pub bytes: Vec<u8>,
    /// Addresses from which on the code is of a line of a file.
    pub lines: Vec<(usize, &'a str, u32)>,
}

/// Nanoseconds of the clock that `perf record -k mono` uses.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a plain system call, which writes `time`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Begins the file, and maps it: the mapping tells `perf record` its name.
pub fn begin(file: &mut File) -> Result<()> {
    let mut header = Vec::new();
    for word in [MAGIC, VERSION, HEADER_BYTES, MACHINE, 0, std::process::id()] {
        header.extend(word.to_le_bytes());
    }
    header.extend(now().to_le_bytes());
    header.extend(0u64.to_le_bytes());
    file.write_all(&header)?;
    let (protection, flags) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
    // SAFETY: a new mapping, which nothing reads and which stays.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), HEADER_BYTES as usize, protection, flags, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(()) }
}

impl Code<'_> {
    /// The record of the lines, if there are any, and that of the code.
    pub fn records(&self) -> Vec<u8> {
        let mut all = if self.lines.is_empty() { Vec::new() } else { record(CODE_DEBUG_INFO, &self.debug_info()) };
        all.extend(record(CODE_LOAD, &self.load()));
        all
    }

    fn debug_info(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend((self.address as u64).to_le_bytes());
        body.extend((self.lines.len() as u64).to_le_bytes());
        for &(address, file, line) in &self.lines {
            body.extend((address as u64).to_le_bytes());
            body.extend(line.to_le_bytes());
            // The place in the line, which is not known.
            body.extend(0u32.to_le_bytes());
            body.extend(file.bytes().chain([0]));
        }
        body
    }

    fn load(&self) -> Vec<u8> {
        /// Each code has a number. Relaxed: a number.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // SAFETY: a plain system call.
        let thread = unsafe { libc::gettid() } as u32;
        let mut body = Vec::new();
        body.extend(std::process::id().to_le_bytes());
        body.extend(thread.to_le_bytes());
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        for word in [self.address as u64, self.address as u64, self.bytes.len() as u64, number] {
            body.extend(word.to_le_bytes());
        }
        body.extend(self.name.bytes().chain([0]));
        body.extend(&self.bytes);
        body
    }
}

fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    // No bytes come after the body: `perf inject` takes the last bytes of a record for the code.
    let bytes = RECORD_BYTES + body.len();
    let mut record = Vec::with_capacity(bytes);
    record.extend(kind.to_le_bytes());
    record.extend((bytes as u32).to_le_bytes());
    record.extend(now().to_le_bytes());
    record.extend(body);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_before_their_code() {
        let code =
            Code { name: "$m:f/1".into(), address: 0x1000, bytes: vec![0xc3; 5], lines: vec![(0x1000, "m.erl", 7), (0x1004, "m.erl", 9)] };
        let records = code.records();
        let word = |at: usize| u32::from_le_bytes(records[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(16), word(24)), (CODE_DEBUG_INFO, 0x1000, 2));
        let load = word(4) as usize;
        // Two entries of 16 bytes with a name of 6.
        assert_eq!(load, 16 + 16 + 2 * 22);
        assert_eq!((word(load), word(load + 24), word(load + 40)), (CODE_LOAD, 0x1000, 5));
        assert_eq!(&records[load + 56..], b"$m:f/1\0\xc3\xc3\xc3\xc3\xc3");
        assert_eq!(load + word(load + 4) as usize, records.len());
    }
}
