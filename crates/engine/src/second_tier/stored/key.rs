//! What must be the same where code is made and where it is used.

use super::super::tables::Tables;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::sync::OnceLock;

/// Bytes of the program file in which its build id must stand. (Linkers put it after the program headers.)
const HEAD_BYTES: usize = 1 << 14;
/// Types of program header and note, from the format ELF.
const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;

pub fn of_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = foldhash::quality::FixedState::default().build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// The key of a module: of its file, and of what the loader made of it.
pub fn of_module(tables: &Tables) -> u64 {
    let mut hasher = foldhash::quality::FixedState::default().build_hasher();
    tables.feed(&mut hasher);
    hasher.finish()
}

/// The key of the VM: its build, and what the processor can do. `None` if the program has no build id.
pub fn of_vm() -> Option<u64> {
    static KEY: OnceLock<Option<u64>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut head = Vec::new();
        File::open("/proc/self/exe").ok()?.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
        let mut all = build_id(&head)?.to_vec();
        all.extend(heddle_jit::features().map(u8::from));
        Some(of_bytes(&all))
    })
}

/// The build id of a program for 64 bits, of whose file these are the first bytes.
fn build_id(file: &[u8]) -> Option<&[u8]> {
    let number = |at: usize, size: usize| {
        let bytes = file.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte)))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for header in (0..count).map(|index| table + index * size) {
        if number(header, 4)? != PT_NOTE as usize {
            continue;
        }
        let (mut at, bytes) = (number(header + 8, 8)?, number(header + 32, 8)?);
        let end = at + bytes;
        while at + 12 <= end {
            let (Some(name), Some(size), Some(kind)) = (number(at, 4), number(at + 4, 4), number(at + 8, 4)) else { break };
            let start = at + 12 + name.next_multiple_of(4);
            if kind == NT_GNU_BUILD_ID as usize && file.get(at + 12..at + 16) == Some(b"GNU\0") {
                return file.get(start..start + size);
            }
            at = start + size.next_multiple_of(4);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_id_is_found_among_other_notes() {
        let mut file = vec![0; 200];
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64] = PT_NOTE as u8;
        file[64 + 8] = 120;
        file[64 + 32] = 56;
        file[120..136].copy_from_slice(b"\x04\0\0\0\x05\0\0\0\x01\0\0\0GNU\0");
        file[144..160].copy_from_slice(b"\x04\0\0\0\x03\0\0\0\x03\0\0\0GNU\0");
        file[160..163].copy_from_slice(b"abc");
        assert_eq!(build_id(&file), Some(&b"abc"[..]));
        file[152] = 7;
        assert_eq!(build_id(&file), None);
        assert_eq!(build_id(&file[..100]), None);
    }
}
