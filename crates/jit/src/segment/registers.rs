//! Reading and writing registers and constants.

use super::state::{Held, Known};
use super::{Segment, trusted};
use crate::analysis::effects::Registers;
use crate::symbol::Symbol;
use cranelift_codegen::ir::{ExternalName, GlobalValueData, InstBuilder, Value, types as clif};
use heddle_beamfile::{Operand, Reg};
use heddle_term::Term;

impl Segment<'_, '_> {
    pub(super) fn word(&mut self, word: u64) -> Value {
        self.b.ins().iconst(clif::I64, word as i64)
    }

    /// The word that a symbol stands for. In code that is kept in a file it is filled in later. (A constant is made again wherever it is needed; a word
    /// that is filled in is made once, before a loop, and takes a machine register there.)
    pub(super) fn symbol(&mut self, symbol: Symbol) -> Value {
        if let Some(addresses) = &self.plan.addresses {
            let Some(word) = symbol.value(addresses) else {
                self.unfit.get_or_insert(super::Unfit("it refers to what is not there"));
                return self.word(0);
            };
            return self.word(word);
        }
        let name = ExternalName::user(self.b.func.declare_imported_user_function(symbol.name()));
        let data = GlobalValueData::Symbol { name, offset: 0.into(), colocated: false, tls: false };
        let global = self.b.func.create_global_value(data);
        self.b.ins().symbol_value(clif::I64, global)
    }

    /// The term that an operand stands for, unless it is a register or a literal, which has an address.
    pub(super) fn constant(&self, operand: Operand) -> Option<u64> {
        let source = self.view().source;
        Some(match operand {
            Operand::I(value) => Term::try_small(value)?.raw(),
            Operand::Atom(index) => Term::atom(source.atoms[index as usize]).raw(),
            Operand::Nil => Term::NIL.raw(),
            _ => return None,
        })
    }

    /// The value of a source operand.
    pub(super) fn get(&mut self, operand: Operand) -> Value {
        match operand.reg() {
            Some(Reg::X(x)) => self.get_x(x),
            Some(Reg::Y(y)) => self.get_y(y),
            None => {
                let (value, term) = if let Operand::Literal(index) = operand {
                    (self.symbol(Symbol::Literal(index)), self.view().source.literals[index as usize])
                } else if let Some(term) = self.constant(operand) {
                    (self.word(term), Term::from_raw(term))
                } else {
                    self.unfit.get_or_insert(super::Unfit("an operand that is no term"));
                    return self.word(0);
                };
                if let Some(known) = kind_of(term) {
                    self.state.known.insert(value, known);
                }
                value
            }
        }
    }

    pub(super) fn get_x(&mut self, x: u16) -> Value {
        if let Some(held) = self.state.x[x as usize] {
            return held.value;
        }
        let value = self.b.ins().load(clif::I64, trusted(), self.c, i32::from(x) * 8);
        self.state.x[x as usize] = Some(Held { value, is_new: false });
        value
    }

    fn get_y(&mut self, y: u16) -> Value {
        let offset = self.state.stack_bytes + i32::from(y) * 8;
        if let Some(&value) = self.state.y.get(&offset) {
            return value;
        }
        let value = self.b.ins().load(clif::I64, trusted(), self.state.s, offset);
        self.state.y.insert(offset, value);
        value
    }

    pub(super) fn set(&mut self, operand: Operand, value: Value) {
        self.exit = None;
        match operand.reg() {
            Some(Reg::X(x)) => self.state.x[x as usize] = Some(Held { value, is_new: true }),
            Some(Reg::Y(y)) => self.set_slot(self.state.stack_bytes + i32::from(y) * 8, value),
            None => self.unfit = Some(super::Unfit("a destination that is no register")),
        }
    }

    /// Writes a word of the stack, `offset` bytes from `State::s`.
    pub(super) fn set_slot(&mut self, offset: i32, value: Value) {
        self.b.ins().store(trusted(), value, self.state.s, offset);
        self.state.y.insert(offset, value);
    }

    /// Stores the X registers in memory that are new and among `needed`, and all float registers that are new.
    pub(super) fn store_needed(&mut self, needed: Registers) {
        for x in 0..self.state.x.len() {
            if let Some(Held { value, is_new: true }) = self.state.x[x]
                && needed >> x & 1 != 0
            {
                self.b.ins().store(trusted(), value, self.c, x as i32 * 8);
            }
        }
        let mut floats: Vec<_> = self.state.f.iter().filter(|(_, held)| held.is_new).map(|(&f, held)| (f, held.value)).collect();
        floats.sort_unstable_by_key(|float| float.0);
        for (f, value) in floats {
            self.b.ins().store(trusted(), value, self.c, self.plan.host.floats + i32::from(f) * 8);
        }
    }

    pub(super) fn heap_top(&mut self) -> Value {
        if self.state.heap_bytes != 0 {
            self.state.h = self.b.ins().iadd_imm_s(self.state.h, i64::from(self.state.heap_bytes));
            self.state.heap_bytes = 0;
        }
        self.state.h
    }

    /// The top of the stack. Slots are found again, from the new base.
    pub(super) fn stack_top(&mut self) -> Value {
        let moved = self.state.stack_bytes;
        if moved != 0 {
            self.state.s = self.b.ins().iadd_imm_s(self.state.s, i64::from(moved));
            self.state.stack_bytes = 0;
            let slots = std::mem::take(&mut self.state.y);
            self.state.y = slots.into_iter().map(|(offset, value)| (offset - moved, value)).collect();
        }
        self.state.s
    }

    pub(super) fn known(&self, value: Value) -> Option<Known> {
        self.state.known.get(&value).copied()
    }

    pub(super) fn learn(&mut self, value: Value, known: Known) {
        self.state.known.insert(value, known);
    }

    /// The operand as a small integer that is known now.
    pub(super) fn small_constant(&self, operand: Operand) -> Option<i64> {
        self.constant(operand).map(Term::from_raw).and_then(|term| term.as_small())
    }
}

pub(super) fn kind_of(term: Term) -> Option<Known> {
    if term.is_small() {
        Some(Known::Small)
    } else if term.is_nil() {
        Some(Known::Nil)
    } else if term.is_atom() {
        Some(Known::Atom)
    } else if term.is_cons() {
        Some(Known::Cons)
    } else if term.is_float() {
        Some(Known::Float)
    } else {
        None
    }
}
