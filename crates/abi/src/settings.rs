//! The options of a VM. Each is one row of the table (`table.rs`): its flag, its field of [`Settings`], its default, its check and its help
//! text. `cli` sets the fields from the command line before it starts other threads. All crates read them here.
//!
//! A few fields are also changed by a running program (`system_flag`, `code:set_coverage_mode/1`). They hold single values that no other
//! memory depends on, so all accesses are Relaxed: a thread that reads the old value acts as if it had run before the change.

mod check;
mod choices;
mod table;

pub use check::{Check, FOREVER_MS};
pub use choices::{Break, CoverageMode, Direct, MemoryArchitecture, PerfFiles, Untranslatable, WarningMap, Warp};
pub use table::{CHAOS_GROUPS, DEFAULT_MIN_HEAP_WORDS, DEFAULT_MIN_VHEAP_WORDS, FLAGS, MIN_ETS_LIMIT, SETTINGS, Settings};

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};

/// A setting as the parser of flags sees it.
pub trait Field: Sync {
    /// Stores a value that a [`Check`] returned: a number, 0 or 1, or the index of a choice.
    fn store(&self, value: usize);
}

/// A setting that is a number; the name of the field gives its unit.
pub struct Number(AtomicUsize);

impl Number {
    pub const fn new(default: usize) -> Number {
        Number(AtomicUsize::new(default))
    }
    #[inline(always)]
    pub fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
    pub fn set(&self, value: usize) {
        self.0.store(value, Relaxed);
    }
    /// Sets the number, and returns the one before.
    pub fn swap(&self, value: usize) -> usize {
        self.0.swap(value, Relaxed)
    }
}

impl Field for Number {
    fn store(&self, value: usize) {
        self.set(value);
    }
}

/// A setting that is on or off.
pub struct Switch(AtomicBool);

impl Switch {
    pub const fn new(default: bool) -> Switch {
        Switch(AtomicBool::new(default))
    }
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.0.load(Relaxed)
    }
    pub fn set(&self, on: bool) {
        self.0.store(on, Relaxed);
    }
}

impl Field for Switch {
    fn store(&self, value: usize) {
        self.set(value != 0);
    }
}

/// One of a few named values.
pub trait Named: Copy + Into<u8> + 'static {
    /// In the order of their numbers.
    const ALL: &'static [Self];
    /// The value with the number; the first one if there is none.
    fn of(number: u8) -> Self;
}

/// A setting with named values.
pub struct Choice<T>(AtomicU8, PhantomData<T>);

impl<T: Named> Choice<T> {
    const fn of_number(number: u8) -> Choice<T> {
        Choice(AtomicU8::new(number), PhantomData)
    }
    #[inline(always)]
    pub fn get(&self) -> T {
        T::of(self.0.load(Relaxed))
    }
    /// As `get() == value`, at the price of one comparison.
    #[inline(always)]
    pub fn is(&self, value: T) -> bool {
        self.0.load(Relaxed) == value.into()
    }
    pub fn set(&self, value: T) {
        self.0.store(value.into(), Relaxed);
    }
    /// Sets the value, and returns the one before.
    pub fn swap(&self, value: T) -> T {
        T::of(self.0.swap(value.into(), Relaxed))
    }
}

impl<T: Named + Sync> Field for Choice<T> {
    fn store(&self, value: usize) {
        self.set(T::ALL[value]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Check, FLAGS, FOREVER_MS, SETTINGS, Warp};
    use crate::flags::Effect;

    fn set(name: &str, value: &str) -> Result<(), String> {
        let flag = FLAGS.iter().find(|flag| flag.name == name).expect("a flag");
        let Effect::Sets(field, check) = flag.effect else { panic!("+{name} sets no field") };
        check.value(name, value).map(|value| field.store(value))
    }

    #[test]
    fn a_row_sets_its_field() {
        assert_eq!(SETTINGS.min_vheap_words.get(), 46_422);
        assert_eq!(set("hmbs", "100"), Ok(()));
        assert_eq!(SETTINGS.min_vheap_words.get(), 100);
        assert_eq!(set("C", "single_time_warp"), Ok(()));
        assert_eq!(SETTINGS.time_warp.get(), Warp::Single);
        assert_eq!(set("hmaxk", "false"), Ok(()));
        assert!(!SETTINGS.max_heap_kill.is_on());
    }

    #[test]
    fn a_wrong_value_changes_nothing() {
        assert_eq!(set("hgcp", "0").unwrap_err(), "+hgcp 0: between 1 and 100 percent");
        assert_eq!(set("hgcp", "x").unwrap_err(), "+hgcp x: a number is needed");
        assert_eq!(SETTINGS.requested_collections_percent.get(), 25);
        assert_eq!(set("swc", "on").unwrap_err(), "bad scheduler worker cache value 'on'");
        assert_eq!(set("hdirect", "small").unwrap_err(), "+hdirect small: never, large or always");
    }

    #[test]
    fn a_seed_may_have_a_number_after_it() {
        let seed = |text| Check::Seed(100, "{}").value("", text);
        assert_eq!(seed("7"), Ok(7 << 32 | 100));
        assert_eq!((seed("7:0"), seed("7:100")), (Ok(7 << 32), Ok(7 << 32 | 100)));
        for wrong in ["0", "0:1", "7:101", "7:", ":1", "4294967296", "7:1:1"] {
            assert_eq!(seed(wrong), Err(wrong.into()));
        }
    }

    #[test]
    fn units() {
        assert_eq!(Check::Seconds("").value("", "0.5"), Ok(500_000_000));
        assert_eq!((Check::Seconds("").value("", "off"), Check::Seconds("").value("", "0")), (Ok(0), Ok(0)));
        assert_eq!(Check::Seconds("{} is little").value("", "0.01"), Err("0.01 is little".into()));
        assert_eq!(Check::Milliseconds("").value("", "infinity"), Ok(FOREVER_MS));
        assert_eq!(Check::Mebibytes(10, "").value("", "3"), Ok(3 << 20));
        assert_eq!(Check::Mebibytes(10, "").value("", "96K"), Ok(96 << 10));
        assert_eq!(Check::Mebibytes(10, "{} is much").value("", "11"), Err("11 is much".into()));
        assert_eq!(Check::Mebibytes(10, "{} is none").value("", "K"), Err("K is none".into()));
        assert_eq!(Check::Milliseconds("bad {}").value("", "-1"), Err("bad -1".into()));
    }
}
