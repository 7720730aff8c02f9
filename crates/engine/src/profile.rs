//! Counts which operations follow which, for choosing what to fuse (`loader::fuse`). Only in builds with the feature `op-profile`:
//!
//! ```text
//! cargo build --release --features op-profile
//! HEDDLE_OP_PROFILE=/tmp/profile bin/erl ...
//! ```
//!
//! writes a line per sequence of up to four operations that ran one after the other without a jump: the count, then the addresses of the
//! operations in the binary, which `nm` names. `tests/op-profile` makes a table of it. Such a build fuses nothing.

/// The operation at `ip` runs after the one before it, without a jump.
#[inline(always)]
pub fn sequential(_ip: *const u64) {
    #[cfg(feature = "op-profile")]
    counts::step(_ip, true);
}

/// The operation at `ip` is jumped to.
#[inline(always)]
pub fn jumped(_ip: *const u64) {
    #[cfg(feature = "op-profile")]
    counts::step(_ip, false);
}

#[cfg(feature = "op-profile")]
mod counts {
    use std::collections::HashMap;
    use std::io::Write;
    use std::sync::Mutex;

    const LENGTH: usize = 4;
    const BETWEEN_WRITES: u64 = 1 << 24;

    struct Counts {
        last: Vec<u64>,
        steps: u64,
        sequences: HashMap<[u64; LENGTH], u64>,
    }

    static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

    pub fn step(ip: *const u64, sequential: bool) {
        // SAFETY: `ip` is inside code, at an operation.
        let op = unsafe { *ip };
        let mut guard = COUNTS.lock().unwrap();
        let counts = guard.get_or_insert_with(|| Counts { last: Vec::new(), steps: 0, sequences: HashMap::new() });
        if !sequential {
            counts.last.clear();
        }
        if counts.last.len() == LENGTH {
            counts.last.remove(0);
        }
        counts.last.push(op);
        for n in 1..=counts.last.len() {
            let mut key = [0; LENGTH];
            key[..n].copy_from_slice(&counts.last[counts.last.len() - n..]);
            *counts.sequences.entry(key).or_insert(0) += 1;
        }
        counts.steps += 1;
        if counts.steps % BETWEEN_WRITES == 0 {
            write(counts);
        }
    }

    fn write(counts: &Counts) {
        let Ok(path) = std::env::var("HEDDLE_OP_PROFILE") else { return };
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let exe = std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        let first = maps.lines().find(|line| line.ends_with(&exe)).unwrap_or_default();
        let base = first.split('-').next().and_then(|b| u64::from_str_radix(b, 16).ok()).unwrap_or(0);
        let mut text = Vec::new();
        for (key, count) in &counts.sequences {
            let _ = write!(text, "{count}");
            for op in key.iter().filter(|op| **op != 0) {
                let _ = write!(text, " {:x}", op - base);
            }
            let _ = writeln!(text);
        }
        let _ = std::fs::write(path, text);
    }
}
