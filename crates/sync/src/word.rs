//! Words that any thread may change by read-modify-writes. These need not be atomic where only one thread can be at such a word: in
//! the sequential machine, where threads take turns (`sequential`), and while one thread is alone (`alone`).
//!
//! Otherwise all that costs a look at one word that is never written.

use crate::alone;
use crate::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Read-modify-writes of what is touched only by threads that are online (`alone::claim`), or have the turn.
pub trait Word {
    type Value;
    /// As the atomic's `compare_exchange`.
    fn exchange(&self, old: Self::Value, new: Self::Value, success: Ordering, failure: Ordering) -> Result<Self::Value, Self::Value>;
    /// What it was and is, after `f`, which may be asked several times and returns None for what stays as it is. Acquire and Release, where it
    /// changes.
    fn change(&self, f: impl FnMut(Self::Value) -> Option<Self::Value>) -> (Self::Value, Self::Value);
}

/// The same for numbers, as the atomics' `fetch_add` and `fetch_sub`.
pub trait Number: Word {
    fn add(&self, more: Self::Value, order: Ordering) -> Self::Value;
    fn sub(&self, less: Self::Value, order: Ordering) -> Self::Value;
}

// Plain ones read Relaxed, because no other thread writes, and write Release, because others may read.

macro_rules! word {
    ($atomic:ty, $value:ty $(, $parameter:ident)?) => {
        impl$(<$parameter>)? Word for $atomic {
            type Value = $value;

            #[inline(always)]
            fn exchange(&self, old: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value> {
                if !alone::enter() {
                    return self.compare_exchange(old, new, success, failure);
                }
                let seen = self.load(Ordering::Relaxed);
                if seen == old {
                    // Release: pairs with an Acquire of a thread that reads the word, as the Release of the exchange that it stands for.
                    self.store(new, Ordering::Release);
                }
                alone::leave();
                if seen == old { Ok(seen) } else { Err(seen) }
            }

            #[inline(always)]
            fn change(&self, mut f: impl FnMut($value) -> Option<$value>) -> ($value, $value) {
                let is_alone = alone::enter();
                let mut old = self.load(Ordering::Relaxed);
                loop {
                    let new = f(old);
                    if is_alone {
                        // Release: as the exchange below.
                        new.inspect(|new| self.store(*new, Ordering::Release));
                        alone::leave();
                        return (old, new.unwrap_or(old));
                    }
                    let Some(new) = new else { return (old, old) };
                    // AcqRel: pairs with the exchange of another thread that changes the word.
                    match self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed) {
                        Ok(_) => return (old, new),
                        Err(seen) => old = seen,
                    }
                }
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
                if !alone::enter() {
                    return self.fetch_add(more, order);
                }
                let seen = self.load(Ordering::Relaxed);
                // Release: pairs with an Acquire of a thread that reads the sum.
                self.store(seen.wrapping_add(more), Ordering::Release);
                alone::leave();
                seen
            }

            #[inline(always)]
            fn sub(&self, less: $value, order: Ordering) -> $value {
                self.add(less.wrapping_neg(), order)
            }
        }
    };
}

number!(AtomicU32, u32);
number!(AtomicU64, u64);
number!(AtomicUsize, usize);
word!(AtomicPtr<T>, *mut T, T);
