//! Memory that holds machine code. Each page is mapped twice: writable at one address, executable at another. So no page is both at an address,
//! and code is added beside code that runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Code begins at multiples of this many bytes.
const ALIGNMENT: usize = 64;
/// Bytes that are mapped at a time. Pages that were never written take no memory.
const REGION_BYTES: usize = 4 << 20;

/// Why there is no memory for code.
#[derive(Debug)]
pub struct CodeError {
    /// Bytes that were asked for.
    pub bytes: usize,
    pub problem: std::io::Error,
    /// There may be no more machine code.
    pub is_limit: bool,
}

impl std::fmt::Display for CodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no executable memory of {} bytes: {}", self.bytes, self.problem)
    }
}

/// A range of pages with its two addresses.
struct Region {
    writable: usize,
    executable: usize,
    bytes: usize,
    /// Free ranges: offset and bytes.
    free: Mutex<BTreeMap<usize, usize>>,
}

static REGIONS: Mutex<Vec<Arc<Region>>> = Mutex::new(Vec::new());
/// Bytes of all blocks. Relaxed: a figure.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Maximum of `USED`. Relaxed: set once.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Sets the maximum number of bytes of machine code.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The maximum number of bytes of machine code.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// True if there may be no more machine code.
pub fn is_full() -> bool {
    used_bytes() + ALIGNMENT > limit()
}

/// Bytes of machine code that there are now.
pub fn used_bytes() -> usize {
    USED.load(Ordering::Relaxed)
}

/// A block of executable memory, which is given back when this is dropped.
pub struct CodeMemory {
    region: Arc<Region>,
    offset: usize,
    bytes: usize,
}

impl std::fmt::Debug for CodeMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of code", self.bytes)
    }
}

impl CodeMemory {
    /// A block with `bytes` bytes of code, which `write` puts there.
    pub fn with(bytes: usize, write: impl FnOnce(&mut [u8])) -> Result<CodeMemory, CodeError> {
        let bytes = bytes.max(1).next_multiple_of(ALIGNMENT);
        let memory = CodeMemory::reserve(bytes)?;
        let writable = (memory.region.writable + memory.offset) as *mut u8;
        // SAFETY: the range belongs to this block alone, it is mapped there for writing, and nothing runs it yet.
        write(unsafe { std::slice::from_raw_parts_mut(writable, bytes) });
        Ok(memory)
    }

    fn reserve(bytes: usize) -> Result<CodeMemory, CodeError> {
        if used_bytes() + bytes > limit() {
            let problem = std::io::Error::other("the limit for machine code is reached (+JMlimit)");
            return Err(CodeError { bytes, problem, is_limit: true });
        }
        let mut regions = REGIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = regions.iter().find_map(|region| Some((region.clone(), region.take(bytes)?)));
        let (region, offset) = match found {
            Some(found) => found,
            None => {
                let region = Arc::new(Region::new(bytes.next_multiple_of(REGION_BYTES)).map_err(|problem| CodeError {
                    bytes,
                    problem,
                    is_limit: false,
                })?);
                regions.push(region.clone());
                let offset = region.take(bytes).unwrap_or(0);
                (region, offset)
            }
        };
        USED.fetch_add(bytes, Ordering::Relaxed);
        Ok(CodeMemory { region, offset, bytes })
    }

    /// Address of the first byte.
    pub fn base(&self) -> usize {
        self.region.executable + self.offset
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        USED.fetch_sub(self.bytes, Ordering::Relaxed);
        self.region.give_back(self.offset, self.bytes);
    }
}

impl Region {
    fn new(bytes: usize) -> std::io::Result<Region> {
        let failed = std::io::Error::last_os_error;
        // SAFETY: plain system calls. The mappings are new, and nothing knows them but this region, which is never unmapped.
        unsafe {
            let writable =
                libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0);
            if writable == libc::MAP_FAILED {
                return Err(failed());
            }
            // A size of 0 asks for a second mapping of the same pages. (A file in memory has that, too, but `perf` looks for
            // names in such a file.)
            let executable = libc::mremap(writable, 0, bytes, libc::MREMAP_MAYMOVE);
            if executable == libc::MAP_FAILED || libc::mprotect(executable, bytes, libc::PROT_READ | libc::PROT_EXEC) != 0 {
                let problem = failed();
                if executable != libc::MAP_FAILED {
                    libc::munmap(executable, bytes);
                }
                libc::munmap(writable, bytes);
                return Err(problem);
            }
            let free = Mutex::new(BTreeMap::from([(0, bytes)]));
            Ok(Region { writable: writable as usize, executable: executable as usize, bytes, free })
        }
    }

    /// Takes the first free range that is large enough. Returns its offset.
    fn take(&self, bytes: usize) -> Option<usize> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (&offset, &length) = free.iter().find(|&(_, &length)| length >= bytes)?;
        free.remove(&offset);
        if length > bytes {
            free.insert(offset + bytes, length - bytes);
        }
        Some(offset)
    }

    /// Makes a range free again, and one with its neighbours.
    fn give_back(&self, mut offset: usize, mut bytes: usize) {
        debug_assert!(offset + bytes <= self.bytes);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(length) = free.remove(&(offset + bytes)) {
            bytes += length;
        }
        if let Some((&before, &length)) = free.range(..offset).next_back()
            && before + length == offset
        {
            free.remove(&before);
            offset = before;
            bytes += length;
        }
        free.insert(offset, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_apart_and_are_used_again() {
        let block = || CodeMemory::with(100, |bytes| bytes.fill(0xc3)).expect("memory");
        let (first, second) = (block(), block());
        assert!(first.base().abs_diff(second.base()) >= 128);
        let base = first.base();
        drop(first);
        let again = block();
        assert_eq!(again.base(), base);
        // SAFETY: the code is one `ret`.
        let run: extern "C" fn() = unsafe { std::mem::transmute(second.base()) };
        run();
    }

    #[test]
    fn neighbours_that_are_free_become_one_range() {
        let region = Region::new(4096).expect("memory");
        let offsets: Vec<usize> = (0..4).filter_map(|_| region.take(1024)).collect();
        assert_eq!(offsets, [0, 1024, 2048, 3072]);
        assert_eq!(region.take(1024), None);
        for offset in [1024, 3072, 2048, 0] {
            region.give_back(offset, 1024);
        }
        assert_eq!(region.take(4096), Some(0));
    }
}
