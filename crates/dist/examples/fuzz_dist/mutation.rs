//! Bytes of a packet changed, cut, doubled or removed.

use heddle_model::Random;

/// Bytes that begin packets or terms.
pub const TAGS: &[u8] = &[
    68, 69, 70, 77, 80, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116,
    117, 118, 119, 120, 121, 131,
];

/// Changes a packet a little, or much.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        if bytes.len() < 2 {
            return;
        }
        // Mostly in the header and the control message.
        let below = if random.chance(70) { bytes.len().min(100) } else { bytes.len() } as u64;
        let at = random.below(below) as usize;
        match random.below(7) {
            0 => bytes[at] = random.bits() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = random.one(TAGS),
            3 => bytes.truncate(at),
            4 => {
                let end = (at + random.below(12) as usize).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let end = (at + random.below(6) as usize).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => bytes[at] = 0xff,
        }
    }
}
