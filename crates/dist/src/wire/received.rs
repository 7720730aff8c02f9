//! A whole message of a peer, and the terms in it.

use super::control::Control;
use super::error::WireError;
use super::framing::Framing;
use heddle_term::etf::{self, AtomBudget, DecodeError, DecodeOptions, VERSION};
use heddle_term::held::HeldBytes;
use heddle_term::{Atom, Heap, Term};

/// The bytes of a message's terms.
#[derive(Debug)]
pub(super) enum Body<'a> {
    /// In the packet that came.
    Packet(&'a [u8]),
    /// Large binaries of the terms may stay in this memory.
    Held(HeldBytes),
}

impl Body<'_> {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Body::Packet(bytes) => bytes,
            Body::Held(held) => held.as_bytes(),
        }
    }

    fn held(&self) -> Option<&HeldBytes> {
        match self {
            Body::Packet(_) => None,
            Body::Held(held) => Some(held),
        }
    }
}

/// A message: its terms are not decoded yet.
#[derive(Debug)]
pub struct Received<'a> {
    framing: Framing,
    atoms: Vec<Atom>,
    body: Body<'a>,
}

/// The term that comes with a control message.
#[derive(Debug)]
pub struct Payload<'a> {
    message: Received<'a>,
    /// Where it begins in the message's body.
    at: usize,
}

impl<'a> Received<'a> {
    pub(super) fn new(framing: Framing, atoms: Vec<Atom>, body: Body<'a>) -> Received<'a> {
        Received { framing, atoms, body }
    }

    /// Bytes of all terms.
    pub fn len_bytes(&self) -> usize {
        self.body.as_bytes().len()
    }

    /// The control message, with its terms in `heap`, and its payload if the operation has one. Bytes after the last term are ignored, as
    /// stock does.
    pub fn split(self, heap: &mut Heap, budget: &AtomBudget) -> Result<(Control, Option<Payload<'a>>), WireError> {
        let (term, at) = self.term(0, heap, budget, WireError::of_control)?;
        let control = Control::parse(term)?;
        if !control.has_payload() {
            return Ok((control, None));
        }
        if at == self.len_bytes() {
            return Err(WireError::NoPayload(control.operation()));
        }
        Ok((control, Some(Payload { message: self, at })))
    }

    /// The term at that place of the body, and where it ends.
    fn term(
        &self,
        at: usize,
        heap: &mut Heap,
        budget: &AtomBudget,
        error: fn(DecodeError) -> WireError,
    ) -> Result<(Term, usize), WireError> {
        let bytes = self.body.as_bytes().get(at..).unwrap_or_default();
        let start = if self.framing.has_header() {
            0
        } else {
            match bytes.first() {
                Some(&VERSION) => 1,
                Some(&version) => return Err(WireError::Version(version)),
                None => return Err(error(DecodeError::Truncated)),
            }
        };
        let options = DecodeOptions {
            allow_trailing: true,
            atom_cache: &self.atoms,
            atom_budget: Some(budget),
            input: self.body.held(),
            ..DecodeOptions::default()
        };
        let decoded = etf::decode_body(heap, &bytes[start..], &options).map_err(error)?;
        Ok((decoded.term, at + start + decoded.used))
    }
}

impl Payload<'_> {
    /// Bytes of the term.
    pub fn len_bytes(&self) -> usize {
        self.message.len_bytes() - self.at
    }

    pub fn decode(&self, heap: &mut Heap, budget: &AtomBudget) -> Result<Term, WireError> {
        Ok(self.message.term(self.at, heap, budget, WireError::of_payload)?.0)
    }

    /// The same, with bytes of its own, to be decoded when the packet is gone.
    pub fn into_owned(self) -> Payload<'static> {
        let Payload { message: Received { framing, atoms, body }, at } = self;
        match body {
            Body::Held(body) => Payload { message: Received { framing, atoms, body: Body::Held(body) }, at },
            Body::Packet(body) => {
                // The control message is not needed any more.
                let body = Body::Held(HeldBytes::copy_of(body.get(at..).unwrap_or_default()));
                Payload { message: Received { framing, atoms, body }, at: 0 }
            }
        }
    }
}
