//! What the system gave, and giving it back.

use crate::KINDS;
use crate::mi::{_mi_theap_collect_abandon, mi_free, mi_stats_get_json, mi_theap_collect};
use crate::rows::mine;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Bytes of memory that the VM occupies now.
pub fn resident_bytes() -> usize {
    std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|sizes| sizes.split(' ').nth(1)?.parse::<usize>().ok())
        .map_or(0, |pages| pages * 4096)
}

/// Between mimalloc and the system, in bytes, since the start.
#[derive(Default, Debug)]
pub struct System {
    /// Address space mapped now, most of which may never have been touched.
    pub reserved: u64,
    /// Given back, and how often.
    pub purged: u64,
    pub purges: u64,
}

pub fn system() -> System {
    // SAFETY: it allocates the text, which is freed below.
    let text = unsafe { mi_stats_get_json(0, null_mut()) };
    if text.is_null() {
        return System::default();
    }
    // SAFETY: a text that ends in zero.
    let found = unsafe { CStr::from_ptr(text) }.to_str().map_or_else(|_| System::default(), parse);
    // SAFETY: ours.
    unsafe { mi_free(text.cast()) };
    found
}

fn parse(text: &str) -> System {
    let number = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("\"{name}\":")))?;
        let value = line.rsplit(':').next()?;
        value.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    };
    System { reserved: number("reserved").unwrap_or(0), purged: number("purged").unwrap_or(0), purges: number("purge_calls").unwrap_or(0) }
}

/// One at a time: mimalloc drops a wish to purge while another thread purges, and what was freed while that one purges would stay
/// until a thread allocates again, which none does in a node that goes to sleep.
static PURGING: Mutex<()> = Mutex::new(());

/// Takes in what other threads freed of the calling thread's blocks, gives up areas in which nothing is used, gives the system back
/// what is not in use, and leaves the calling thread's areas to all: other threads allocate from them, and the one that frees the last block of
/// an area gives it up. For a thread that may sleep for long. When it allocates again it takes areas that were left so.
pub fn leave_and_purge() {
    mine().let_go_of_recent();
    mine().let_go_of_common();
    for kind in KINDS {
        // SAFETY: pages of the calling thread; without any its heap is as it was at first.
        unsafe { _mi_theap_collect_abandon(mine().heap(kind)) };
    }
    let purging = PURGING.lock();
    // SAFETY: as above. What it purges is the whole VM's, whatever heap it is asked for.
    unsafe { mi_theap_collect(mine().heap(KINDS[0]), true) };
    drop(purging);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::alone;
    use crate::{MemoryKind, allocate, areas, free};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Writes to `blocks` blocks of 50,000 bytes and frees them once `peak` was called.
    fn fill_and_free(blocks: usize, peak: impl FnOnce()) {
        let blocks: Vec<*mut u8> = (0..blocks)
            .map(|_| {
                let block = allocate(MemoryKind::Heap, 50_000);
                // SAFETY: that many bytes are ours.
                unsafe { block.write_bytes(1, 50_000) };
                block
            })
            .collect();
        peak();
        // SAFETY: blocks of that kind and size.
        blocks.into_iter().for_each(|b| unsafe { free(MemoryKind::Heap, b, 50_000) });
    }

    /// While the thread sleeps that allocated it.
    #[test]
    fn an_area_that_a_sleeping_thread_left_goes_with_its_last_block() {
        const BYTES: usize = 3000;
        let _alone = alone();
        let found = || areas(MemoryKind::Ets).iter().filter(|area| (BYTES..BYTES + 200).contains(&area.block_bytes)).count();
        let take = || (0..200).map(|_| allocate(MemoryKind::Ets, BYTES) as usize).collect::<Vec<_>>();
        // SAFETY: blocks of that kind and size.
        let give = |blocks: Vec<usize>| blocks.into_iter().for_each(|b| unsafe { free(MemoryKind::Ets, b as *mut u8, BYTES) });
        let (to_us, blocks) = std::sync::mpsc::channel();
        let (wake, sleep) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            give(take());
            to_us.send(take()).unwrap();
            leave_and_purge();
            to_us.send(Vec::new()).unwrap();
            sleep.recv().unwrap();
            // It goes on as before.
            give(take());
        });
        let given = blocks.recv().unwrap();
        blocks.recv().unwrap();
        assert!(found() > 0);
        give(given);
        assert_eq!(found(), 0);
        wake.send(()).unwrap();
        sleeper.join().unwrap();
    }

    #[test]
    fn what_was_freed_goes_back() {
        let _alone = alone();
        let (before, purged) = (resident_bytes(), system().purged);
        fill_and_free(2000, || assert!(resident_bytes() - before > 95_000_000, "{before}"));
        leave_and_purge();
        assert!(resident_bytes().saturating_sub(before) < 20_000_000, "{} {before}", resident_bytes());
        assert!(system().purged - purged > 80_000_000, "{:?}", system());
        assert!(system().reserved > 100_000_000, "{:?}", system());
    }

    #[test]
    fn what_was_freed_goes_back_while_others_give_back() {
        let _alone = alone();
        for round in 0..50 {
            let (before, is_over) = (resident_bytes(), AtomicBool::new(false));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        // Relaxed: it orders nothing.
                        while !is_over.load(Ordering::Relaxed) {
                            leave_and_purge();
                        }
                    });
                }
                fill_and_free(400, || ());
                is_over.store(true, Ordering::Relaxed);
                leave_and_purge();
            });
            let left = resident_bytes().saturating_sub(before);
            assert!(left < 10_000_000, "{left} in round {round}");
        }
    }
}
