//! A peer that sends good packets, packets with some bytes changed, and plain random bytes.

use crate::mutation::{TAGS, mutate};
use crate::random;
use heddle_dist::wire::{Assembler, AtomBudget, DistEncoder, Fragmenter, Framing, Limits, OutCache, WireError};
use heddle_model::Random;
use heddle_term::{Heap, order};
use std::num::NonZeroU64;

/// Incomplete messages of a connection, and their bytes.
const LIMITS: Limits = Limits { max_sequences: 4, max_bytes: 1 << 20 };
/// New atoms of a connection. They are never freed, so there are few.
const NEW_ATOMS: usize = 1;

/// The peer, and this node's end of the connection.
pub struct Attack {
    random: Random,
    framing: Framing,
    cache: OutCache,
    assembler: Assembler,
    budget: AtomBudget,
    /// Packets that are still to be sent.
    packets: Vec<Vec<u8>>,
    /// Packets that the connection took.
    pub accepted: u64,
    /// Messages that were decoded to the end.
    pub decoded: u64,
    /// Connections that ended with an error.
    pub refused: u64,
}

impl Attack {
    pub fn new(seed: u64) -> Attack {
        let framing = Framing { atom_cache: true, fragments: true };
        Attack {
            random: Random::new(seed),
            framing,
            cache: OutCache::new(),
            assembler: Assembler::new(framing, LIMITS),
            budget: AtomBudget::new(NEW_ATOMS),
            packets: Vec::new(),
            accepted: 0,
            decoded: 0,
            refused: 0,
        }
    }

    fn connect(&mut self) {
        self.framing = Framing { atom_cache: self.random.chance(80), fragments: self.random.chance(80) };
        self.cache = OutCache::new();
        self.assembler = Assembler::new(self.framing, LIMITS);
        self.budget = AtomBudget::new(if self.random.chance(1) { NEW_ATOMS } else { 0 });
        self.packets.clear();
    }

    /// The next packet.
    pub fn packet(&mut self) -> Vec<u8> {
        if self.random.chance(2) {
            return self.noise();
        }
        if self.packets.is_empty() {
            self.message();
        }
        let mut packet = self.packets.pop().unwrap_or_default();
        if self.random.chance(20) {
            mutate(&mut self.random, &mut packet);
        }
        packet
    }

    /// Puts the packets of a random message among those that wait, in order.
    fn message(&mut self) {
        let mut heap = Heap::new();
        let control = random::control(&mut heap, &mut self.random);
        let payload = control.has_payload().then(|| {
            let term = random::term(&mut heap, &mut self.random, 3);
            let size = self.random.one(&[0, 0, 0, 100_000]);
            let padding = heap.binary(&vec![7; size]);
            heap.tuple(&[term, padding])
        });
        let sequence = NonZeroU64::MIN.saturating_add(self.random.below(3));
        if let Ok(message) = DistEncoder::encode(self.framing, &control, payload) {
            let mut fragmenter = Fragmenter::new(self.framing, message, sequence);
            while let Some(packet) = fragmenter.next(&mut self.cache) {
                let mut bytes = Vec::new();
                packet.append_to(&mut bytes);
                self.packets.insert(0, bytes);
            }
        }
        heap.clear();
    }

    fn noise(&mut self) -> Vec<u8> {
        let mut bytes = if self.framing.has_header() { vec![131, self.random.one(&[68, 69, 70])] } else { vec![112, 131] };
        for _ in 0..self.random.below(80) {
            bytes.push(if self.random.chance(50) { self.random.one(TAGS) } else { self.random.bits() as u8 >> self.random.below(8) });
        }
        bytes
    }

    /// Has this node take the packet. Error: this node did what it must not do.
    pub fn receive(&mut self, packet: &[u8]) -> Result<(), String> {
        match self.try_receive(packet) {
            Ok(true) => self.decoded += 1,
            Ok(false) => {}
            Err(Refused::Wire(error)) => {
                // Each error has a text for the log.
                if error.to_string().is_empty() {
                    return Err(format!("no text for {error:?}"));
                }
                self.refused += 1;
                self.connect();
                return Ok(());
            }
            Err(Refused::Broken(what)) => return Err(what),
        }
        self.accepted += 1;
        if self.assembler.bytes() > LIMITS.max_bytes {
            return Err(format!("{} bytes in incomplete messages", self.assembler.bytes()));
        }
        Ok(())
    }

    /// True if a message was decoded.
    fn try_receive(&mut self, packet: &[u8]) -> Result<bool, Refused> {
        let Some(received) = self.assembler.receive(packet, &self.budget)? else { return Ok(false) };
        let len = received.len_bytes();
        let mut heap = Heap::new();
        let result = received.split(&mut heap, &self.budget).and_then(|(control, payload)| {
            let payload = payload.map(|payload| payload.decode(&mut heap, &self.budget)).transpose()?;
            Ok((control, payload))
        });
        // A term takes at most a constant times its bytes.
        let mut checked = match heap.fragment_words * 8 {
            taken if taken > 4096 + 100 * len => Err(Refused::Broken(format!("{taken} bytes of terms of {len} bytes"))),
            _ => Ok(true),
        };
        if let (Ok(_), Ok((control, payload))) = (&checked, &result) {
            checked = Attack::again(&mut heap, control, *payload).map(|()| true).map_err(Refused::Broken);
        }
        heap.clear();
        result?;
        checked
    }

    /// What was accepted comes back when it is sent on.
    fn again(heap: &mut Heap, control: &heddle_dist::wire::Control, payload: Option<heddle_term::Term>) -> Result<(), String> {
        let framing = Framing { atom_cache: true, fragments: false };
        let message = DistEncoder::encode(framing, control, payload).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        if let Some(packet) = Fragmenter::new(framing, message, NonZeroU64::MIN).next(&mut OutCache::new()) {
            packet.append_to(&mut bytes);
        }
        let budget = AtomBudget::new(0);
        let mut assembler = Assembler::new(framing, Limits::default());
        let received = assembler.receive(&bytes, &budget).map_err(|error| error.to_string())?.ok_or("no message")?;
        let (control_again, payload_again) = received.split(heap, &budget).map_err(|error| format!("{control:?}: {error}"))?;
        if format!("{control:?}") != format!("{control_again:?}") {
            return Err(format!("{control:?} came back as {control_again:?}"));
        }
        let payload_again = payload_again.map(|payload| payload.decode(heap, &budget)).transpose().map_err(|error| error.to_string())?;
        match (payload, payload_again) {
            (None, None) => Ok(()),
            (Some(a), Some(b)) if order::exact_eq(a, b) => Ok(()),
            (a, b) => Err(format!("{a:?} came back as {b:?}")),
        }
    }
}

/// Why a packet led to no message.
enum Refused {
    Wire(WireError),
    /// This node is at fault.
    Broken(String),
}

impl From<WireError> for Refused {
    fn from(error: WireError) -> Refused {
        Refused::Wire(error)
    }
}
