//! When the system has no memory for a block: there is no way on, so the VM says what was wanted, and ends.

use crate::MemoryKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The function that `on_failure` was told, as an address, or 0.
/// Release in `on_failure`, Acquire in `out_of_memory`.
static END: AtomicUsize = AtomicUsize::new(0);

/// `end` ends the VM. It runs on the thread that wanted the block, which may hold any lock.
pub fn on_failure(end: fn(MemoryKind, usize) -> !) {
    END.store(end as usize, Ordering::Release);
}

/// Ends the VM: there is no memory for a block of that kind, of `bytes` bytes.
#[cold]
#[inline(never)]
pub fn out_of_memory(kind: MemoryKind, bytes: usize) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    let end = END.load(Ordering::Acquire);
    // The SeqCst of the swap orders no other memory: only the first thread goes on.
    if end != 0 && !ENDING.swap(true, Ordering::SeqCst) {
        // SAFETY: only `on_failure` writes it, and it writes a function of that type.
        let end = unsafe { std::mem::transmute::<usize, fn(MemoryKind, usize) -> !>(end) };
        end(kind, bytes);
    }
    if end != 0 && std::thread::current().name().is_some() {
        // Another thread tells of its own block already; if this is that thread, what tells needs memory as well.
        std::thread::sleep(std::time::Duration::from_secs(2));
    }
    let text = b"heddle: out of memory\n";
    // SAFETY: it writes a text, and ends the process.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
        libc::_exit(1)
    }
}
