//! Comparisons that are decided by the words alone, or by small integers. The first tier does the others.

use super::Segment;
use super::state::Known;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;

/// What is asked of two terms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Same,
    Equal,
    Less,
}

impl Segment<'_, '_> {
    pub(super) fn compare(&mut self, at: usize, o: &[Operand]) {
        let op = self.view().instr(at).op;
        let (question, wanted) = match op {
            Op::IsEqExact => (Question::Same, true),
            Op::IsNeExact => (Question::Same, false),
            Op::IsEq => (Question::Equal, true),
            Op::IsNe => (Question::Equal, false),
            Op::IsLt => (Question::Less, true),
            _ => (Question::Less, false),
        };
        let (a, b) = (self.get(o[1]), self.get(o[2]));
        let condition = self.answer(at, question, a, b);
        let block = self.b.create_block();
        let failed = self.block_to(o[0]);
        let (yes, no) = if wanted { (block, failed) } else { (failed, block) };
        self.b.ins().brif(condition, yes, &[], no, &[]);
        self.b.switch_to_block(block);
        // A value that is the same as a constant is of its kind.
        if op == Op::IsEqExact {
            match (self.known(a), self.known(b)) {
                (None, Some(known)) => self.learn(a, known),
                (Some(known), None) => self.learn(b, known),
                _ => {}
            }
        }
    }

    /// A condition: the answer to the question. If it needs more than the words of the two terms, the first tier does the instruction.
    pub(super) fn answer(&mut self, at: usize, question: Question, a: Value, b: Value) -> Value {
        let (known_a, known_b) = (self.known(a), self.known(b));
        let immediate = |known: Option<Known>| known.is_some_and(Known::is_immediate);
        match question {
            Question::Same if immediate(known_a) || immediate(known_b) => {}
            Question::Same => return self.same(at, a, b),
            // No other term equals an atom or the empty list.
            Question::Equal if matches!(known_a, Some(Known::Atom | Known::Nil)) || matches!(known_b, Some(Known::Atom | Known::Nil)) => {}
            Question::Equal | Question::Less => self.need_smalls(at, &[a, b]),
        }
        let condition = if question == Question::Less { IntCC::SignedLessThan } else { IntCC::Equal };
        self.b.ins().icmp(condition, a, b)
    }

    /// True if the terms are the same word. Two pointers that differ are left to the first tier.
    fn same(&mut self, at: usize, a: Value, b: Value) -> Value {
        let same = self.b.ins().icmp(IntCC::Equal, a, b);
        let (first, second) = (self.is_no_pointer(a), self.is_no_pointer(b));
        let decided = self.b.ins().bor(first, second);
        let decided = self.b.ins().bor(decided, same);
        self.exit_unless(decided, at);
        same
    }

    /// True if the term is neither a list cell nor boxed.
    fn is_no_pointer(&mut self, value: Value) -> Value {
        let tag = self.b.ins().iadd_imm_s(value, -1);
        let tag = self.b.ins().band_imm_u(tag, 7);
        self.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, tag, 1)
    }

    /// Goes on if both are small integers, otherwise the first tier does the instruction.
    pub(super) fn need_smalls(&mut self, at: usize, values: &[Value]) {
        let unknown: Vec<Value> = values.iter().copied().filter(|&value| self.known(value) != Some(Known::Small)).collect();
        let Some(bits) = unknown.iter().copied().reduce(|all, value| self.b.ins().bor(all, value)) else { return };
        let small = self.is_small(bits);
        self.exit_unless(small, at);
        for value in unknown {
            self.learn(value, Known::Small);
        }
    }
}
