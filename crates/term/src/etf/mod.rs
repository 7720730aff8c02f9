//! The external term format, version 131: bytes and back. `encode` writes what OTP 27 writes, `decode` reads all that OTP 27
//! reads from files, sockets and distribution.

mod budget;
mod decode;
mod encode;
mod encoder;
mod leaf;
mod parts;
mod reader;
mod writer;

pub use budget::{AtomBudget, BudgetError};
pub use decode::{DecodeOptions, Decoded, decode, decode_body, decode_literal};
pub use encode::{EncodeOptions, Unencoded, encode, encode_body, encode_parts, encode_short, external_size, try_encode};
pub use parts::{Parts, PartsEncoder, Step, TooLarge};
pub use writer::{AtomWriter, WholeAtoms, Writer};

/// First byte of a term that stands alone.
pub const VERSION: u8 = 131;

/// First bytes of terms, after the version.
pub mod tag {
    pub const NEW_FLOAT: u8 = 70;
    pub const BIT_BINARY: u8 = 77;
    pub const COMPRESSED: u8 = 80;
    pub const ATOM_CACHE_REF: u8 = 82;
    pub const NEW_PID: u8 = 88;
    pub const NEW_PORT: u8 = 89;
    pub const NEWER_REFERENCE: u8 = 90;
    pub const SMALL_INTEGER: u8 = 97;
    pub const INTEGER: u8 = 98;
    pub const FLOAT: u8 = 99;
    pub const ATOM: u8 = 100;
    pub const REFERENCE: u8 = 101;
    pub const PORT: u8 = 102;
    pub const PID: u8 = 103;
    pub const SMALL_TUPLE: u8 = 104;
    pub const LARGE_TUPLE: u8 = 105;
    pub const NIL: u8 = 106;
    pub const STRING: u8 = 107;
    pub const LIST: u8 = 108;
    pub const BINARY: u8 = 109;
    pub const SMALL_BIG: u8 = 110;
    pub const LARGE_BIG: u8 = 111;
    pub const NEW_FUN: u8 = 112;
    pub const EXPORT: u8 = 113;
    pub const NEW_REFERENCE: u8 = 114;
    pub const SMALL_ATOM: u8 = 115;
    pub const MAP: u8 = 116;
    pub const ATOM_UTF8: u8 = 118;
    pub const SMALL_ATOM_UTF8: u8 = 119;
    pub const V4_PORT: u8 = 120;
    pub const LOCAL: u8 = 121;
}

/// Why bytes are no term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The bytes end too early, or a count says more than there are bytes.
    Truncated,
    /// Not version 131.
    Version(u8),
    UnknownTag(u8),
    /// A value that its tag does not allow.
    Malformed(&'static str),
    /// Option `safe`: a new atom or function.
    Unsafe,
    /// Above a limit of the VM.
    SystemLimit,
    /// Bytes after the end of the term.
    Trailing,
    /// The atom table is full.
    AtomTableFull,
    /// The sender has made as many new atoms as it may (`DecodeOptions::atom_budget`).
    AtomBudget,
    /// The sender has named as many unknown functions as it may (likewise).
    FunctionBudget,
    /// It is longer than the caller allows (`DecodeOptions::limit_bytes`).
    Long,
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DecodeError::Truncated => write!(f, "the bytes end inside a term"),
            DecodeError::Version(version) => write!(f, "version {version}, not 131"),
            DecodeError::UnknownTag(tag) => write!(f, "unknown tag {tag}"),
            DecodeError::Malformed(what) => write!(f, "malformed: {what}"),
            DecodeError::Unsafe => write!(f, "a new atom or function"),
            DecodeError::SystemLimit => write!(f, "above a limit of the VM"),
            DecodeError::Trailing => write!(f, "bytes after the term"),
            DecodeError::AtomTableFull => write!(f, "the atom table is full"),
            DecodeError::AtomBudget => write!(f, "more new atoms than the sender may make"),
            DecodeError::FunctionBudget => write!(f, "more unknown functions than the sender may name"),
            DecodeError::Long => write!(f, "longer than allowed"),
        }
    }
}
