//! Bit syntax of OTP 25 and later: bs_create_bin, bs_match and their company.

use crate::loader::emitter::{Emitter, OperandPlace};
use crate::ops::bits::{LITTLE, NATIVE, SIGNED, create, match_ctx, matching, segment, sized};
use crate::{register, source};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{BeamError, Instr, Operand};
use heddle_term::{Term, big, list};

impl Emitter<'_> {
    /// Emits an instruction of these. Returns false for any other instruction.
    pub fn bits(&mut self, instr: &Instr, zeal: bool) -> Result<bool, BeamError> {
        let o = self.beam.code.operands(instr);
        match instr.op {
            Op::BsStartMatch3 => self.start_match(o[0], o[1], o[2], o[3], zeal),
            Op::BsStartMatch4 => self.start_match(o[0], o[2], o[1], o[3], zeal),
            Op::BsGetPosition => {
                let (m, d) = (self.place(o[0]), self.place(o[1]));
                self.op(register!(m, S => register!(d, D => match_ctx::get_position::<S, D>)));
                self.cell(m.cell());
                self.cell(d.cell());
            }
            Op::BsSetPosition => {
                let m = self.place(o[0]);
                self.op(register!(m, S => match_ctx::set_position::<S>));
                self.cell(m.cell());
                self.any(o[1]);
            }
            Op::BsGetTail => {
                self.zeal(zeal, o[2]);
                self.tail(o[0], o[2], o[1]);
            }
            Op::BsMatch => return self.bs_match(instr, zeal),
            Op::BsGetInteger2 | Op::BsGetFloat2 | Op::BsGetBinary2 => {
                self.zeal(zeal, o[2]);
                self.op(match instr.op {
                    Op::BsGetInteger2 => sized::get_integer,
                    Op::BsGetFloat2 => sized::get_float,
                    _ => sized::get_binary,
                });
                self.any(o[1]);
                self.any(o[6]);
                self.size(o[3]);
                self.cell(Emitter::number(o[4]));
                let flags = self.segment_flags(o[5]);
                self.cell(flags);
                self.cell(Emitter::number(o[2]));
                self.label(Emitter::label_of(o[0]));
            }
            Op::BsSkipBits2 => {
                self.op(sized::skip_bits);
                self.any(o[1]);
                self.size(o[2]);
                self.cell(Emitter::number(o[3]));
                self.label(Emitter::label_of(o[0]));
            }
            Op::BsTestTail2 => self.ensure_exactly(o[1], Emitter::number(o[2]), Emitter::label_of(o[0])),
            Op::BsTestUnit => {
                let (m, unit) = (self.place(o[1]), Emitter::number(o[2]));
                if unit.is_power_of_two() {
                    self.op(register!(m, S => sized::test_power::<S>));
                    self.cell(m.cell());
                    self.cell(unit - 1);
                } else {
                    self.op(register!(m, S => sized::test_unit::<S>));
                    self.cell(m.cell());
                    self.cell(unit);
                }
                self.label(Emitter::label_of(o[0]));
            }
            Op::BsMatchString => {
                let (bits, offset) = (Emitter::number(o[2]), Emitter::number(o[3]) as usize);
                let bytes = self.beam.strings[offset..offset + bits.div_ceil(8) as usize].to_vec();
                self.match_string(o[1], bits, &bytes, Emitter::label_of(o[0]));
            }
            Op::BsGetUtf8 => self.get_utf(sized::get_utf8, o[0], o[1], o[3], Some(o[4])),
            Op::BsGetUtf16 => self.get_utf(sized::get_utf16, o[0], o[1], o[3], Some(o[4])),
            Op::BsGetUtf32 => self.get_utf(sized::get_utf32, o[0], o[1], o[3], Some(o[4])),
            Op::BsSkipUtf8 => self.get_utf(sized::get_utf8, o[0], o[1], o[3], None),
            Op::BsSkipUtf16 => self.get_utf(sized::get_utf16, o[0], o[1], o[3], None),
            Op::BsSkipUtf32 => self.get_utf(sized::get_utf32, o[0], o[1], o[3], None),
            Op::BsCreateBin => {
                self.zeal(zeal, o[2]);
                return self.create_bin(o);
            }
            Op::BsInitWritable => {
                self.zeal(zeal, Operand::U(1));
                self.op(create::init_writable);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn start_match(&mut self, fail: Operand, src: Operand, live: Operand, dst: Operand, zeal: bool) {
        let (s, d) = (self.place(src), self.place(dst));
        self.op(if zeal {
            source!(s, S => register!(d, D => match_ctx::start_match_slow::<S, D>))
        } else {
            source!(s, S => register!(d, D => match_ctx::start_match::<S, D>))
        });
        self.cell(s.cell());
        self.cell(d.cell());
        self.cell(Emitter::number(live));
        // The atoms no_fail and resume: 0.
        self.label(Emitter::label_of(fail));
    }

    fn tail(&mut self, context: Operand, live: Operand, dst: Operand) {
        self.op(match_ctx::get_tail);
        self.any(context);
        self.cell(Emitter::number(live));
        self.any(dst);
    }

    fn ensure_exactly(&mut self, context: Operand, bits: u64, label: u32) {
        let m = self.place(context);
        self.op(register!(m, S => matching::ensure_exactly::<S>));
        self.cell(m.cell());
        self.cell(bits);
        self.label(label);
    }

    fn match_string(&mut self, context: Operand, bits: u64, bytes: &[u8], label: u32) {
        let m = self.place(context);
        self.op(register!(m, S => matching::match_string::<S>));
        self.cell(m.cell());
        self.cell(bits);
        self.label(label);
        self.cell(bytes.len().div_ceil(8) as u64);
        self.bytes(bytes);
    }

    /// Bytes in cells, in memory order.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.cell(u64::from_ne_bytes(word));
        }
    }

    fn get_utf(&mut self, op: crate::ctx::OpFn, fail: Operand, context: Operand, flags: Operand, dst: Option<Operand>) {
        self.op(op);
        self.any(context);
        match dst {
            Some(dst) => self.any(dst),
            None => self.cell(0),
        }
        let flags = self.segment_flags(flags);
        self.cell(flags);
        self.label(Emitter::label_of(fail));
    }

    pub fn atom_name(&self, operand: Operand) -> &'static str {
        match operand {
            Operand::Atom(index) => self.atoms[index as usize].name(),
            _ => "",
        }
    }

    /// A size: the atom `all` becomes `ALL`.
    pub fn size(&mut self, operand: Operand) {
        if self.atom_name(operand) == "all" {
            self.cell(segment::ALL.raw());
        } else {
            self.any(operand);
        }
    }

    /// Flags as a number, from a number or a list of names.
    pub fn segment_flags(&mut self, operand: Operand) -> u64 {
        let flags = match operand {
            Operand::Literal(index) => list::ListIter::new(self.literals[index as usize])
                .filter_map(|flag| flag.as_atom())
                .map(|flag| match flag.name() {
                    "little" => LITTLE,
                    "signed" => SIGNED,
                    "native" => NATIVE,
                    _ => 0,
                })
                .fold(0, |a, b| a | b),
            other => Emitter::number(other),
        };
        let native = if flags & NATIVE != 0 && cfg!(target_endian = "little") { LITTLE } else { 0 };
        (flags | native) & (LITTLE | SIGNED)
    }

    /// Emits one operation for each command.
    fn bs_match(&mut self, instr: &Instr, zeal: bool) -> Result<bool, BeamError> {
        let o = self.beam.code.operands(instr);
        let Operand::List(list) = o[2] else { return Ok(false) };
        let (label, context) = (Emitter::label_of(o[0]), o[1]);
        let m = self.place(context);
        let mut rest = self.beam.code.list(list);
        while let [command, args @ ..] = rest {
            if let Some(used) = self.fields(m, rest, label) {
                rest = &rest[used..];
                continue;
            }
            let used = match self.atom_name(*command) {
                "ensure_at_least" => {
                    let unit = Emitter::number(args[1]);
                    if let Some(used) = self.ensure_and_take(m, args, label) {
                        rest = &args[used..];
                        continue;
                    }
                    if unit > 1 {
                        self.op(if unit.is_power_of_two() {
                            register!(m, S => matching::ensure_power::<S>)
                        } else {
                            register!(m, S => matching::ensure_unit::<S>)
                        });
                    } else {
                        self.op(register!(m, S => matching::ensure_at_least::<S>));
                    }
                    self.cell(m.cell());
                    self.cell(Emitter::number(args[0]));
                    self.label(label);
                    if unit > 1 {
                        self.cell(if unit.is_power_of_two() { unit - 1 } else { unit });
                    }
                    2
                }
                "ensure_exactly" => {
                    self.ensure_exactly(context, Emitter::number(args[0]), label);
                    1
                }
                "skip" => {
                    self.op(register!(m, S => matching::skip::<S>));
                    self.cell(m.cell());
                    self.cell(Emitter::number(args[0]));
                    1
                }
                "get_tail" => {
                    self.zeal(zeal, args[0]);
                    self.tail(context, args[0], args[2]);
                    3
                }
                "=:=" => {
                    self.equal(context, Emitter::number(args[1]), args[2], label);
                    3
                }
                "binary" => {
                    self.zeal(zeal, args[0]);
                    self.op(match_ctx::get_binary);
                    self.any(context);
                    self.cell(Emitter::number(args[0]));
                    self.any(args[4]);
                    self.cell(Emitter::number(args[2]) * Emitter::number(args[3]));
                    5
                }
                "integer" => {
                    self.integer(m, context, args, label, zeal);
                    5
                }
                _ => return Ok(false),
            };
            rest = &args[used..];
        }
        Ok(true)
    }

    fn equal(&mut self, context: Operand, bits: u64, value: Operand, label: u32) {
        if bits == 0 {
            return;
        }
        let value = match value {
            Operand::U(value) => Some(value),
            Operand::I(value) if value >= 0 => Some(value as u64),
            other => self.constant(other).and_then(big::to_u64),
        }
        .filter(|_| bits <= 64)
        .ok_or(value);
        match value {
            Ok(value) => {
                let m = self.place(context);
                self.op(match bits {
                    8 => register!(m, S => matching::equal_bytes::<S, matching::W8>),
                    16 => register!(m, S => matching::equal_bytes::<S, matching::W16>),
                    24 => register!(m, S => matching::equal_bytes::<S, matching::W24>),
                    32 => register!(m, S => matching::equal_bytes::<S, matching::W32>),
                    _ => register!(m, S => matching::equal::<S>),
                });
                self.cell(m.cell());
                self.cell(bits);
                self.label(label);
                self.cell(value);
            }
            Err(value) => {
                let term = match value {
                    Operand::U(value) => Some(Term::small(value as i64)),
                    other => self.constant(other),
                };
                let len = bits.div_ceil(8);
                let mut bytes = vec![0u8; len as usize];
                if let Some(term) = term {
                    // SAFETY: the buffer has room for the bits.
                    unsafe { crate::ops::bits::integers::write_term(bytes.as_mut_ptr(), 0, bits, term, 0) };
                }
                self.match_string(context, bits, &bytes, label);
            }
        }
    }

    /// live, flags, size, unit, destination
    fn integer(&mut self, m: OperandPlace, context: Operand, args: &[Operand], label: u32, zeal: bool) {
        let flags = self.segment_flags(args[1]);
        let bits = Emitter::number(args[2]) * Emitter::number(args[3]);
        let d = self.place(args[4]);
        if flags == 0 && matches!(bits, 8 | 16 | 24 | 32) {
            self.op(match bits {
                8 => register!(m, S => register!(d, D => matching::unsigned::<S, D, matching::W8>)),
                16 => register!(m, S => register!(d, D => matching::unsigned::<S, D, matching::W16>)),
                24 => register!(m, S => register!(d, D => matching::unsigned::<S, D, matching::W24>)),
                _ => register!(m, S => register!(d, D => matching::unsigned::<S, D, matching::W32>)),
            });
            self.cell(m.cell());
            self.cell(d.cell());
        } else if bits < 60 {
            self.op(register!(m, S => register!(d, D => matching::small_integer::<S, D>)));
            self.cell(m.cell());
            self.cell(d.cell());
            self.cell(bits);
            self.cell(flags);
        } else {
            self.zeal(zeal, args[0]);
            self.op(matching::integer);
            self.any(context);
            self.any(args[4]);
            self.cell(bits);
            self.cell(flags);
            self.cell(Emitter::number(args[0]));
            self.label(label);
        }
    }

    /// label, heap need, live, unit, dst, segments
    fn create_bin(&mut self, o: &[Operand]) -> Result<bool, BeamError> {
        let Operand::List(list) = o[5] else { return Ok(false) };
        let segments = self.beam.code.list(list);
        let waiting = self.chain(o, segments);
        let start = self.cells.len();
        let count = segments.len() / 6;
        self.op(create::create_bin);
        self.label(Emitter::label_of(o[0]));
        self.cell(Emitter::number(o[2]));
        self.cell(o[1].heap_words());
        self.any(o[4]);
        self.cell(count as u64);
        self.cell(0);
        let mut strings: Vec<(usize, usize, usize)> = Vec::new();
        for chunk in segments.chunks_exact(6) {
            let kind = match self.atom_name(chunk[0]) {
                "integer" => segment::INTEGER,
                "float" => segment::FLOAT,
                "binary" => segment::BINARY,
                "append" | "private_append" => segment::APPEND,
                "string" => segment::STRING,
                "utf8" => segment::UTF8,
                "utf16" => segment::UTF16,
                "utf32" => segment::UTF32,
                _ => return Ok(false),
            };
            let flags = self.segment_flags(chunk[3]);
            self.cell(kind | flags << 8 | Emitter::number(chunk[2]) << 16 | Emitter::number(chunk[1]) << 32);
            if kind == segment::STRING {
                strings.push((self.cells.len(), Emitter::number(chunk[4]) as usize, Emitter::number(chunk[5]) as usize));
                self.cell(0);
                self.cell(Emitter::number(chunk[5]));
            } else {
                self.any(chunk[4]);
                self.size(chunk[5]);
            }
        }
        for (cell, offset, len) in strings {
            self.cells[cell] = ((self.cells.len() - start) * 8) as u64;
            let beam = self.beam;
            self.bytes(&beam.strings[offset..offset + len]);
        }
        self.cells[start + 6] = (self.cells.len() - start) as u64;
        if let Some(waiting) = waiting {
            waiting.fill_in(self, start);
        }
        Ok(true)
    }
}
