//! A small number for each thread: its place in tables that have a line for every thread, and that others read.
//!
//! The number is the thread's as long as its `Slot` is held, so code that writes to such a line when the thread ends keeps one:
//! only after that is the number given to another thread.

use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that there can be at a time.
pub const MAX: usize = 2048;

static NEXT: AtomicUsize = AtomicUsize::new(0);
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Keeps the number of a thread.
#[derive(Clone)]
pub struct Slot(Rc<Number>);

struct Number(usize);

impl Drop for Number {
    fn drop(&mut self) {
        FREE.lock().unwrap().push(self.0);
    }
}

thread_local! {
    static MINE: Slot = Slot(Rc::new(Number(FREE.lock().unwrap().pop().unwrap_or_else(|| {
        // Relaxed: only the number counts.
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        assert!(n < MAX, "more than {MAX} threads look at shared structures");
        n
    }))));
}

impl Slot {
    /// The calling thread's.
    pub fn mine() -> Slot {
        MINE.with(Slot::clone)
    }

    #[inline(always)]
    pub fn index(&self) -> usize {
        self.0.0
    }
}

/// Numbers below this one were given out: no other thread wrote a line. A thread that comes later may have a higher one.
pub fn used() -> usize {
    NEXT.load(Ordering::Relaxed).min(MAX)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Slot;
    use std::collections::HashSet;

    #[test]
    fn threads_that_live_at_a_time_have_different_numbers_and_ended_ones_leave_theirs() {
        let mine = Slot::mine().index();
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            tell.send(Slot::mine().index()).unwrap();
            let _ = ended.recv();
        });
        let others = told.recv().unwrap();
        assert_ne!(others, mine);
        assert_eq!(Slot::mine().index(), mine);
        drop(end);
        other.join().unwrap();
        // Threads of other tests come and go meanwhile: which number comes next is not known, but no more are used than live at a time.
        let numbers: HashSet<usize> = (0..200).map(|_| std::thread::spawn(|| Slot::mine().index()).join().unwrap()).collect();
        assert!(numbers.len() < 50, "{numbers:?}");
    }
}
