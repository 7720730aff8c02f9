//! Timers: one hierarchical wheel per scheduler, 1 ms ticks, 5 levels of 256 slots (2^40 ms; farther ones wait in the last
//! level and are placed again when they come up). Setting and cancelling are O(1). A wheel is guarded by a mutex: its scheduler
//! uses it nearly alone, other schedulers only to cancel what they find there.

use crate::package::Package;
use crate::signal::RefId;
use crate::time::ticks_ms;
use heddle_term::Term;
use std::sync::Mutex;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    wheel: u32,
    index: u32,
    generation: u32,
}

/// State of `receive ... after` in the process.
#[derive(Default)]
pub struct ReceiveTimer {
    pub handle: Option<Handle>,
    pub sequence: u32,
    pub fired: bool,
    /// The timeout is `infinity`: the operand must not be read again.
    pub forever: bool,
}

pub enum Action {
    /// `receive ... after` of process `pid`.
    Receive { pid: u64, sequence: u32 },
    /// `send_after`, `start_timer`: destination pid or name (an immediate term), message, identity.
    Send { dest: Term, message: Package, reference: RefId },
    /// Anything else (Rust side).
    Run(Box<dyn FnOnce() + Send>),
}

const SLOT_BITS: u32 = 8;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 5;
const NIL: u32 = u32::MAX;

struct Entry {
    deadline: u64,
    action: Option<Action>,
    generation: u32,
    next: u32,
    prev: u32,
    /// level * SLOTS + slot, or NIL when free.
    place: u32,
}

pub const ENTRY_BYTES: usize = size_of::<Entry>();

pub struct Wheel {
    entries: Vec<Entry>,
    free: u32,
    heads: Vec<u32>,
    occupied: [[u64; SLOTS / 64]; LEVELS],
    now: u64,
    count: usize,
}

impl Wheel {
    fn new() -> Wheel {
        Wheel { entries: Vec::new(), free: NIL, heads: vec![NIL; SLOTS * LEVELS], occupied: [[0; SLOTS / 64]; LEVELS], now: 0, count: 0 }
    }

