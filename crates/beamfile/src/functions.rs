//! Where functions and labels are.
//!
//! A function is `label, line..., func_info, label, body`: the first label is where a failed clause match jumps to, the second
//! is the entry.

use heddle_abi::opcodes::Op;

use crate::atoms::AtomIndex;
use crate::code::Instr;
use crate::operand::Operand;
use crate::tables::ARITY_MAX;

/// A function and its range of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: AtomIndex,
    pub arity: u32,
    /// Label calls go to.
    pub entry_label: u32,
    /// Instruction index of the label before `func_info`.
    pub start: u32,
    /// Instruction index of `func_info`.
    pub func_info: u32,
    /// Instruction index of the entry label.
    pub entry: u32,
    /// One past the last instruction.
    pub end: u32,
}

/// Label number to instruction index.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    instrs: Vec<u32>,
}

const UNSET: u32 = u32::MAX;

impl Labels {
    /// Index of the `label` instruction.
    #[inline]
    pub fn instr(&self, label: u32) -> Option<u32> {
        self.instrs.get(label as usize).copied().filter(|&instr| instr != UNSET)
    }

    /// Every label is below this.
    pub fn limit(&self) -> u32 {
        self.instrs.len() as u32
    }
}

/// Builds both tables while instructions are decoded.
pub(crate) struct FunctionFinder {
    labels: Labels,
    functions: Vec<Function>,
    /// A `func_info` was just seen, its entry label must come next.
    entry_pending: bool,
}

impl FunctionFinder {
    pub fn new(label_count: u32) -> FunctionFinder {
        FunctionFinder { labels: Labels { instrs: vec![UNSET; label_count as usize] }, functions: Vec::new(), entry_pending: false }
    }

    pub fn current(&self) -> Option<&Function> {
        self.functions.last()
    }

    /// Looks at the instruction decoded last: a label, `func_info` or the end.
    pub fn visit(&mut self, instrs: &[Instr], operands: &[Operand]) -> Result<(), String> {
        let index = instrs.len() as u32 - 1;
        match instrs[index as usize].op {
            Op::Label => self.label(index, operands),
            Op::FuncInfo => self.func_info(instrs, operands),
            _ => self.end(index),
        }
    }

    fn label(&mut self, index: u32, operands: &[Operand]) -> Result<(), String> {
        let number = operands[0].number().unwrap_or(0);
        let limit = self.labels.limit();
        match self.labels.instrs.get_mut(number as usize) {
            Some(place) if number != 0 && *place == UNSET => *place = index,
            Some(_) if number != 0 => return Err(format!("label {number} is defined twice")),
            _ => return Err(format!("label {number} is not between 1 and the announced {limit}")),
        }
        if std::mem::take(&mut self.entry_pending)
            && let Some(function) = self.functions.last_mut()
        {
            if function.func_info + 1 != index {
                return Err("func_info must be followed by the entry label".into());
            }
            function.entry_label = number;
            function.entry = index;
        }
        Ok(())
    }

    fn func_info(&mut self, instrs: &[Instr], operands: &[Operand]) -> Result<(), String> {
        if self.entry_pending {
            return Err("func_info must be followed by the entry label".into());
        }
        let [module, name, arity] = operands else {
            return Err("func_info takes three operands".into());
        };
        let (Operand::Atom(1), &Operand::Atom(name)) = (module, name) else {
            return Err("func_info must name the module (atom 1) and the function".into());
        };
        let Some(arity) = arity.number().filter(|&arity| arity <= ARITY_MAX) else {
            return Err(format!("the arity is not a number up to {ARITY_MAX}"));
        };
        let func_info = instrs.len() as u32 - 1;
        let start = instrs[..func_info as usize].iter().rposition(|instr| instr.op != Op::Line);
        let Some(start) = start.filter(|&start| instrs[start].op == Op::Label) else {
            return Err("func_info must follow a label".into());
        };
        self.close(start as u32)?;
        self.entry_pending = true;
        self.functions.push(Function { name, arity, entry_label: 0, start: start as u32, func_info, entry: 0, end: 0 });
        Ok(())
    }

    fn end(&mut self, index: u32) -> Result<(), String> {
        if self.entry_pending {
            return Err("func_info must be followed by the entry label".into());
        }
        self.close(index)
    }

    /// The last function ends where the next thing starts.
    fn close(&mut self, end: u32) -> Result<(), String> {
        match self.functions.last_mut() {
            Some(function) if function.entry >= end => Err("a function has no body".into()),
            Some(function) => {
                function.end = end;
                Ok(())
            }
            None if end == 0 => Ok(()),
            None => Err("there are instructions before the first function".into()),
        }
    }

    pub fn finish(self) -> (Vec<Function>, Labels) {
        (self.functions, self.labels)
    }
}
