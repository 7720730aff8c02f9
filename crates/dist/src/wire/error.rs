//! Why a packet of a peer was refused, or a message cannot be sent.

use super::control::Malformed;
use heddle_term::etf::{BudgetError, DecodeError};
use std::fmt;

/// After any of these a connection cannot go on: the caches of its ends may differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// The packet ends inside its header.
    Truncated,
    /// A packet without a header begins with this byte, and not with 112.
    NoPassThrough(u8),
    /// A packet or term begins with this byte, and not with version 131.
    Version(u8),
    /// There is no such kind of packet (second byte).
    PacketKind(u8),
    /// A fragment, although fragments were not agreed on.
    UnagreedFragment,
    /// The header names an entry of the atom cache (0 to 2047) that was never set.
    EmptyCacheEntry(u16),
    /// The name of an atom is not UTF-8.
    AtomEncoding,
    /// The name of an atom has more than 255 characters.
    AtomTooLong,
    /// The peer has made as many new atoms as it may.
    AtomBudget,
    /// The atom table of this node is full, but for what it needs itself.
    AtomTableFull,
    /// The peer has named as many functions that this node does not know as it may.
    FunctionBudget,
    /// The control message is no term.
    ControlTerm(DecodeError),
    /// The payload is no term.
    PayloadTerm(DecodeError),
    /// The control message is none that this node knows.
    Control(Malformed),
    /// The operation has a payload, and there is none.
    NoPayload(u8),
    /// To be sent: the operation has no payload, and one was given.
    UnexpectedPayload(u8),
    /// A fragment has number 0.
    FragmentZero { sequence: u64 },
    /// A second first fragment of a sequence that is not complete.
    SequenceTwice { sequence: u64 },
    /// A fragment of a sequence of which no first fragment came.
    UnknownSequence { sequence: u64 },
    /// Fragments count down, and this one is not the next.
    FragmentOrder { sequence: u64, expected: u64, got: u64 },
    /// There are as many incomplete messages as there may be.
    TooManySequences { limit: usize },
    /// Incomplete messages have more bytes than they may.
    TooManyBytes { limit: usize },
    /// To be sent: a packet or part of a term would have more than 4 GiB.
    TooLarge,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Truncated => write!(f, "the packet ends inside its header"),
            WireError::NoPassThrough(byte) => write!(f, "the packet begins with byte {byte}, not 112"),
            WireError::Version(byte) => write!(f, "version {byte} of the external format, not 131"),
            WireError::PacketKind(byte) => write!(f, "unknown kind of packet {byte}"),
            WireError::UnagreedFragment => write!(f, "a fragment, although fragments were not agreed on"),
            WireError::EmptyCacheEntry(index) => write!(f, "entry {index} of the atom cache is empty"),
            WireError::AtomEncoding => write!(f, "the name of an atom is not UTF-8"),
            WireError::AtomTooLong => write!(f, "the name of an atom has more than 255 characters"),
            WireError::AtomBudget => write!(f, "the peer has made as many new atoms as it may (+hdatom)"),
            WireError::AtomTableFull => write!(f, "the atom table is full, but for what this node needs itself (+t)"),
            WireError::FunctionBudget => write!(f, "the peer has named as many unknown functions as it may (+hdfun)"),
            WireError::ControlTerm(error) => write!(f, "the control message is no term: {error}"),
            WireError::PayloadTerm(error) => write!(f, "the payload is no term: {error}"),
            WireError::Control(malformed) => write!(f, "invalid control message: {malformed}"),
            WireError::NoPayload(operation) => write!(f, "operation {operation} came without its payload"),
            WireError::UnexpectedPayload(operation) => write!(f, "operation {operation} has no payload, but one was given"),
            WireError::FragmentZero { sequence } => write!(f, "sequence {sequence}: fragment 0"),
            WireError::SequenceTwice { sequence } => write!(f, "sequence {sequence} begins again before it is complete"),
            WireError::UnknownSequence { sequence } => write!(f, "a fragment of sequence {sequence}, which has not begun"),
            WireError::FragmentOrder { sequence, expected, got } => {
                write!(f, "sequence {sequence}: fragment {got} came where {expected} was expected")
            }
            WireError::TooManySequences { limit } => write!(f, "more than {limit} incomplete messages"),
            WireError::TooManyBytes { limit } => write!(f, "more than {limit} bytes in incomplete messages (+hdfrag)"),
            WireError::TooLarge => write!(f, "the message has a part of more than 4 GiB"),
        }
    }
}

impl std::error::Error for WireError {}

impl From<Malformed> for WireError {
    fn from(malformed: Malformed) -> WireError {
        WireError::Control(malformed)
    }
}

impl From<BudgetError> for WireError {
    fn from(error: BudgetError) -> WireError {
        match error {
            BudgetError::UsedUp => WireError::AtomBudget,
            BudgetError::TooLong => WireError::AtomTooLong,
            BudgetError::TableFull => WireError::AtomTableFull,
        }
    }
}

impl WireError {
    pub(super) fn of_control(error: DecodeError) -> WireError {
        WireError::of_term(error, WireError::ControlTerm)
    }

    pub(super) fn of_payload(error: DecodeError) -> WireError {
        WireError::of_term(error, WireError::PayloadTerm)
    }

    /// Limits have the same name wherever an atom stands.
    fn of_term(error: DecodeError, other: fn(DecodeError) -> WireError) -> WireError {
        match error {
            DecodeError::AtomBudget => WireError::AtomBudget,
            DecodeError::AtomTableFull => WireError::AtomTableFull,
            DecodeError::FunctionBudget => WireError::FunctionBudget,
            error => other(error),
        }
    }
}
