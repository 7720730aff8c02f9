//! The atoms that the peer has put into this node's cache, and the headers of packets.

use super::error::WireError;
use super::framing::{FIRST_FRAGMENT, Framing, NEXT_FRAGMENT, PASS_THROUGH, WHOLE};
use heddle_term::Atom;
use heddle_term::etf::{AtomBudget, VERSION};

const ENTRIES: usize = 2048;

/// What the headers that were read so far have set. Headers are read in the order in which packets arrive.
#[derive(Clone)]
pub struct InCache {
    atoms: Box<[Option<Atom>; ENTRIES]>,
}

/// A packet without its header.
#[derive(Debug)]
pub enum InPacket<'a> {
    /// An empty packet: the peer is alive.
    Tick,
    /// A message: its atoms (for `ATOM_CACHE_REF`), then its terms.
    Whole { atoms: Vec<Atom>, body: &'a [u8] },
    /// The first fragment of a message. `fragment` is the number of all its fragments.
    First { sequence: u64, fragment: u64, atoms: Vec<Atom>, body: &'a [u8] },
    /// A further fragment. The last one has number 1.
    Next { sequence: u64, fragment: u64, body: &'a [u8] },
}

impl Default for InCache {
    fn default() -> Self {
        InCache::new()
    }
}

impl InCache {
    pub fn new() -> InCache {
        InCache { atoms: Box::new([None; ENTRIES]) }
    }

    /// Reads the header of a packet. New atoms are paid for by the budget.
    pub fn read<'a>(&mut self, framing: Framing, packet: &'a [u8], budget: &AtomBudget) -> Result<InPacket<'a>, WireError> {
        let mut bytes = Bytes(packet);
        if packet.is_empty() {
            return Ok(InPacket::Tick);
        }
        if !framing.has_header() {
            return match bytes.u8()? {
                PASS_THROUGH => Ok(InPacket::Whole { atoms: Vec::new(), body: bytes.0 }),
                other => Err(WireError::NoPassThrough(other)),
            };
        }
        match bytes.u8()? {
            VERSION => {}
            other => return Err(WireError::Version(other)),
        }
        let kind = bytes.u8()?;
        match kind {
            WHOLE => {
                let atoms = self.references(&mut bytes, budget)?;
                Ok(InPacket::Whole { atoms, body: bytes.0 })
            }
            FIRST_FRAGMENT | NEXT_FRAGMENT if !framing.fragments => Err(WireError::UnagreedFragment),
            FIRST_FRAGMENT => {
                let (sequence, fragment) = (bytes.u64()?, bytes.u64()?);
                let atoms = self.references(&mut bytes, budget)?;
                Ok(InPacket::First { sequence, fragment, atoms, body: bytes.0 })
            }
            NEXT_FRAGMENT => Ok(InPacket::Next { sequence: bytes.u64()?, fragment: bytes.u64()?, body: bytes.0 }),
            other => Err(WireError::PacketKind(other)),
        }
    }

    fn references(&mut self, bytes: &mut Bytes, budget: &AtomBudget) -> Result<Vec<Atom>, WireError> {
        let count = bytes.u8()? as usize;
        if count == 0 {
            return Ok(Vec::new());
        }
        // Four bits for each atom, the lower ones first, and four more.
        let flags = bytes.take(count / 2 + 1)?;
        let four_bits = |n: usize| flags[n / 2] >> (4 * (n % 2));
        let has_long_names = four_bits(count) & 1 != 0;
        let mut atoms = Vec::with_capacity(count);
        for n in 0..count {
            let four_bits = four_bits(n);
            let index = (four_bits as usize & 7) << 8 | bytes.u8()? as usize;
            let entry = &mut self.atoms[index];
            if four_bits & 8 != 0 {
                let len = if has_long_names { bytes.u16()? as usize } else { bytes.u8()? as usize };
                let name = std::str::from_utf8(bytes.take(len)?).map_err(|_| WireError::AtomEncoding)?;
                *entry = Some(budget.atom(name)?);
            }
            atoms.push(entry.ok_or(WireError::EmptyCacheEntry(index as u16))?);
        }
        Ok(atoms)
    }
}

/// The rest of a packet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        self.take(N)?.try_into().map_err(|_| WireError::Truncated)
    }
    fn u8(&mut self) -> Result<u8, WireError> {
        self.array().map(|[byte]| byte)
    }
    fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_be_bytes)
    }
    fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_be_bytes)
    }
}
