//! What each instruction reads and writes of the X registers.

use crate::X_LIMIT;
use heddle_abi::opcodes::Op;
use heddle_beamfile::{BeamFile, Instr, MatchCommand, Operand, OperandKind as Kind, Reg, match_command, operand_kinds};

/// A set of X registers, one bit each.
pub type Registers = u64;

/// The X registers below `count`.
pub fn first(count: u64) -> Registers {
    if count >= u64::from(X_LIMIT) { u64::MAX } else { (1 << count) - 1 }
}

#[derive(Clone, Copy, Default, Debug)]
pub struct Effects {
    pub reads: Registers,
    /// Fewer than it writes in fact, where that is not known.
    pub writes: Registers,
}

/// The effects of an instruction, or `None` if it has a register that compiled code does not know.
pub fn of(beam: &BeamFile, instr: &Instr) -> Option<Effects> {
    let operands = beam.code.operands(instr);
    let number = |position: usize| operands[position].number().map_or(0, u64::from);
    let mut effects = Effects::default();
    for (&kind, &operand) in operand_kinds(instr.op).iter().zip(operands) {
        effects.operand(beam, kind, operand)?;
    }
    let (reads, ends) = match instr.op {
        Op::Call | Op::CallExt | Op::CallLast | Op::CallExtLast | Op::CallOnly | Op::CallExtOnly => (number(0), true),
        Op::CallFun => (number(0) + 1, true),
        Op::CallFun2 => (number(1), true),
        Op::Apply | Op::ApplyLast => (number(0) + 2, true),
        Op::Return => (1, true),
        Op::FuncInfo => (number(2), true),
        Op::Send => (2, true),
        Op::RawRaise => (3, true),
        Op::BuildStacktrace | Op::BsInitWritable => (1, true),
        Op::CatchEnd => (1, false),
        // It takes the exception from X1 to X3.
        Op::TryCase => (4, false),
        _ => (0, false),
    };
    if reads > u64::from(X_LIMIT) {
        return None;
    }
    effects.reads |= first(reads);
    if ends {
        effects.writes = u64::MAX;
    }
    Some(effects)
}

impl Effects {
    fn operand(&mut self, beam: &BeamFile, kind: Kind, operand: Operand) -> Option<()> {
        match (kind, operand) {
            (Kind::Src | Kind::Reg | Kind::Size | Kind::FloatOrSrc, operand) => self.read(operand),
            (Kind::Swap, operand) => self.read(operand),
            (Kind::Dst | Kind::DstX | Kind::FloatOrDst, operand) => self.write(operand),
            (Kind::Live, operand) => self.live(u64::from(operand.number().unwrap_or(0))),
            (Kind::Srcs | Kind::SrcPairs, operand) => self.every(beam, operand, 0, 1),
            (Kind::Updates, operand) => self.every(beam, operand, 1, 2),
            (Kind::Segments, operand) => {
                self.every(beam, operand, 4, 6)?;
                self.every(beam, operand, 5, 6)
            }
            (Kind::KeysAndDsts, Operand::List(list)) => {
                self.every(beam, operand, 0, 2)?;
                // A key that comes late may be read after the first destinations are written.
                beam.code.list(list).iter().skip(1).step_by(2).try_for_each(|&dst| known(dst))
            }
            (Kind::Commands, Operand::List(list)) => self.commands(beam, beam.code.list(list)),
            _ => Some(()),
        }
    }

    fn every(&mut self, beam: &BeamFile, operand: Operand, skip: usize, step: usize) -> Option<()> {
        let Operand::List(list) = operand else { return Some(()) };
        beam.code.list(list).iter().skip(skip).step_by(step).try_for_each(|&element| self.read(element))
    }

    /// The commands of `bs_match`. One that fails keeps what earlier ones wrote, so nothing counts as written.
    fn commands(&mut self, beam: &BeamFile, mut rest: &[Operand]) -> Option<()> {
        while let Some(&name) = rest.first() {
            let name = if let Operand::Atom(atom) = name { beam.atoms.get(atom) } else { None };
            let (MatchCommand { live, dst, .. }, size) = match_command(name, rest).ok()?;
            self.live(u64::from(live.unwrap_or(0)))?;
            dst.map_or(Some(()), known)?;
            rest = &rest[size..];
        }
        Some(())
    }

    fn live(&mut self, count: u64) -> Option<()> {
        self.reads |= first(count);
        (count <= u64::from(X_LIMIT)).then_some(())
    }

    fn read(&mut self, operand: Operand) -> Option<()> {
        if let Some(Reg::X(x)) = operand.reg() {
            self.reads |= bit(x)?;
        }
        Some(())
    }

    fn write(&mut self, operand: Operand) -> Option<()> {
        if let Some(Reg::X(x)) = operand.reg() {
            self.writes |= bit(x)?;
        }
        Some(())
    }
}

/// `None` for a register that compiled code does not know.
fn known(operand: Operand) -> Option<()> {
    if let Some(Reg::X(x)) = operand.reg() { bit(x).map(|_| ()) } else { Some(()) }
}

fn bit(x: u16) -> Option<Registers> {
    (x < X_LIMIT).then(|| 1 << x)
}
