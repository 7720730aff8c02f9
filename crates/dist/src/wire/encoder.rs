//! A control message and its payload to an `OutMessage`, in steps.

use super::atoms::{AtomList, MAX_ATOMS};
use super::control::Control;
use super::error::WireError;
use super::framing::Framing;
use super::message::OutMessage;
use heddle_term::Term;
use heddle_term::etf::{Parts, PartsEncoder, Step, VERSION};
use heddle_term::held::HeldBytes;

/// Room for a short message. Grown from one byte on, it would be allocated several times.
const ROOM_BYTES: usize = 128;
/// A packet has a length of 4 bytes, and a header of less than this.
const MAX_HEADER_BYTES: usize = 1 << 20;

/// Encodes one message. The terms of control message and payload must stay where they are until `finish` has returned.
pub struct DistEncoder {
    framing: Framing,
    parts: PartsEncoder<AtomList>,
    control_bytes: usize,
}

impl DistEncoder {
    /// Writes the control message, and is ready to write the payload. Error: there is a payload and the operation has none, or the other
    /// way round.
    pub fn new(framing: Framing, control: &Control, payload: Option<Term>) -> Result<DistEncoder, WireError> {
        match (control.has_payload(), payload) {
            (true, None) => return Err(WireError::NoPayload(control.operation())),
            (false, Some(_)) => return Err(WireError::UnexpectedPayload(control.operation())),
            _ => {}
        }
        let atoms = AtomList::new(if framing.atom_cache { MAX_ATOMS } else { 0 });
        let mut encoder = DistEncoder { framing, parts: PartsEncoder::new(atoms, ROOM_BYTES), control_bytes: 0 };
        encoder.version();
        control.encode(&mut encoder.parts);
        encoder.control_bytes = encoder.parts.len_bytes();
        if let Some(payload) = payload {
            encoder.version();
            encoder.parts.begin(payload);
        }
        Ok(encoder)
    }

    /// The whole message at once.
    pub fn encode(framing: Framing, control: &Control, payload: Option<Term>) -> Result<OutMessage, WireError> {
        let mut encoder = DistEncoder::new(framing, control, payload)?;
        encoder.step(usize::MAX);
        encoder.finish()
    }

    /// The same, or None if it has more than about `most_bytes` besides large binaries.
    pub fn encode_short(
        framing: Framing,
        control: &Control,
        payload: Option<Term>,
        most_bytes: usize,
    ) -> Result<Option<OutMessage>, WireError> {
        let mut encoder = DistEncoder::new(framing, control, payload)?;
        match encoder.step(most_bytes) {
            Step::Done => encoder.finish().map(Some),
            Step::More => Ok(None),
        }
    }

    fn version(&mut self) {
        if !self.framing.has_header() {
            self.parts.writer().u8(VERSION);
        }
    }

    /// Goes on with the payload, for about `budget_bytes` of output.
    pub fn step(&mut self, budget_bytes: usize) -> Step {
        self.parts.step(budget_bytes)
    }

    /// The message, after a step said `Done`. Large binaries of the terms are shared, not copied.
    pub fn finish(self) -> Result<OutMessage, WireError> {
        let Parts { bytes, cuts, cut_bytes, atoms } = self.parts.finish().map_err(|_| WireError::TooLarge)?;
        let len_bytes = bytes.len() + cut_bytes;
        let in_one_packet = if self.framing.fragments { self.control_bytes } else { len_bytes };
        if in_one_packet > u32::MAX as usize - MAX_HEADER_BYTES {
            return Err(WireError::TooLarge);
        }
        let held = cuts.into_iter().map(|(place, bits)| (place, HeldBytes::of(bits))).collect();
        Ok(OutMessage {
            atoms: atoms.into_atoms(),
            bytes,
            held,
            control_bytes: self.control_bytes,
            len_bytes,
            has_versions: !self.framing.has_header(),
        })
    }
}
