//! `Code`: the instructions, decoded into two arenas, and the functions and labels found in them.

use heddle_abi::opcodes::{MAX_OPCODE, Op, OpState, opcode};

use crate::atoms::{AtomIndex, AtomTable};
use crate::error::{BeamError, ChunkId, CodeError, not_runnable};
use crate::functions::{Function, FunctionFinder, Labels};
use crate::operand::{Bytes, Limits, List, Operand, OperandDecoder};
use crate::reader::Reader;

/// One instruction. Its operands are in the arena of its [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    pub op: Op,
    first: u32,
    /// Where it starts, in bytes from the first instruction of the chunk.
    pub offset: u32,
}

/// All code of a module.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// In file order; the last one is `int_code_end`.
    pub instrs: Vec<Instr>,
    /// In file order. Between them they cover all instructions but `int_code_end`.
    pub functions: Vec<Function>,
    pub labels: Labels,
    operands: Vec<Operand>,
    bigs: Vec<u8>,
}

impl Code {
    #[inline]
    pub fn operands(&self, instr: &Instr) -> &[Operand] {
        let first = instr.first as usize;
        &self.operands[first..first + instr.op.arity()]
    }

    #[inline]
    pub fn list(&self, list: List) -> &[Operand] {
        &self.operands[list.start as usize..(list.start + list.len) as usize]
    }

    /// Big endian two's complement.
    pub fn big(&self, big: Bytes) -> &[u8] {
        &self.bigs[big.start as usize..(big.start + big.len) as usize]
    }

    /// The instructions of a function, from its first label to its last instruction.
    pub fn body(&self, function: &Function) -> &[Instr] {
        &self.instrs[function.start as usize..function.end as usize]
    }

    /// Returns an error at an instruction of a function, for a loader that cannot load it.
    #[cold]
    pub fn error(&self, atoms: &AtomTable, function: Option<&Function>, instr: &Instr, problem: impl Into<String>) -> BeamError {
        let name = function.map(|function| function_name(atoms, function.name, function.arity));
        BeamError::Code(Box::new(CodeError { function: name, op: Some(instr.op), offset: instr.offset as usize, problem: problem.into() }))
    }
}

pub(crate) fn function_name(atoms: &AtomTable, name: AtomIndex, arity: u32) -> String {
    format!("{}:{}/{arity}", atoms.get(1).unwrap_or("?"), atoms.get(name).unwrap_or("?"))
}

/// Instruction set number; it has been 0 since the format was born.
const FORMAT: u32 = 0;

pub(crate) fn parse(chunk: ChunkId, bytes: &[u8], atoms: &AtomTable, literals: u32, types: Option<u32>) -> Result<Code, BeamError> {
    let mut reader = Reader::new(chunk, bytes);
    let header_size = reader.u32()? as usize;
    let header = reader.bytes(header_size)?;
    let mut header = Reader::new(chunk, header);
    let (format, max_opcode, label_count, function_count) = (header.u32()?, header.u32()?, header.u32()?, header.u32()?);
    if format != FORMAT {
        return Err(BeamError::chunk(chunk, 4, format!("instruction format {format}, only {FORMAT} exists")));
    }
    if max_opcode > u32::from(MAX_OPCODE) {
        let problem =
            format!("the code uses instruction number {max_opcode}, we know {MAX_OPCODE} of them; recompile the module with OTP 24-27");
        return Err(BeamError::chunk(chunk, 8, problem));
    }
    let bytes = reader.rest();
    let reader = Reader::new(chunk, bytes);
    // Numbering may have gaps, but not many; and functions take more than a byte each.
    if label_count as usize > bytes.len().saturating_mul(4) || function_count as usize > bytes.len() || bytes.len() > u32::MAX as usize / 2
    {
        let problem = format!("{label_count} labels and {function_count} functions announced for {} bytes of code", bytes.len());
        return Err(BeamError::chunk(chunk, 12, problem));
    }
    let decoder = OperandDecoder {
        limits: Limits { atoms: atoms.count(), labels: label_count, literals, types },
        operands: Vec::with_capacity(bytes.len() / 2),
        bigs: Vec::new(),
        reader,
    };
    let code = decode(decoder, FunctionFinder::new(label_count), bytes.len(), atoms)?;
    if code.functions.len() != function_count as usize {
        let problem = format!("{function_count} functions announced, {} found", code.functions.len());
        return Err(BeamError::chunk(chunk, 16, problem));
    }
    Ok(code)
}

fn decode(mut decoder: OperandDecoder<'_>, mut finder: FunctionFinder, size: usize, atoms: &AtomTable) -> Result<Code, BeamError> {
    let mut instrs: Vec<Instr> = Vec::with_capacity(size / 4);
    let fail = |finder: &FunctionFinder, op, offset, problem: String| {
        let function = finder.current().map(|function| function_name(atoms, function.name, function.arity));
        BeamError::Code(Box::new(CodeError { function, op, offset, problem }))
    };
    loop {
        let offset = decoder.reader.pos();
        if decoder.reader.is_empty() {
            return Err(fail(&finder, None, offset, "the code ends without int_code_end".into()));
        }
        let number = decoder.reader.u8()?;
        let Some(info) = opcode(number) else {
            let problem = format!("instruction number {number} does not exist up to OTP 29; recompile the module with OTP 24-27");
            return Err(fail(&finder, None, offset, problem));
        };
        let first = decoder.operands.len();
        let decoded = decoder.decode(info.arity.into());
        if info.state != OpState::Live {
            return Err(fail(&finder, Some(info.op), offset, not_runnable(info.op)));
        }
        if let Err(error) = decoded {
            let problem = match error {
                BeamError::Chunk { problem, .. } => problem,
                other => other.to_string(),
            };
            return Err(fail(&finder, Some(info.op), offset, problem));
        }
        instrs.push(Instr { op: info.op, first: first as u32, offset: offset as u32 });
        if matches!(info.op, Op::Label | Op::FuncInfo | Op::IntCodeEnd) {
            let found = finder.visit(&instrs, &decoder.operands[first..first + usize::from(info.arity)]);
            if let Err(problem) = found {
                return Err(fail(&finder, Some(info.op), offset, problem));
            }
        }
        if info.op == Op::IntCodeEnd {
            let (functions, labels) = finder.finish();
            return Ok(Code { instrs, functions, labels, operands: decoder.operands, bigs: decoder.bigs });
        }
    }
}
