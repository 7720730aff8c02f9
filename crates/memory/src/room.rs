//! Does the computer have memory for a large block? Asked before one is taken, because the system promises more than it has, and
//! ends a program that believes it.

use std::path::Path;
use std::ptr::null_mut;

/// Smaller blocks are not asked for: looking takes some 30 µs.
pub const CHECKED_BYTES: usize = 64 << 20;

/// False if the computer has no room for a block of `bytes` bytes now.
#[inline]
pub fn fits(bytes: usize) -> bool {
    bytes < CHECKED_BYTES || fits_large(bytes)
}

#[cold]
#[inline(never)]
fn fits_large(bytes: usize) -> bool {
    bytes <= free_bytes().min(free_group_bytes()) && can_map(bytes)
}

/// Bytes after a name in a text of lines `Name: 123 kB` or `name 123`.
fn figure(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.split([':', ' ']).next() == Some(name))?;
    let number = line[name.len()..].trim_matches(|c: char| !c.is_ascii_digit()).parse::<usize>().ok()?;
    Some(if line.ends_with("kB") { number * 1024 } else { number })
}

/// What the system can give without taking it from others.
fn free_bytes() -> usize {
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return usize::MAX };
    figure(&text, "MemAvailable").map_or(usize::MAX, |free| free + figure(&text, "SwapFree").unwrap_or(0))
}

/// What the control group of this process (a container's, say) may still have, in its first or second version.
fn free_group_bytes() -> usize {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = |prefix: &str| groups.lines().find_map(|line| line.split_once(prefix)).map_or("", |(_, path)| path.trim_start_matches('/'));
    let second = left("/sys/fs/cgroup", own("::"), "memory.max", "memory.current", "file");
    let first = left("/sys/fs/cgroup/memory", own(":memory:"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache");
    first.min(second)
}

/// The least that a group and those around it leave; cached files count as free.
fn left(root: &str, group: &str, limit: &str, used: &str, cached: &str) -> usize {
    let mut least = usize::MAX;
    let mut folder = Path::new(root).join(group);
    while folder.starts_with(root) {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        if let (Ok(limit), Ok(used)) = (text(limit).trim().parse::<usize>(), text(used).trim().parse::<usize>()) {
            let cached = figure(&text("memory.stat"), cached).unwrap_or(0);
            least = least.min(limit.saturating_sub(used.saturating_sub(cached)));
        }
        folder.pop();
    }
    least
}

/// True if limits of the process and the system's own rules allow it: `ulimit -v`, overcommitment.
fn can_map(bytes: usize) -> bool {
    // SAFETY: fresh pages at an address of the system's choice, which nothing else sees, and which are given back at once.
    unsafe {
        let pages = libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        pages != libc::MAP_FAILED && libc::munmap(pages, bytes) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_machine_has_an_exabyte() {
        assert!(fits(1000) && fits(CHECKED_BYTES));
        assert!(!fits(1 << 60) && !fits(usize::MAX));
    }

    #[test]
    fn figures_are_read_in_bytes() {
        let text = "MemTotal:       24 kB\nMemAvailable:   12 kB\nfile 4096\nfile_mapped 17\n";
        assert_eq!(figure(text, "MemAvailable"), Some(12 * 1024));
        assert_eq!(figure(text, "file"), Some(4096));
        assert_eq!(figure(text, "SwapFree"), None);
        assert!(free_bytes() > CHECKED_BYTES);
    }

    #[test]
    fn a_group_leaves_what_those_around_it_leave() {
        let root = std::env::temp_dir().join(format!("heddle-room-{}", std::process::id()));
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        let of = |group: &str| left(root.to_str().unwrap(), group, "memory.max", "memory.current", "file");
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.current", "500\n");
        assert_eq!(of("a/b"), usize::MAX);
        write(&root.join("a"), "memory.max", "1000\n");
        write(&root.join("a"), "memory.current", "700\n");
        write(&root.join("a"), "memory.stat", "anon 1\nfile 50\n");
        assert_eq!(of("a/b"), 350);
        std::fs::remove_dir_all(root).unwrap();
    }
}
