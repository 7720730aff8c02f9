//! Freeing what was in tables: a process that deletes many objects frees them itself, a slice at a time; where no process can
//! (it ended), a thread does.

use super::table::Removed;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{msacc, refs};
use heddle_term::{Resource, Term};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

/// Objects freed at one go, and those a reduction (some 50 ns each).
const AT_ONCE: usize = 2000;
const OBJECTS_PER_REDUCTION: usize = 2;

/// Portions that the thread has not freed yet.
/// Release where a portion is freed, Acquire in `is_busy`: all of it is freed.
static PENDING: AtomicUsize = AtomicUsize::new(0);

/// True while deleted objects wait to be freed.
pub fn is_busy() -> bool {
    PENDING.load(Ordering::Acquire) > 0
}

/// Frees `count` objects, on the thread if they are many.
pub fn reap(count: usize, removed: Removed) {
    if count <= AT_ONCE {
        return drop(removed);
    }
    static REAPER: Mutex<Option<mpsc::Sender<Removed>>> = Mutex::new(None);
    let mut reaper = REAPER.lock().unwrap_or_else(|e| e.into_inner());
    let sender = reaper.get_or_insert_with(|| {
        let (sender, receiver) = mpsc::channel::<Removed>();
        let run = move || {
            heddle_runtime::affinity::free();
            msacc::register("aux", 1);
            for removed in receiver {
                msacc::sleep(false);
                msacc::enter(msacc::ThreadState::Aux);
                drop(removed);
                msacc::sleep(true);
                PENDING.fetch_sub(1, Ordering::Release);
            }
        };
        let _ = std::thread::Builder::new().name("ets_reaper".into()).spawn(run);
        sender
    });
    PENDING.fetch_add(1, Ordering::Relaxed);
    // Without a thread the receiver is gone: the error gives it back, to be freed here.
    if let Err(back) = sender.send(removed) {
        drop(back);
        PENDING.fetch_sub(1, Ordering::Release);
    }
}

/// What a native has left to free; stands in the place of its table while it is interrupted.
struct Reaping {
    rest: Mutex<Option<Removed>>,
    /// What the native answers in the end: an immediate.
    result: Term,
}

impl Resource for Reaping {
    fn type_name(&self) -> &'static str {
        "ets_reaping"
    }
}

impl Drop for Reaping {
    fn drop(&mut self) {
        // The process was ended meanwhile.
        if let Some(rest) = self.rest.get_mut().unwrap_or_else(|e| e.into_inner()).take() {
            reap(usize::MAX, rest);
        }
    }
}

/// The answer of a native that is called again to go on freeing; None for any other call.
pub fn resumed(p: &mut Process, a: &[Term]) -> Option<NativeResult> {
    let reaping = args::borrowed_resource::<Reaping>(&a[0])?;
    let mut rest = reaping.rest.lock().unwrap_or_else(|e| e.into_inner());
    let freed = rest.as_mut().map_or(0, |removed| removed.free_some(AT_ONCE));
    p.bump(freed / OBJECTS_PER_REDUCTION);
    if freed < AT_ONCE {
        *rest = None;
        return Some(Ok(reaping.result));
    }
    Some(Err(p.again(a)))
}

/// Frees what a native took out of the table that is its first argument, and answers `result`, an immediate.
pub fn free(p: &mut Process, a: &[Term], count: usize, mut removed: Removed, result: Term) -> NativeResult {
    removed.free_some(AT_ONCE);
    p.bump(count.min(AT_ONCE) / OBJECTS_PER_REDUCTION);
    if count <= AT_ONCE {
        return Ok(result);
    }
    let reaping = Arc::new(Reaping { rest: Mutex::new(Some(removed)), result });
    let reference = p.heap.magic_reference(refs::fresh().words(), reaping as Arc<dyn Resource>);
    let mut again = a.to_vec();
    again[0] = reference;
    Err(p.again(&again))
}
