//! Emits operations for several commands of `bs_match` that are read together.

use crate::loader::emitter::{Emitter, OperandPlace};
use crate::ops::bits::{LITTLE, SIGNED, match_ctx, matching};
use crate::{register, source};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{Instr, Operand};
use heddle_term::big;

/// A command that may be one of several in a word.
enum Field {
    Integer { bits: u64, signed: bool, dst: Operand },
    Equal { bits: u64, value: u64 },
    Skip { bits: u64 },
}

impl Field {
    fn bits(&self) -> u64 {
        match self {
            Field::Integer { bits, .. } | Field::Equal { bits, .. } | Field::Skip { bits } => *bits,
        }
    }
    fn is_skip(&self) -> bool {
        matches!(self, Field::Skip { .. })
    }
}

impl Emitter<'_> {
    /// Emits a match that continues in the context of the last one and gets its position. Returns false if these are not the instructions.
    pub fn start_and_position(&mut self, rest: &[Instr], zeal: bool) -> bool {
        let code = &self.beam.code;
        let [first, second, ..] = rest else { return false };
        if zeal || second.op != Op::BsGetPosition {
            return false;
        }
        let (o, n) = (code.operands(first), code.operands(second));
        let (src, live, dst) = if first.op == Op::BsStartMatch3 { (o[1], o[2], o[3]) } else { (o[2], o[1], o[3]) };
        if n[0].reg() != dst.reg() {
            return false;
        }
        let (s, d, p) = (self.place(src), self.place(dst), self.place(n[1]));
        self.op(source!(s, S => register!(d, D => register!(p, P => match_ctx::start_match_position::<S, D, P>))));
        self.cell(s.cell());
        self.cell(d.cell());
        self.cell(Emitter::number(live));
        self.label(Emitter::label_of(o[0]));
        // A new context continues at the operation after it.
        self.op(register!(d, S => register!(p, D => match_ctx::get_position::<S, D>)));
        self.cell(d.cell());
        self.cell(p.cell());
        true
    }

    /// Emits `ensure_at_least` with the integer after it. Returns the number of `args` used.
    pub fn ensure_and_take(&mut self, m: OperandPlace, args: &[Operand], label: u32) -> Option<usize> {
        let [bits, unit, name, _live, flags, size, size_unit, dst, ..] = args else { return None };
        let (unit, size) = (Emitter::number(*unit).max(1), Emitter::number(*size) * Emitter::number(*size_unit));
        // Several fields are read together instead.
        if self.atom_name(*name) != "integer" || self.segment_flags(*flags) != 0 || !unit.is_power_of_two() || self.run(&args[2..]).1 > 1 {
            return None;
        }
        let d = self.place(*dst);
        self.op(match size {
            8 => register!(m, S => register!(d, D => matching::ensure_unsigned::<S, D, matching::W8>)),
            16 => register!(m, S => register!(d, D => matching::ensure_unsigned::<S, D, matching::W16>)),
            24 => register!(m, S => register!(d, D => matching::ensure_unsigned::<S, D, matching::W24>)),
            32 => register!(m, S => register!(d, D => matching::ensure_unsigned::<S, D, matching::W32>)),
            _ => return None,
        });
        self.cell(m.cell());
        self.cell(Emitter::number(*bits));
        self.label(label);
        self.cell(unit - 1);
        self.cell(d.cell());
        Some(8)
    }

    /// A command as a field, and the number of its operands, name included.
    fn as_field(&mut self, commands: &[Operand]) -> Option<(Field, usize)> {
        let (name, args) = commands.split_first()?;
        Some(match (self.atom_name(*name), args) {
            ("integer", [_live, flags, size, unit, dst, ..]) => {
                let flags = self.segment_flags(*flags);
                let bits = Emitter::number(*size) * Emitter::number(*unit);
                if flags & LITTLE != 0 && bits > 8 || !(1..60).contains(&bits) {
                    return None;
                }
                (Field::Integer { bits, signed: flags & SIGNED != 0, dst: *dst }, 6)
            }
            ("=:=", [_live, bits, value, ..]) => {
                let bits = Emitter::number(*bits);
                let value = match *value {
                    Operand::U(value) => value,
                    Operand::I(value) if value >= 0 => value as u64,
                    other => self.constant(other).and_then(big::to_u64)?,
                };
                if !(1..=64).contains(&bits) {
                    return None;
                }
                (Field::Equal { bits, value }, 4)
            }
            ("skip", [bits, ..]) => (Field::Skip { bits: Emitter::number(*bits) }, 2),
            _ => return None,
        })
    }

    /// The fields from here on that fit in a word, up to the last one that is used. Returns the numbers of operands, of used fields, and of
    /// bits.
    fn run(&mut self, commands: &[Operand]) -> (usize, usize, u64) {
        let (mut at, mut sum) = (0, 0);
        let mut run = (0, 0, 0);
        while let Some((field, used)) = self.as_field(&commands[at..]) {
            at += used;
            sum += field.bits();
            if sum > 64 {
                break;
            }
            if !field.is_skip() {
                run = (at, run.1 + 1, sum);
            }
        }
        run
    }

    /// Emits the reading of several fields at once, perhaps with the `ensure_at_least` before them. Returns the number of operands used.
    pub fn fields(&mut self, m: OperandPlace, commands: &[Operand], label: u32) -> Option<usize> {
        let ensured = match commands {
            [name, bits, unit, ..] if self.atom_name(*name) == "ensure_at_least" => {
                Some((Emitter::number(*bits), Emitter::number(*unit).max(1))).filter(|(_, unit)| unit.is_power_of_two())
            }
            _ => None,
        };
        let first = if ensured.is_some() { 3 } else { 0 };
        let commands = &commands[first..];
        let (end, looked_at, total) = self.run(commands);
        if looked_at < 2 {
            return None;
        }
        if let Some((bits, unit)) = ensured {
            self.op(register!(m, S => matching::ensure_fields::<S>));
            self.cell(m.cell());
            self.cell(total);
            self.cell(bits);
            self.label(label);
            self.cell(unit - 1);
        } else {
            self.op(register!(m, S => matching::load_fields::<S>));
            self.cell(m.cell());
            self.cell(total);
        }
        let (mut at, mut before) = (0, 0);
        while at < end {
            let (field, used) = self.as_field(&commands[at..])?;
            at += used;
            if let Field::Integer { bits, signed: false, dst } = field
                && at < end
                && let Some((Field::Integer { bits: bits_2, signed: false, dst: dst_2 }, used)) = self.as_field(&commands[at..])
            {
                let (d, d_2) = (self.place(dst), self.place(dst_2));
                self.op(register!(d, D => register!(d_2, E => matching::field_pair::<D, E>)));
                for cell in [d.cell(), before, 64 - bits, d_2.cell(), before + bits, 64 - bits_2] {
                    self.cell(cell);
                }
                at += used;
                before += bits + bits_2;
                continue;
            }
            match field {
                Field::Integer { bits, signed, dst } => {
                    let d = self.place(dst);
                    self.op(if signed { register!(d, D => matching::signed_field::<D>) } else { register!(d, D => matching::field::<D>) });
                    self.cell(d.cell());
                    self.cell(before);
                    self.cell(64 - bits);
                }
                Field::Equal { bits, value } => {
                    self.op(register!(m, S => matching::field_equal::<S>));
                    self.cell(m.cell());
                    self.cell(before);
                    self.cell(64 - bits);
                    self.label(label);
                    self.cell(value);
                    self.cell(total - before);
                }
                Field::Skip { .. } => {}
            }
            before += field.bits();
        }
        Some(first + end)
    }
}
