//! Heap sizes, in words: the steps that programs can observe (`heap_sizes` of stock's `system_info`): Fibonacci-like up to a
//! million words, then 20 % each.

use std::sync::LazyLock;

/// The number of steps that stock has: the last is more than the memory of any computer.
const STEPS: usize = 137;

static SIZES: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut sizes = vec![12usize, 38];
    while sizes.len() < 23 {
        let n = sizes.len();
        sizes.push(sizes[n - 1] + sizes[n - 2] + 1);
    }
    // The last Fibonacci step is 833,026; from there on 20 % steps.
    while sizes.len() < STEPS {
        let last = *sizes.last().unwrap();
        sizes.push(last + last / 5);
    }
    sizes
});

pub fn all() -> &'static [usize] {
    &SIZES
}

/// The index of the smallest step that holds `words`.
pub(crate) fn step(words: usize) -> usize {
    SIZES.partition_point(|&s| s < words)
}

/// The smallest step that holds `words`; for more than the last step holds, the last, which is more than any computer has.
pub fn at_least(words: usize) -> usize {
    SIZES[step(words).min(STEPS - 1)]
}

/// The step after the one that holds `words`.
pub(crate) fn next_above(words: usize) -> usize {
    let i = SIZES.partition_point(|&s| s <= words);
    SIZES[i.min(STEPS - 1)]
}

#[cfg(test)]
mod tests {
    #[test]
    fn steps_are_those_of_stock() {
        let expected = [
            12, 38, 51, 90, 142, 233, 376, 610, 987, 1598, 2586, 4185, 6772, 10958, 17731, 28690, 46422, 75113, 121536, 196650, 318187,
            514838, 833026, 999631, 1199557, 1439468, 1727361, 2072833, 2487399, 2984878, 3581853, 4298223,
        ];
        assert_eq!(&super::all()[..expected.len()], &expected);
    }
}
