//! Huge pages for single large blocks: a page fault for 2 MB costs far less than 512 for 4 KB each. With them messages of 100 MB from another node took
//! half the time (own measurement).

use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks from this size on are advised one by one.
pub const LARGE_BYTES: usize = 4 << 20;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// True while all memory may have huge pages. Relaxed everywhere: advice that comes late or twice costs a system call.
static EVERYWHERE: AtomicBool = AtomicBool::new(false);

/// All memory may have huge pages from now on, or none but large blocks.
pub fn set_everywhere(is_open: bool) {
    EVERYWHERE.store(is_open, Ordering::Relaxed);
}

/// The huge pages that lie in a block may be used.
#[cold]
pub(crate) fn open(block: *const u8, bytes: usize) {
    advise(block, bytes, libc::MADV_HUGEPAGE);
}

/// The block is about to be freed: what takes its place has small pages again, unless all memory has huge ones.
#[cold]
pub(crate) fn shut(block: *const u8, bytes: usize) {
    advise(block, bytes, libc::MADV_NOHUGEPAGE);
}

fn advise(block: *const u8, bytes: usize, advice: libc::c_int) {
    if EVERYWHERE.load(Ordering::Relaxed) {
        return;
    }
    let from = block.addr().next_multiple_of(HUGE_PAGE_BYTES);
    let to = (block.addr() + bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if from < to {
        // SAFETY: such advice changes no contents. It may be refused: then nothing changes.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, advice) };
    }
}

#[cfg(test)]
mod tests {
    use crate::{MemoryKind, allocate_large, free_large, resize};

    /// The pages of a block are advised when it is made, and not any more when it is gone. (`VmFlags` has `hg` for such a mapping.)
    fn is_open(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_inside = false;
        for line in maps.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let Some((from, to)) = range.and_then(|(from, to)| Some((number(from)?, number(to)?))) {
                is_inside = (from..to).contains(&address);
            } else if is_inside && let Some(flags) = line.strip_prefix("VmFlags:") {
                return flags.split_ascii_whitespace().any(|flag| flag == "hg");
            }
        }
        false
    }

    #[test]
    fn a_large_block_has_huge_pages_while_it_is_there() {
        const BYTES: usize = 16 << 20;
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return println!("not tested: this system has no huge pages");
        }
        let block = allocate_large(MemoryKind::Binary, BYTES / 8);
        assert!(!is_open(block.addr() + BYTES / 16));
        // SAFETY: the block is of that size, and its old address is not used any more.
        let block = unsafe { resize(MemoryKind::Binary, block, BYTES / 8, BYTES) };
        let middle = block.addr() + BYTES / 2;
        assert!(is_open(middle));
        // SAFETY: as above.
        unsafe { free_large(MemoryKind::Binary, block, BYTES) };
        assert!(!is_open(middle));
    }
}
