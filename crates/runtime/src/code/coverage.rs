//! Native coverage (`code:get_coverage/2`): which functions or lines of a module were executed, and how often. What is counted is
//! decided when a module is loaded: the loader puts an operation in front of functions, or where the compiler (`line_coverage`)
//! left an `executable_line`. That operation writes a counter of the module.
//!
//! From ERTS: a module whose lines should be counted but that has no such instructions is not counted at all, and one that was
//! compiled with `force_line_counters` is always counted. Neighbouring places of one line share a counter.

use crate::code::Function;
use heddle_abi::settings::{CoverageMode, SETTINGS};
use heddle_term::Atom;
use std::sync::atomic::{AtomicU64, Ordering};

/// The mode of a module, by what the compiler put into it.
pub fn mode_of_module(has_lines: bool, is_forced: bool) -> CoverageMode {
    match current() {
        _ if is_forced => CoverageMode::LineCounters,
        mode if mode.is_of_lines() && !has_lines => CoverageMode::None,
        mode => mode,
    }
}

/// The mode of modules that will be loaded. A process that sets the mode for a module loads the module after that.
pub fn current() -> CoverageMode {
    SETTINGS.coverage.get()
}

/// Sets the mode, and returns the one before.
pub fn set(mode: CoverageMode) -> CoverageMode {
    SETTINGS.coverage.swap(mode)
}

/// A counted place of a line.
#[derive(Clone, Copy)]
pub struct CoveredPlace {
    /// The line number; 0 if unknown.
    pub line: u32,
    /// The number by which `cover` knows it.
    pub id: u64,
    /// Index of its function.
    pub function: u32,
}

/// The counters of one module: one for each function, or one for each place.
pub struct Coverage {
    pub mode: CoverageMode,
    counters: Box<[AtomicU64]>,
    places: Vec<CoveredPlace>,
}

impl Default for Coverage {
    fn default() -> Self {
        Coverage { mode: CoverageMode::None, counters: Box::default(), places: Vec::new() }
    }
}

impl Coverage {
    /// Coverage with room for `max` counters, which stay where they are.
    pub fn new(mode: CoverageMode, max: usize) -> Coverage {
        Coverage { mode, counters: (0..max).map(|_| AtomicU64::new(0)).collect(), places: Vec::new() }
    }

    /// The address of a counter.
    pub fn counter(&self, index: usize) -> u64 {
        &raw const self.counters[index] as u64
    }

    /// Adds a place, and returns the address of its counter.
    pub fn add(&mut self, place: CoveredPlace) -> u64 {
        self.places.push(place);
        self.counter(self.places.len() - 1)
    }

    /// The place that was added last is also known by the number `id`, and that number is used. Returns the address of its counter.
    pub fn last_is(&mut self, id: u64) -> u64 {
        if let Some(last) = self.places.last_mut() {
            last.id = id;
        }
        self.counter(self.places.len() - 1)
    }

    /// The lines in the order of the code, each with its number for `cover` and how often it was executed.
    pub fn lines(&self) -> Option<Vec<(CoveredPlace, u64)>> {
        let known = |(place, count): (&CoveredPlace, &AtomicU64)| (place.line != 0).then(|| (*place, count.load(Ordering::Relaxed)));
        self.mode.is_of_lines().then(|| self.places.iter().zip(&self.counters).filter_map(known).collect())
    }

    /// How often each of the module's functions was called, or whether any of it was executed; without the functions that the
    /// compiler adds to all modules.
    pub fn functions<'a>(&self, functions: &'a [Function]) -> Option<Vec<(&'a Function, u64)>> {
        if self.mode == CoverageMode::None {
            return None;
        }
        let mut counts = vec![0; functions.len()];
        for (index, counter) in self.counters.iter().enumerate() {
            let function = if self.mode.is_of_lines() { self.places.get(index).map(|p| p.function as usize) } else { Some(index) };
            if let Some(count) = function.and_then(|f| counts.get_mut(f)) {
                *count += counter.load(Ordering::Relaxed);
            }
        }
        let everywhere = Atom::new("module_info");
        Some(functions.iter().zip(counts).filter(|(f, _)| f.name != everywhere || f.arity > 1).collect())
    }

    /// Sets the counters to zero. False if nothing is counted.
    pub fn reset(&self) -> bool {
        self.counters.iter().for_each(|c| c.store(0, Ordering::Relaxed));
        self.mode != CoverageMode::None
    }
}
