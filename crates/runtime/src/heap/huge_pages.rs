//! Huge pages, from the moment they pay until they do not.
//!
//! A VM that has just started touches a quarter of many 2 MB pieces of memory; with huge pages it would be four times as large. A
//! VM that uses much memory touches all of it, and huge pages make that cheaper (a page fault costs 1.5 us here, and 512 pages at
//! once far less). So the allocator's memory is left as it is until much of it is used. Then its mappings are opened to huge pages,
//! and again as it grows, for mappings that were made meanwhile. After a peak they are closed: the memory that is still used is
//! scattered, and the system would otherwise fill the holes between with huge pages again, piece by piece. Two sums decide: that of
//! all heap blocks, whenever a thread has allocated another megabyte of them, and that of all memory, which schedulers look at now
//! and then. Resident memory does not decide: it is large where little is used, in the pieces of many threads.

use heddle_memory::{KINDS, MemoryKind};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A VM that has just started uses 20 MB, of which 1 MB are heap blocks; 25 MB if it compiles to machine code.
const FIRST_BLOCK_BYTES: usize = 24 << 20;
const FIRST_BYTES: usize = 46 << 20;
/// Added for each scheduler from the third on, which has pieces of its own with little in them, and for each active one.
const SCHEDULER_BYTES: usize = 1 << 20;
const ACTIVE_BYTES: usize = 3 << 20;
/// What is allocated before the sum is compared with the threshold again, while only few schedulers' share was reached.
const LOOK_BYTES: usize = 4 << 20;
/// Less than the allocator adds at a time, which is 1 GB.
const STEP_BYTES: usize = 256 << 20;
/// Smaller mappings are stacks; larger ones are the range that is reserved for literals.
const MAPPING_BYTES: Range<usize> = 32 << 20..32 << 30;
/// Process switches of one scheduler between two looks at the sum of all memory: a look takes some microseconds.
pub(crate) const SWITCHES: u64 = 512;

/// The sums from which on mappings are opened (again). Relaxed everywhere: thresholds, and it does not matter when a thread sees a
/// change.
static NEXT_BLOCKS: AtomicUsize = AtomicUsize::new(FIRST_BLOCK_BYTES);
static NEXT_BYTES: AtomicUsize = AtomicUsize::new(FIRST_BYTES);
/// Mappings are closed when less is used in all: three quarters of what opens them, or a quarter of the largest sum seen meanwhile.
/// 0 while they are closed.
static CLOSE_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Held while advice is given, so that one thread at a time gives it.
static ADVISING: Mutex<()> = Mutex::new(());

/// Number of schedulers, and of active ones, when they were last counted.
static SCHEDULERS: AtomicUsize = AtomicUsize::new(0);
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// `schedulers` schedulers are there, of which `active` are active.
pub(crate) fn counted(schedulers: usize, active: usize) {
    SCHEDULERS.store(schedulers, Ordering::Relaxed);
    ACTIVE.store(active, Ordering::Relaxed);
}

/// The sum that opens mappings now; `first` is the one for two schedulers.
fn with_active(first: usize) -> usize {
    let above_two = |count: &AtomicUsize| count.load(Ordering::Relaxed).saturating_sub(2);
    first + above_two(&SCHEDULERS) * SCHEDULER_BYTES + above_two(&ACTIVE) * ACTIVE_BYTES
}

/// The sum of all heap blocks is `bytes` now.
#[inline(always)]
pub(crate) fn blocks_are(bytes: usize) {
    if bytes >= NEXT_BLOCKS.load(Ordering::Relaxed) {
        passed(&NEXT_BLOCKS, FIRST_BLOCK_BYTES, bytes);
    }
}

/// Compares the sum of all memory with the thresholds. The numbers are as for `counted`.
#[cold]
pub(crate) fn look(schedulers: usize, active: usize) {
    counted(schedulers, active);
    let used = KINDS.into_iter().map(heddle_memory::sum).sum::<usize>();
    if used >= NEXT_BYTES.load(Ordering::Relaxed) {
        passed(&NEXT_BYTES, FIRST_BYTES, used);
    }
    let close = CLOSE_BYTES.load(Ordering::Relaxed);
    if used < close {
        shut(used);
    } else if close != 0 && used / 4 > close {
        CLOSE_BYTES.fetch_max(used / 4, Ordering::Relaxed);
    }
}

#[cold]
#[inline(never)]
fn passed(threshold: &AtomicUsize, first: usize, bytes: usize) {
    let seen = threshold.load(Ordering::Relaxed);
    // The number of active schedulers changes, so the sum is compared again soon.
    let is_early = CLOSE_BYTES.load(Ordering::Relaxed) == 0 && bytes < with_active(first);
    let next = if is_early { bytes + LOOK_BYTES } else { (bytes / STEP_BYTES + 1) * STEP_BYTES };
    if bytes < seen || threshold.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_err() || is_early {
        return;
    }
    let _one_at_a_time = ADVISING.lock().unwrap();
    advise(libc::MADV_HUGEPAGE);
    heddle_memory::huge::set_everywhere(true);
    CLOSE_BYTES.fetch_max(with_active(FIRST_BYTES) / 4 * 3, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn shut(used: usize) {
    let _one_at_a_time = ADVISING.lock().unwrap();
    if CLOSE_BYTES.swap(0, Ordering::Relaxed) == 0 {
        return;
    }
    heddle_memory::huge::set_everywhere(false);
    advise(libc::MADV_NOHUGEPAGE);
    NEXT_BLOCKS.store(FIRST_BLOCK_BYTES.max(2 * heddle_memory::sum(MemoryKind::Heap)), Ordering::Relaxed);
    NEXT_BYTES.store(FIRST_BYTES.max(2 * used), Ordering::Relaxed);
}

fn advise(advice: libc::c_int) {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for range in maps.lines().filter_map(range).filter(|r| MAPPING_BYTES.contains(&r.len())) {
        // SAFETY: such advice changes no contents of a mapping. It may be refused: then nothing changes.
        unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), advice) };
    }
}

/// The addresses of a line of /proc/self/maps, if it is for anonymous writable memory.
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
