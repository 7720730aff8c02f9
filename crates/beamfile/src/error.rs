//! One error type for everything that can be wrong with a file. Its text names the chunk, the byte and, inside code, the
//! function and the instruction, and says what to do when there is something to do.

use std::fmt;

use heddle_abi::opcodes::{Op, OpState};

/// Four letters, as in the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChunkId(pub [u8; 4]);

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a file was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeamError {
    /// The bytes are not a BEAM file at all, or the container is cut.
    Container { offset: usize, problem: String },
    /// A chunk that no module can do without is not there.
    MissingChunk { chunk: ChunkId },
    /// A chunk's bytes make no sense. The offset counts from the start of the (unpacked) chunk.
    Chunk { chunk: ChunkId, offset: usize, problem: String },
    /// An instruction is wrong. The offset counts from the first instruction byte.
    Code(Box<CodeError>),
}

/// An instruction that was refused, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError {
    /// `module:name/arity`, unless it happened before the first function.
    pub function: Option<String>,
    pub op: Option<Op>,
    pub offset: usize,
    pub problem: String,
}

impl BeamError {
    pub(crate) fn chunk(chunk: ChunkId, offset: usize, problem: impl Into<String>) -> BeamError {
        BeamError::Chunk { chunk, offset, problem: problem.into() }
    }
}

impl fmt::Display for BeamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeamError::Container { offset, problem } => write!(f, "not a usable BEAM file: {problem} (at byte {offset} of the file)"),
            BeamError::MissingChunk { chunk } => {
                write!(f, "chunk {chunk} is missing; every module needs AtU8, Code, ImpT and ExpT, recompile it with OTP 24-27")
            }
            BeamError::Chunk { chunk, offset, problem } => write!(f, "chunk {chunk}, byte {offset}: {problem}"),
            BeamError::Code(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chunk Code, byte {}", self.offset)?;
        if let Some(function) = &self.function {
            write!(f, ", function {function}")?;
        }
        if let Some(op) = self.op {
            write!(f, ", instruction {}/{}", op.name(), op.arity())?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for BeamError {}

/// The text for an instruction we know but do not run.
pub(crate) fn not_runnable(op: Op) -> String {
    let info = op.info();
    match info.state {
        OpState::NotYetRun => format!("came with {}; recompile the module with OTP 24-27", info.since),
        _ => format!("no compiler since OTP 24 emits it (it came with {}); recompile the module with OTP 24-27", info.since),
    }
}
