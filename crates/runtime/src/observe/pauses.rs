//! How long collections took. Each thread that collects has histograms with logarithmic classes, as HDR histograms have them. A
//! class is narrower than a sixteenth of the time it begins with, so a percentile is known that exactly.

use crate::observe::figures::Figure;

/// Each power of two is divided into this many classes.
const PARTS: usize = 16;
const PART_BITS: usize = PARTS.ilog2() as usize;
/// A collection that takes 2^38 ns (4.6 minutes) or longer is in the last class.
const MAX_BITS: usize = 38;
const CLASSES: usize = (MAX_BITS - PART_BITS + 1) * PARTS;

/// Written by one thread.
pub struct Histogram {
    counts: [Figure; CLASSES],
    longest_ns: Figure,
}

/// The histograms of one thread.
#[derive(Default)]
pub struct Pauses {
    pub minor: Histogram,
    pub major: Histogram,
    /// With a shared heap: collections of one process's block, for which no other process waits.
    pub own: Histogram,
    /// With a shared heap: from when a collection is asked for until all threads have stopped and it begins.
    pub stopping: Histogram,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: std::array::from_fn(|_| Figure::default()), longest_ns: Figure::default() }
    }
}

/// Below `PARTS` each number has a class of its own.
fn class(ns: u64) -> usize {
    let shift = (ns | 1).ilog2().saturating_sub(PART_BITS as u32) as usize;
    ((shift * PARTS) + (ns >> shift) as usize).min(CLASSES - 1)
}

/// The shortest time of a class, in ns.
fn begin(class: usize) -> u64 {
    let shift = (class / PARTS).saturating_sub(1);
    ((class - shift * PARTS) as u64) << shift
}

impl Histogram {
    /// Called by the histogram's own thread.
    pub(crate) fn add(&self, ns: u64) {
        self.counts[class(ns)].add(1);
        if ns > self.longest_ns.get() {
            self.longest_ns.set(ns);
        }
    }
}

/// The sum of histograms. Times in ns.
pub struct Summary {
    counts: Vec<u64>,
    pub count: u64,
    pub longest_ns: u64,
}

impl Summary {
    pub fn of<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Summary {
        let mut sum = Summary { counts: vec![0; CLASSES], count: 0, longest_ns: 0 };
        for histogram in histograms {
            for (sum, count) in sum.counts.iter_mut().zip(&histogram.counts) {
                *sum += count.get();
            }
            sum.longest_ns = sum.longest_ns.max(histogram.longest_ns.get());
        }
        sum.count = sum.counts.iter().sum();
        sum
    }

    /// The classes that are not empty, shortest times first: the shortest time of each, and its count.
    pub fn classes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(|(class, &count)| (begin(class), count))
    }

    /// The time, in ns, that `permille` of a thousand collections do not exceed; the true time may be a sixteenth less. None if
    /// there were no collections.
    pub fn permille(&self, permille: u64) -> Option<u64> {
        let wanted = (self.count * permille).div_ceil(1000).max(1);
        let mut seen = 0;
        let class = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        // The last class has no end. A thread may just have counted a pause without having updated the longest.
        let end = if class + 1 < CLASSES { begin(class + 1) - 1 } else { u64::MAX };
        Some(end.min(self.longest_ns.max(begin(class))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other_and_are_narrow() {
        assert_eq!([0, 1, 15, 16, 31, 32, 33, 34].map(class), [0, 1, 15, 16, 31, 32, 32, 33]);
        for n in 1..CLASSES {
            let (first, before) = (begin(n), begin(n) - 1);
            assert_eq!((class(first), class(before)), (n, n - 1));
            assert!((first - begin(n - 1)) * PARTS as u64 <= first.max(PARTS as u64), "class {n} begins at {first}");
        }
        assert_eq!(begin(CLASSES - 1), (2 * PARTS as u64 - 1) << (MAX_BITS - PART_BITS - 1));
        assert_eq!([1 << MAX_BITS, u64::MAX].map(class), [CLASSES - 1; 2]);
    }

    #[test]
    fn percentiles_are_those_of_what_was_added() {
        let histograms = [Histogram::default(), Histogram::default()];
        assert_eq!(Summary::of(histograms.iter()).permille(500), None);
        // In any order, on two threads.
        for n in 0..10_000u64 {
            histograms[n as usize % 2].add((n * 7919) % 10_000 * 100 + 1);
        }
        histograms[1].add(77_000_000);
        let sum = Summary::of(histograms.iter());
        assert_eq!((sum.count, sum.longest_ns), (10_001, 77_000_000));
        assert_eq!(sum.classes().map(|(_, count)| count).sum::<u64>(), 10_001);
        for (permille, exact) in [(500, 500_000), (900, 900_000), (990, 990_000), (999, 999_000)] {
            let told = sum.permille(permille).unwrap();
            assert!(told >= exact && (told - exact) * 16 <= exact, "{permille}: {told}");
        }
        assert_eq!(sum.permille(1000), Some(77_000_000));
        assert!(sum.classes().is_sorted_by(|a, b| a.0 < b.0));
    }
}
