//! Huge pages, from the moment they pay.
//!
//! A machine that just started touches a quarter of many 2 MB pieces of memory: with huge pages it is four times as large.
//! A machine that holds much touches all of it, and huge pages make that cheaper (a page costs 1.5 us here, and 512 of them
//! at once far less). So the allocator's memory is left as it is until the machine is large: then its mappings are opened to
//! huge pages, and again as it grows, for those that were made meanwhile. Two things tell: the sum of all heap blocks, whenever
//! a thread allocated another megabyte of them, and what is resident, looked at now and then by the schedulers. Each thread has
//! pieces of its own: with more than two schedulers a machine is large later.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A machine that just started has 4 MB of heap blocks and is 35 MB large.
const FIRST_BLOCK_BYTES: usize = 24 << 20;
const FIRST_RESIDENT_BYTES: usize = 56 << 20;
/// And so much for each scheduler from the third on.
const SCHEDULER_BYTES: usize = 4 << 20;
/// Less than the allocator adds at a time, 1 GB.
const STEP_BYTES: usize = 256 << 20;
/// What is smaller is a stack, what is larger the range reserved for literals.
const MAPPING_BYTES: Range<usize> = 32 << 20..32 << 30;
/// Process switches of one scheduler between two looks at what is resident: a look takes some microseconds.
pub const SWITCHES: u64 = 512;

static NEXT_BLOCKS: AtomicUsize = AtomicUsize::new(FIRST_BLOCK_BYTES);
static NEXT_RESIDENT: AtomicUsize = AtomicUsize::new(FIRST_RESIDENT_BYTES);

/// Before schedulers start.
pub(crate) fn init(schedulers: usize) {
    let more = schedulers.saturating_sub(2) * SCHEDULER_BYTES;
    // Relaxed: no other thread is there yet.
    NEXT_BLOCKS.store(FIRST_BLOCK_BYTES + more, Ordering::Relaxed);
    NEXT_RESIDENT.store(FIRST_RESIDENT_BYTES + more, Ordering::Relaxed);
}

/// All heap blocks are this much now.
#[inline(always)]
pub fn blocks_are(bytes: usize) {
    // Relaxed: a threshold, nothing depends on seeing it at once.
    if bytes >= NEXT_BLOCKS.load(Ordering::Relaxed) {
        passed(&NEXT_BLOCKS, bytes);
    }
}

/// Looks at what is resident.
#[cold]
pub fn look() {
    let Ok(sizes) = std::fs::read_to_string("/proc/self/statm") else { return };
    let resident = sizes.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096;
    if resident >= NEXT_RESIDENT.load(Ordering::Relaxed) {
        passed(&NEXT_RESIDENT, resident);
    }
}

#[cold]
#[inline(never)]
fn passed(threshold: &AtomicUsize, bytes: usize) {
    let seen = threshold.load(Ordering::Relaxed);
    let next = (bytes / STEP_BYTES + 1) * STEP_BYTES;
    if bytes < seen || threshold.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for range in maps.lines().filter_map(range).filter(|r| MAPPING_BYTES.contains(&r.len())) {
        // SAFETY: advice changes no contents. It may be refused: then nothing changes.
        unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), libc::MADV_HUGEPAGE) };
    }
}

/// The addresses of a line of /proc/self/maps that stands for anonymous writable memory.
fn range(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let anonymous = words.next()? == "rw-p" && words.nth(2)? == "0";
    let address = |text| usize::from_str_radix(text, 16).ok();
    anonymous.then_some(address(from)?..address(to)?)
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn only_anonymous_writable_mappings_count() {
        assert_eq!(range("20000000000-20040000000 rw-p 00000000 00:00 0 "), Some(0x200_0000_0000..0x200_4000_0000));
        assert_eq!(range("7f4ce4021000-7f4ce8000000 ---p 00000000 00:00 0 "), None);
        assert_eq!(range("563b4e7ff000-563b4eaaa000 rw-p 00100000 fd:00 1234 /usr/bin/x"), None);
    }
}
