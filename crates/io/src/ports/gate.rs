//! The gate of a port, which tells senders whether it takes more data. A port is busy while many bytes wait in its queue for the
//! descriptor, or while many bytes are on their way to it as signals. Processes that send wait until it is not busy.

use heddle_runtime::locks::LockClass;
use heddle_runtime::proctab;
use heddle_runtime::send::deliver;
use heddle_runtime::signal::{Signal, SignalBody};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Low and high mark in bytes. None: never busy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits(Option<(usize, usize)>);

impl Limits {
    pub const USUAL: Limits = Limits(Some((4096, 8192)));
    pub const NEVER: Limits = Limits(None);

    pub fn new(low: usize, high: usize) -> Limits {
        Limits(Some((low.min(high), high)))
    }
    /// The limits in bytes; None: never busy.
    pub fn bytes(self) -> Option<(usize, usize)> {
        self.0
    }
    /// True if a port with `bytes` is busy; `was`: it was busy before.
    fn is_busy(self, was: bool, bytes: usize) -> bool {
        self.0.is_some_and(|(low, high)| if was { bytes > low } else { bytes >= high })
    }
}

pub struct Gate {
    queue: Limits,
    signals: Mutex<Limits>,
    /// The driver says that the port is busy. SeqCst with `waiting`, see `is_shut`.
    is_held: AtomicBool,
    /// SeqCst with `waiting`, see `is_shut`.
    queue_is_full: AtomicBool,
    /// Bytes in signals that the port has not seen.
    /// SeqCst with `signals_are_many`: `sent` sets the flag and then reads this again, `arrived` changes this and then reads the flag.
    on_the_way: AtomicUsize,
    /// SeqCst with `waiting`, see `is_shut`, and with `on_the_way`.
    signals_are_many: AtomicBool,
    /// Identities of the processes to wake when the gate opens.
    waiting: Mutex<Vec<u64>>,
}

impl Gate {
    pub fn new(queue: Limits, signals: Limits) -> Gate {
        Gate {
            queue,
            signals: Mutex::new(signals),
            is_held: AtomicBool::new(false),
            queue_is_full: AtomicBool::new(false),
            on_the_way: AtomicUsize::new(0),
            signals_are_many: AtomicBool::new(false),
            waiting: Mutex::default(),
        }
    }

    // SeqCst, here and where the gate opens: a process that waits enters itself in `waiting` and then looks at the flags; a thread that
    // opens the gate clears a flag and then looks at `waiting`. So one of the two sees the other.
    pub fn is_shut(&self) -> bool {
        self.is_held() || self.queue_is_full.load(Ordering::SeqCst) || self.signals_are_many.load(Ordering::SeqCst)
    }

    /// The process will be woken when the gate opens. It is woken at once if the gate has opened meanwhile.
    pub fn wait(&self, pid: u64) {
        let mut waiting = LockClass::Port.lock(&self.waiting);
        if !waiting.contains(&pid) {
            waiting.push(pid);
        }
        drop(waiting);
        if !self.is_shut() {
            self.wake_all();
        }
    }

    /// A signal with this many bytes is about to be sent.
    pub fn sent(&self, bytes: usize) {
        let all = self.on_the_way.fetch_add(bytes, Ordering::SeqCst) + bytes;
        if self.signals().is_busy(false, all) {
            self.signals_are_many.store(true, Ordering::SeqCst);
            // The port may have taken all of them before that store.
            self.look_at_signals(self.on_the_way.load(Ordering::SeqCst));
        }
    }

    /// The port has received a signal with this many bytes, or has ended and never will.
    pub fn arrived(&self, bytes: usize) {
        let left = self.on_the_way.fetch_sub(bytes, Ordering::SeqCst) - bytes;
        self.look_at_signals(left);
    }

    fn look_at_signals(&self, bytes: usize) {
        if self.signals_are_many.load(Ordering::SeqCst) && !self.signals().is_busy(true, bytes) {
            self.signals_are_many.store(false, Ordering::SeqCst);
            self.wake_all();
        }
    }

    /// The limits for bytes in signals.
    pub fn signals(&self) -> Limits {
        *LockClass::Port.lock(&self.signals)
    }
    pub fn set_signals(&self, limits: Limits) {
        *LockClass::Port.lock(&self.signals) = limits;
        let bytes = self.on_the_way.load(Ordering::SeqCst);
        if limits.is_busy(false, bytes) {
            self.signals_are_many.store(true, Ordering::SeqCst);
        }
        self.look_at_signals(self.on_the_way.load(Ordering::SeqCst));
    }

    /// The driver says whether the port is busy. May be called by any thread. True if it was busy and is not any more: then the caller must
    /// call `wake_all`.
    pub fn hold(&self, on: bool) -> bool {
        self.is_held.swap(on, Ordering::SeqCst) && !on
    }
    /// True if the driver says that the port is busy.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::SeqCst)
    }

    /// Called by the port: `bytes` are in its queue.
    pub fn queued(&self, bytes: usize) {
        let was = self.queue_is_full.load(Ordering::Relaxed);
        let is = self.queue.is_busy(was, bytes);
        if was != is {
            self.queue_is_full.store(is, Ordering::SeqCst);
            if was {
                self.wake_all();
            }
        }
    }

    /// The port takes no more data, so no process has to wait until it does.
    pub fn close(&self) {
        self.is_held.store(false, Ordering::SeqCst);
        self.queue_is_full.store(false, Ordering::SeqCst);
        self.signals_are_many.store(false, Ordering::SeqCst);
        self.wake_all();
    }

    /// Wakes the processes that wait.
    pub fn wake_all(&self) {
        let waiting = std::mem::take(&mut *LockClass::Port.lock(&self.waiting));
        wake(waiting);
    }
}

/// Wakes processes, of which some may have ended.
pub fn wake(pids: Vec<u64>) {
    for to in pids.into_iter().filter_map(proctab::lookup) {
        let _ = deliver(to, Signal::new(SignalBody::Wake));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shuts_at_the_high_mark_and_opens_at_the_low_one() {
        let gate = Gate::new(Limits::new(10, 20), Limits::NEVER);
        let shut = [19, 20, 11, 10, 11, 20].map(|bytes| {
            gate.queued(bytes);
            gate.is_shut()
        });
        assert_eq!(shut, [false, true, true, false, false, true]);
        gate.close();
        assert!(!gate.is_shut());
    }

    #[test]
    fn bytes_on_the_way_count_by_themselves() {
        let gate = Gate::new(Limits::NEVER, Limits::new(10, 20));
        gate.sent(15);
        assert!(!gate.is_shut());
        gate.sent(15);
        assert!(gate.is_shut());
        gate.arrived(15);
        assert!(gate.is_shut());
        gate.arrived(15);
        assert!(!gate.is_shut());
    }
}
