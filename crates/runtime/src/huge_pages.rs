//! Huge pages, from the moment they pay, until they do not.
//!
//! A machine that just started touches a quarter of many 2 MB pieces of memory: with huge pages it is four times as large.
//! A machine that uses much touches all of it, and huge pages make that cheaper (a page costs 1.5 us here, and 512 of them
//! at once far less). So the allocator's memory is left as it is until much is used: then its mappings are opened to huge pages,
//! and again as it grows, for those that were made meanwhile. After a peak they are closed: what is still used lies scattered, and
//! the system would fill the holes that were given back with huge pages again, piece by piece, though nobody asks for them. Two
//! things tell: the sum of all heap blocks, whenever a thread allocated another megabyte of them, and the sum of everything, looked
//! at now and then by the schedulers. What is resident does not tell: it is large where little is used, in many threads' pieces.

use crate::{balance, sched};
use heddle_memory::{KINDS, Kind};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A machine that just started uses 20 MB, of which 1 MB are heap blocks.
const FIRST_BLOCK_BYTES: usize = 24 << 20;
const FIRST_BYTES: usize = 40 << 20;
/// And so much for each scheduler from the third on, which has pieces of its own and little in them, and for each active one.
const SCHEDULER_BYTES: usize = 1 << 20;
const ACTIVE_BYTES: usize = 3 << 20;
/// What is allocated before it is looked at again whether it is much by now.
const LOOK_BYTES: usize = 4 << 20;
/// Less than the allocator adds at a time, 1 GB.
const STEP_BYTES: usize = 256 << 20;
/// What is smaller is a stack, what is larger the range reserved for literals.
const MAPPING_BYTES: Range<usize> = 32 << 20..32 << 30;
/// Process switches of one scheduler between two looks at what all use: a look takes some microseconds.
pub const SWITCHES: u64 = 512;

/// From when on mappings are opened (again). Relaxed everywhere: thresholds, which nothing depends on seeing at once.
static NEXT_BLOCKS: AtomicUsize = AtomicUsize::new(FIRST_BLOCK_BYTES);
static NEXT_BYTES: AtomicUsize = AtomicUsize::new(FIRST_BYTES);
/// They are closed when less is used in all: three quarters of what opens them, or a quarter of the most that was seen meanwhile. 0
/// while they are closed.
static CLOSE_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Held while advice is given: one after the other.
static ADVISING: Mutex<()> = Mutex::new(());

/// What opens them now, where two schedulers' `first` does.
fn with_active(first: usize) -> usize {
    first + sched::count().saturating_sub(2) * SCHEDULER_BYTES + balance::active().saturating_sub(2) * ACTIVE_BYTES
}

/// All heap blocks are this much now.
#[inline(always)]
pub fn blocks_are(bytes: usize) {
    if bytes >= NEXT_BLOCKS.load(Ordering::Relaxed) {
        passed(&NEXT_BLOCKS, FIRST_BLOCK_BYTES, bytes);
    }
}

/// Looks at what is used.
#[cold]
pub fn look() {
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
    // How many schedulers are active changes: looked at again soon.
    let is_early = CLOSE_BYTES.load(Ordering::Relaxed) == 0 && bytes < with_active(first);
    let next = if is_early { bytes + LOOK_BYTES } else { (bytes / STEP_BYTES + 1) * STEP_BYTES };
    if bytes < seen || threshold.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_err() || is_early {
        return;
    }
    let _one_at_a_time = ADVISING.lock().unwrap();
    advise(libc::MADV_HUGEPAGE);
    CLOSE_BYTES.fetch_max(with_active(FIRST_BYTES) / 4 * 3, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn shut(used: usize) {
    let _one_at_a_time = ADVISING.lock().unwrap();
    if CLOSE_BYTES.swap(0, Ordering::Relaxed) == 0 {
        return;
    }
    advise(libc::MADV_NOHUGEPAGE);
    NEXT_BLOCKS.store(FIRST_BLOCK_BYTES.max(2 * heddle_memory::sum(Kind::Heap)), Ordering::Relaxed);
    NEXT_BYTES.store(FIRST_BYTES.max(2 * used), Ordering::Relaxed);
}

fn advise(advice: libc::c_int) {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for range in maps.lines().filter_map(range).filter(|r| MAPPING_BYTES.contains(&r.len())) {
        // SAFETY: such advice changes no contents of a mapping. It may be refused: then nothing changes.
        unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), advice) };
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