    fn link(&mut self, index: u32) {
        let deadline = self.entries[index as usize].deadline.max(self.now + 1);
        let delta = deadline - self.now;
        let mut level = 0;
        while level < LEVELS - 1 && delta >> (SLOT_BITS * (level as u32 + 1)) != 0 {
            level += 1;
        }
        let reach = deadline.min(self.now + (1 << (SLOT_BITS * LEVELS as u32)) - 1);
        let slot = (reach >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
        let place = level * SLOTS + slot;
        let head = self.heads[place];
        let e = &mut self.entries[index as usize];
        e.place = place as u32;
        e.next = head;
        e.prev = NIL;
        if head != NIL {
            self.entries[head as usize].prev = index;
        }
        self.heads[place] = index;
        self.occupied[level][slot / 64] |= 1 << (slot % 64);
    }

    fn unlink(&mut self, index: u32) {
        let (next, prev, place) = {
            let e = &self.entries[index as usize];
            (e.next, e.prev, e.place as usize)
        };
        if next != NIL {
            self.entries[next as usize].prev = prev;
        }
        if prev != NIL {
            self.entries[prev as usize].next = next;
        } else {
            self.heads[place] = next;
            if next == NIL {
                let slot = place % SLOTS;
                self.occupied[place / SLOTS][slot / 64] &= !(1 << (slot % 64));
            }
        }
    }

    fn add(&mut self, deadline: u64, action: Action) -> (u32, u32) {
        let index = if self.free != NIL {
            let index = self.free;
            self.free = self.entries[index as usize].next;
            index
        } else {
            self.entries.push(Entry { deadline: 0, action: None, generation: 0, next: NIL, prev: NIL, place: NIL });
            self.entries.len() as u32 - 1
        };
        let e = &mut self.entries[index as usize];
        e.deadline = deadline;
        e.action = Some(action);
        e.generation = e.generation.wrapping_add(1);
        let generation = e.generation;
        if self.count == 0 {
            self.now = self.now.max(ticks_ms());
        }
        self.count += 1;
        self.link(index);
        (index, generation)
    }

    fn release(&mut self, index: u32) -> Action {
        let free = self.free;
        let e = &mut self.entries[index as usize];
        e.place = NIL;
        e.next = free;
        self.free = index;
        self.count -= 1;
        e.action.take().expect("live timer")
    }

    fn find(&self, index: u32, generation: u32) -> bool {
        self.entries.get(index as usize).is_some_and(|e| e.generation == generation && e.place != NIL)
    }

    /// Ticks until something may be due, at most `limit`.
    fn until_next(&self, limit: u64) -> u64 {
        if self.count == 0 {
            return limit;
        }
        let start = self.now as usize & (SLOTS - 1);
        for step in 1..=SLOTS {
            let slot = (start + step) & (SLOTS - 1);
            if self.occupied[0][slot / 64] & (1 << (slot % 64)) != 0 {
                return (step as u64).min(limit);
            }
            // A cascade is due at the wrap of level 0 if anything waits above.
            if slot == 0 && self.count > 0 {
                return (step as u64).min(limit);
            }
        }
        limit
    }

    /// Moves time on to `now`, collecting what is due.
    fn advance(&mut self, now: u64, due: &mut Vec<Action>) {
        if self.count == 0 {
            self.now = self.now.max(now);
            return;
        }
        while self.now < now {
            self.now += 1;
            let mut level = 0;
            // Higher levels first come down when the lower ones wrap.
            while level + 1 < LEVELS && (self.now >> (SLOT_BITS * level as u32)) & (SLOTS as u64 - 1) == 0 {
                level += 1;
                let slot = (self.now >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
                self.cascade(level, slot, due);
            }
            let slot = self.now as usize & (SLOTS - 1);
            self.cascade(0, slot, due);
            if self.count == 0 {
                self.now = now;
            }
        }
    }

    fn cascade(&mut self, level: usize, slot: usize, due: &mut Vec<Action>) {
        let place = level * SLOTS + slot;
        let mut index = std::mem::replace(&mut self.heads[place], NIL);
        self.occupied[level][slot / 64] &= !(1 << (slot % 64));
        while index != NIL {
            let next = self.entries[index as usize].next;
            if self.entries[index as usize].deadline <= self.now {
                due.push(self.release(index));
            } else {
                self.link(index);
            }
            index = next;
        }
    }
}

pub struct Wheels {
    wheels: Vec<Mutex<Wheel>>,
}

impl Wheels {
    pub fn new(n: usize) -> Wheels {
        Wheels { wheels: (0..n).map(|_| Mutex::new(Wheel::new())).collect() }
    }

    /// `deadline_ms` on the clock of `time::ticks_ms`.
    pub fn set(&self, wheel: usize, deadline_ms: u64, action: Action) -> Handle {
        let mut w = self.wheels[wheel].lock().unwrap();
        let (index, generation) = w.add(deadline_ms, action);
        Handle { wheel: wheel as u32, index, generation }
    }

    /// Remaining ms and the action, if it had not fired.
    pub fn cancel(&self, handle: Handle) -> Option<(u64, Action)> {
        let mut w = self.wheels[handle.wheel as usize].lock().unwrap();
        if !w.find(handle.index, handle.generation) {
            return None;
        }
        w.unlink(handle.index);
        let deadline = w.entries[handle.index as usize].deadline;
        let action = w.release(handle.index);
        // Deadlines count one tick more than was asked for: see set_receive_timer.
        Some((deadline.saturating_sub(ticks_ms() + 1), action))
    }

    pub fn remaining_ms(&self, handle: Handle) -> Option<u64> {
        let w = self.wheels[handle.wheel as usize].lock().unwrap();
        w.find(handle.index, handle.generation).then(|| w.entries[handle.index as usize].deadline.saturating_sub(ticks_ms() + 1))
    }

    /// What is due on this wheel, and the ms until the next look.
    pub fn take_due(&self, wheel: usize, limit_ms: u64) -> (Vec<Action>, u64) {
        let mut due = Vec::new();
        let mut w = self.wheels[wheel].lock().unwrap();
        let now = ticks_ms();
        if w.now < now {
            w.advance(now, &mut due);
        }
        (due, w.until_next(limit_ms))
    }

    /// Calls `f` with the message of every timer that is to send one.
    pub fn for_each_message(&self, mut f: impl FnMut(Term)) {
        for wheel in &self.wheels {
            let wheel = wheel.lock().unwrap();
            for entry in &wheel.entries {
                if let Some(Action::Send { message, .. }) = &entry.action {
                    f(message.term());
                }
            }
        }
    }

    pub fn count(&self) -> usize {
        self.wheels.iter().map(|w| w.lock().unwrap().count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fire_times(deadlines: &[u64], step: u64) -> Vec<(u64, u64)> {
        let mut w = Wheel::new();
        w.now = 1000;
        let fired = std::sync::Arc::new(Mutex::new(Vec::new()));
        for &d in deadlines {
            let fired = fired.clone();
            let index = w.entries.len() as u32;
            w.entries.push(Entry { deadline: d, action: None, generation: 0, next: NIL, prev: NIL, place: NIL });
            w.entries[index as usize].action = Some(Action::Run(Box::new(move || fired.lock().unwrap().push(d))));
            w.count += 1;
            w.link(index);
        }
        let mut out = Vec::new();
        let mut now = 1000;
        while w.count > 0 {
            now += step;
            let mut due = Vec::new();
            w.advance(now, &mut due);
            for action in due {
                if let Action::Run(f) = action {
                    f();
                }
            }
            out.extend(fired.lock().unwrap().drain(..).map(|d| (d, now)));
        }
        out
    }

    #[test]
    fn fires_on_the_tick() {
        let deadlines = [1001, 1002, 1255, 1256, 1257, 1511, 1512, 2000, 66000, 66536, 70000, 131072, 131073];
        for (deadline, at) in fire_times(&deadlines, 1) {
            assert_eq!(deadline, at);
        }
    }

    #[test]
    fn never_early_and_at_most_one_step_late() {
        let deadlines: Vec<u64> = (0..500).map(|i| 1001 + (i * i * 37) % 90_000).collect();
        let fired = fire_times(&deadlines, 7);
        assert_eq!(fired.len(), deadlines.len());
        for (deadline, at) in fired {
            assert!(at >= deadline && at < deadline + 7, "{deadline} fired at {at}");
        }
    }
}
