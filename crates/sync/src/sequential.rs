//! The sequential machine: one thread at a time has its turn at everything that processes share, and what the others would see of
//! a read-modify-write need not be atomic then.
//!
//! The mode is chosen once, before there are threads. In it a thread takes the turn before it looks at what is shared, and gives it
//! back before it blocks; the scheduler, which mostly has it, offers it between two processes to who waits. Turns are taken in the
//! order of asking. Giving back and taking synchronise as a lock does, so plain loads and stores are enough for what only those who
//! have the turn touch: `Word` does its read-modify-writes with them then. Elsewhere, and for what other threads touch at any time
//! (the set of the idle, what is brought for a scheduler), they are atomic in this mode as well.
//!
//! Where the mode is off all that costs a look at one byte that nobody writes.

use crate::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::turn::Turn;
use std::sync::atomic;

static IS_ON: atomic::AtomicBool = atomic::AtomicBool::new(false);
static TURN: Turn = Turn::new();

/// From here on. Before any other thread looks at what is shared.
pub fn choose() {
    IS_ON.store(true, Ordering::Relaxed);
}

#[inline(always)]
pub fn is_on() -> bool {
    // Relaxed: written before the threads start that read it.
    IS_ON.load(Ordering::Relaxed)
}

/// Takes the turn, if this is the sequential machine. The caller does not have it.
#[inline]
pub fn enter() {
    if is_on() {
        TURN.take();
    }
}

/// Gives it back.
#[inline]
pub fn leave() {
    if is_on() {
        TURN.give_back();
    }
}

/// By who has it, and holds nothing that is shared just now: lets others go first who wait.
#[inline(always)]
pub fn offer() {
    if is_on() && TURN.is_wanted() {
        TURN.give_back();
        TURN.take();
    }
}

/// Read-modify-writes of what is touched only by those who have the turn, if there are turns. Each is as the atomic's own that it is
/// named after.
pub trait Word {
    type Value;
    fn exchange(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> Result<Self::Value, Self::Value>;
    fn replace(&self, new: Self::Value, order: Ordering) -> Self::Value;
}

/// The same for numbers.
pub trait Number: Word {
    fn add(&self, more: Self::Value, order: Ordering) -> Self::Value;
    fn sub(&self, less: Self::Value, order: Ordering) -> Self::Value;
    fn and(&self, bits: Self::Value, order: Ordering) -> Self::Value;
}

macro_rules! word {
    ($atomic:ty, $value:ty $(, $parameter:ident)?) => {
        impl$(<$parameter>)? Word for $atomic {
            type Value = $value;

            #[inline(always)]
            fn exchange(&self, old: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value> {
                if !is_on() {
                    return self.compare_exchange(old, new, success, failure);
                }
                let seen = self.load(Ordering::Relaxed);
                if seen != old {
                    return Err(seen);
                }
                self.store(new, Ordering::Relaxed);
                Ok(seen)
            }

            #[inline(always)]
            fn replace(&self, new: $value, order: Ordering) -> $value {
                if !is_on() {
                    return self.swap(new, order);
                }
                let seen = self.load(Ordering::Relaxed);
                self.store(new, Ordering::Relaxed);
                seen
            }
        }
    };
}

macro_rules! number {
    ($atomic:ty, $value:ty) => {
        word!($atomic, $value);

        impl Number for $atomic {
            #[inline(always)]
            fn add(&self, more: $value, order: Ordering) -> $value {
                if is_on() { self.replace(self.load(Ordering::Relaxed).wrapping_add(more), order) } else { self.fetch_add(more, order) }
            }

            #[inline(always)]
            fn sub(&self, less: $value, order: Ordering) -> $value {
                if is_on() { self.replace(self.load(Ordering::Relaxed).wrapping_sub(less), order) } else { self.fetch_sub(less, order) }
            }

            #[inline(always)]
            fn and(&self, bits: $value, order: Ordering) -> $value {
                if is_on() { self.replace(self.load(Ordering::Relaxed) & bits, order) } else { self.fetch_and(bits, order) }
            }
        }
    };
}

number!(AtomicU32, u32);
number!(AtomicU64, u64);
number!(AtomicUsize, usize);
word!(AtomicPtr<T>, *mut T, T);
