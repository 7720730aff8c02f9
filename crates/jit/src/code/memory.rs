//! Memory that holds machine code: first writable, then executable, never both.

use std::ptr::NonNull;

/// Why there is no memory for code.
#[derive(Debug)]
pub struct CodeError {
    /// Bytes that were asked for.
    pub bytes: usize,
    pub problem: std::io::Error,
}

impl std::fmt::Display for CodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no executable memory of {} bytes: {}", self.bytes, self.problem)
    }
}

/// Executable memory, which is given back when this is dropped.
#[derive(Debug)]
pub struct CodeMemory {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory does not change after it was made.
unsafe impl Send for CodeMemory {}
// SAFETY: as above.
unsafe impl Sync for CodeMemory {}

impl CodeMemory {
    /// Memory with `bytes` bytes of code, which `write` puts there. It gets the address that the code will have.
    pub fn with(bytes: usize, write: impl FnOnce(&mut [u8], usize)) -> Result<CodeMemory, CodeError> {
        let bytes = bytes.max(1);
        let failed = || CodeError { bytes, problem: std::io::Error::last_os_error() };
        // SAFETY: a new mapping that nothing else knows.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(failed());
        }
        let Some(base) = NonNull::new(base.cast::<u8>()) else { return Err(failed()) };
        let memory = CodeMemory { base, bytes };
        // SAFETY: the mapping has as many bytes, is writable, and nothing else refers to it.
        write(unsafe { std::slice::from_raw_parts_mut(base.as_ptr(), bytes) }, base.as_ptr() as usize);
        // SAFETY: the mapping made above.
        if unsafe { libc::mprotect(base.as_ptr().cast(), bytes, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
            return Err(failed());
        }
        Ok(memory)
    }

    /// Address of the first byte.
    pub fn base(&self) -> usize {
        self.base.as_ptr() as usize
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `with`. No thread runs code in it: its owner, the module's code, has been purged.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}
