//! MD5 (RFC 1321) with a state that programs keep as a binary of 92 bytes.

pub const CONTEXT_BYTES: usize = 92;
const BLOCK_BYTES: usize = 64;

/// Registers, the count of bits so far, and bytes that wait until there is a whole block.
#[derive(Clone)]
pub struct Md5 {
    registers: [u32; 4],
    bits: u64,
    pending: [u8; BLOCK_BYTES],
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The i-th is 2^32 times |sin(i + 1)|.
fn constants() -> &'static [u32; 64] {
    static TABLE: std::sync::OnceLock<[u32; 64]> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| std::array::from_fn(|i| (((i + 1) as f64).sin().abs() * 4_294_967_296.0) as u32))
}

impl Md5 {
    pub fn new() -> Md5 {
        Md5 { registers: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476], bits: 0, pending: [0; BLOCK_BYTES] }
    }

    fn block(registers: &mut [u32; 4], block: &[u8]) {
        let words: [u32; 16] =
            std::array::from_fn(|i| u32::from_le_bytes([block[4 * i], block[4 * i + 1], block[4 * i + 2], block[4 * i + 3]]));
        let table = constants();
        let [mut a, mut b, mut c, mut d] = *registers;
        for i in 0..64 {
            let (f, word) = match i / 16 {
                0 => ((b & c) | (!b & d), i),
                1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), (7 * i) % 16),
            };
            let sum = a.wrapping_add(f).wrapping_add(table[i]).wrapping_add(words[word]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (register, value) in registers.iter_mut().zip([a, b, c, d]) {
            *register = register.wrapping_add(value);
        }
    }

    fn waiting(&self) -> usize {
        (self.bits / 8) as usize % BLOCK_BYTES
    }

    pub fn update(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        let waiting = self.waiting();
        self.bits = self.bits.wrapping_add(bytes.len() as u64 * 8);
        if waiting > 0 {
            let n = (BLOCK_BYTES - waiting).min(bytes.len());
            self.pending[waiting..waiting + n].copy_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            if waiting + n < BLOCK_BYTES {
                return;
            }
            Md5::block(&mut self.registers, &self.pending);
        }
        let (blocks, rest) = bytes.split_at(bytes.len() / BLOCK_BYTES * BLOCK_BYTES);
        for block in blocks.chunks_exact(BLOCK_BYTES) {
            Md5::block(&mut self.registers, block);
        }
        self.pending[..rest.len()].copy_from_slice(rest);
    }

    pub fn finish(mut self) -> [u8; 16] {
        let bits = self.bits;
        let waiting = self.waiting();
        let padding = if waiting < 56 { 56 - waiting } else { 120 - waiting };
        let mut tail = [0u8; 72];
        tail[0] = 0x80;
        tail[padding..padding + 8].copy_from_slice(&bits.to_le_bytes());
        self.update(&tail[..padding + 8]);
        let mut out = [0; 16];
        for (target, register) in out.chunks_exact_mut(4).zip(self.registers) {
            target.copy_from_slice(&register.to_le_bytes());
        }
        out
    }

    pub fn to_bytes(&self) -> [u8; CONTEXT_BYTES] {
        let mut out = [0; CONTEXT_BYTES];
        for (target, register) in out.chunks_exact_mut(4).zip(self.registers) {
            target.copy_from_slice(&register.to_le_bytes());
        }
        out[16..24].copy_from_slice(&self.bits.to_le_bytes());
        out[24..24 + BLOCK_BYTES].copy_from_slice(&self.pending);
        out
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Md5> {
        let bytes: &[u8; CONTEXT_BYTES] = bytes.try_into().ok()?;
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        let mut pending = [0; BLOCK_BYTES];
        pending.copy_from_slice(&bytes[24..24 + BLOCK_BYTES]);
        Some(Md5 { registers: [word(0), word(4), word(8), word(12)], bits: word(16) as u64 | (word(20) as u64) << 32, pending })
    }
}

#[cfg(test)]
mod tests {
    use super::Md5;

    fn hex(bytes: &[u8]) -> String {
        let mut md5 = Md5::new();
        for part in bytes.chunks(7) {
            md5 = Md5::from_bytes(&md5.to_bytes()).unwrap();
            md5.update(part);
        }
        md5.finish().iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn digests_of_the_rfc() {
        assert_eq!(hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        assert_eq!(hex(&b"1234567890".repeat(8)), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
