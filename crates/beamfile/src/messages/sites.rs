//! Where a module sends: found first, because most functions and many modules do not.

use heddle_abi::opcodes::Op;

use super::callbacks::{self, Pattern};
use super::known::{Effect, Row, known, table};
use crate::beam::BeamFile;
use crate::code::Instr;
use crate::operand::Operand;
use crate::tables::Import;

/// What an import is to the data flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Unknown,
    Known(&'static [Effect]),
    /// A function of the module itself, by its index.
    Local(u32),
    /// It raises: nothing follows.
    Raises,
    /// The same, and the argument is the reason with which a process ends.
    Exits,
}

impl Target {
    fn sends(self) -> bool {
        matches!(self, Target::Known(effects) if effects.iter().any(|effect| matches!(effect, Effect::Sends(_))))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub instr: u32,
    /// Index of the function it stands in.
    pub function: u32,
}

/// Of the instructions, those that have to be looked at for sites or for calls inside the module.
static CALLS: [bool; 256] = {
    let mut table = [false; 256];
    let ops = [
        Op::Send,
        Op::Call,
        Op::CallLast,
        Op::CallOnly,
        Op::CallExt,
        Op::CallExtLast,
        Op::CallExtOnly,
        Op::CallFun2,
        Op::MakeFun3,
        Op::PutTuple2,
    ];
    let mut index = 0;
    while index < ops.len() {
        table[ops[index] as usize] = true;
        index += 1;
    }
    table
};

#[derive(Debug)]
pub(super) struct Sites {
    /// One per import.
    pub targets: Vec<Target>,
    /// Tuples that are replies.
    pub patterns: Vec<Pattern>,
    /// Instructions that send, start processes, or build replies; ascending.
    pub senders: Vec<Site>,
    /// Calls of `exit/1`, by instruction.
    pub exits: Vec<u32>,
    /// Instructions that may call functions of the module or make funs of them; ascending.
    pub calls: Vec<Site>,
}

impl Sites {
    /// `None`: the module sends nothing.
    pub fn find(beam: &BeamFile) -> Option<Sites> {
        let targets = targets(beam);
        let patterns = callbacks::patterns(beam);
        let imports_matter = targets.iter().any(|target| target.sends() || *target == Target::Exits);
        if !imports_matter && patterns.is_empty() && !beam.code.instrs.iter().any(|instr| instr.op == Op::Send) {
            return None;
        }
        // Guessed: of OTP 27's instructions one in 16 is a call inside the module, so that few modules have more.
        let calls = Vec::with_capacity(beam.code.instrs.len() / 12);
        let mut sites = Sites { targets, patterns, senders: Vec::with_capacity(32), exits: Vec::new(), calls };
        for (index, function) in beam.code.functions.iter().enumerate() {
            for (at, instr) in beam.code.body(function).iter().enumerate() {
                if CALLS[instr.op as usize] {
                    sites.look_at(beam, instr, Site { instr: function.start + at as u32, function: index as u32 });
                }
            }
        }
        (!sites.senders.is_empty() || !sites.exits.is_empty()).then_some(sites)
    }

    fn look_at(&mut self, beam: &BeamFile, instr: &Instr, site: Site) {
        match instr.op {
            Op::Send => self.senders.push(site),
            Op::CallExt | Op::CallExtLast | Op::CallExtOnly => match self.target(beam.code.operands(instr)[1]) {
                Target::Exits => self.exits.push(site.instr),
                Target::Local(_) => self.calls.push(site),
                target if target.sends() => self.senders.push(site),
                _ => {}
            },
            Op::PutTuple2 => {
                if self.reply(beam, instr, site.function).is_some() {
                    self.senders.push(site);
                }
            }
            _ => self.calls.push(site),
        }
    }

    /// Of an operand that is the index of an import.
    #[inline]
    pub fn target(&self, import: Operand) -> Target {
        import.number().and_then(|import| self.targets.get(import as usize)).copied().unwrap_or(Target::Unknown)
    }

    /// The element to be sent, if the tuple that the instruction builds is a reply.
    pub fn reply(&self, beam: &BeamFile, instr: &Instr, function: u32) -> Option<Operand> {
        if self.patterns.is_empty() {
            return None;
        }
        let &[_, Operand::List(list)] = beam.code.operands(instr) else { return None };
        let elements = beam.code.list(list);
        let &Operand::Atom(tag) = elements.first()? else { return None };
        let is_it = |pattern: &&Pattern| {
            pattern.tag == tag && pattern.size == elements.len() && pattern.only_in.is_none_or(|only| only == function)
        };
        let pattern = self.patterns.iter().find(is_it)?;
        elements.get(pattern.element).copied().filter(|element| element.reg().is_some())
    }
}

/// One per import. Those of a module mostly stand together.
fn targets(beam: &BeamFile) -> Vec<Target> {
    let mut module = 0;
    let mut rows: &'static [Row] = &[];
    let one = |(index, import): (usize, &Import)| {
        if import.module != module {
            module = import.module;
            rows = table(beam.atoms.get(module).unwrap_or_default());
        }
        match import.module {
            1 => local(beam, import),
            _ if rows.is_empty() => Target::Unknown,
            _ => target(beam, index as u32, import, rows),
        }
    };
    beam.imports.iter().enumerate().map(one).collect()
}

fn local(beam: &BeamFile, import: &Import) -> Target {
    let is_it = |function: &crate::Function| function.name == import.function && function.arity == import.arity;
    beam.code.functions.iter().position(is_it).map_or(Target::Unknown, |index| Target::Local(index as u32))
}

fn target(beam: &BeamFile, index: u32, import: &Import, rows: &'static [Row]) -> Target {
    let function = beam.atoms.get(import.function).unwrap_or_default();
    if let Some(effects) = known(rows, function, import.arity) {
        return Target::Known(effects);
    }
    match beam.never_returns(index) {
        true if function == "exit" => Target::Exits,
        true => Target::Raises,
        false => Target::Unknown,
    }
}
