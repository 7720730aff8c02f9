//! `ImpT`, `ExpT`, `LocT` and `FunT`: tables of fixed-size entries.

use crate::atoms::{AtomIndex, AtomTable};
use crate::error::{BeamError, ChunkId};
use crate::reader::Reader;

/// From ERTS: no function takes more.
pub const ARITY_MAX: u32 = 255;

/// A function of another module (or this one) that the code calls by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    pub module: AtomIndex,
    pub function: AtomIndex,
    pub arity: u32,
}

/// An exported or local function and the label of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRef {
    pub function: AtomIndex,
    pub arity: u32,
    pub label: u32,
}

/// The code of a `fun`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lambda {
    pub function: AtomIndex,
    /// Arity of the function, free variables included.
    pub arity: u32,
    pub label: u32,
    pub index: u32,
    pub num_free: u32,
    pub old_uniq: u32,
}

/// Size of a `FunT` entry; the last four bytes are `old_uniq`.
pub(crate) const LAMBDA_BYTES: usize = 24;

pub(crate) fn imports(chunk: ChunkId, bytes: &[u8], atoms: &AtomTable) -> Result<Vec<Import>, BeamError> {
    let mut reader = Reader::new(chunk, bytes);
    let count = reader.count(12)?;
    let entry = |_| Ok(Import { module: atom(&mut reader, atoms)?, function: atom(&mut reader, atoms)?, arity: arity(&mut reader)? });
    (0..count).map(entry).collect()
}

pub(crate) fn functions(chunk: ChunkId, bytes: &[u8], atoms: &AtomTable) -> Result<Vec<FunctionRef>, BeamError> {
    let mut reader = Reader::new(chunk, bytes);
    let count = reader.count(12)?;
    let entry = |_| Ok(FunctionRef { function: atom(&mut reader, atoms)?, arity: arity(&mut reader)?, label: reader.u32()? });
    (0..count).map(entry).collect()
}

pub(crate) fn lambdas(chunk: ChunkId, bytes: &[u8], atoms: &AtomTable) -> Result<Vec<Lambda>, BeamError> {
    let mut reader = Reader::new(chunk, bytes);
    let count = reader.count(LAMBDA_BYTES)?;
    let entry = |_| {
        let lambda = Lambda {
            function: atom(&mut reader, atoms)?,
            arity: arity(&mut reader)?,
            label: reader.u32()?,
            index: reader.u32()?,
            num_free: reader.u32()?,
            old_uniq: reader.u32()?,
        };
        if lambda.num_free > lambda.arity {
            return Err(reader.error(format!("a fun of arity {} has {} free variables", lambda.arity, lambda.num_free)));
        }
        Ok(lambda)
    };
    (0..count).map(entry).collect()
}

fn atom(reader: &mut Reader<'_>, atoms: &AtomTable) -> Result<AtomIndex, BeamError> {
    let index = reader.u32()?;
    atoms.check(index, reader)
}

fn arity(reader: &mut Reader<'_>) -> Result<u32, BeamError> {
    let arity = reader.u32()?;
    if arity > ARITY_MAX {
        return Err(reader.error(format!("arity {arity}, the largest is {ARITY_MAX}")));
    }
    Ok(arity)
}
