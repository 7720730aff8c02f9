//! Bit syntax of OTP 24: bs_init2, bs_put_*, bs_append and their company.

use crate::ctx::X_REGISTERS;
use crate::loader::emitter::Emitter;
use crate::ops::bits::{old, segment};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{BeamError, Instr, Operand};

impl Emitter<'_> {
    /// Emits an instruction of these. Returns false for any other instruction.
    pub fn bits_old(&mut self, instr: &Instr, zeal: bool) -> Result<bool, BeamError> {
        let o = self.beam.code.operands(instr);
        match instr.op {
            Op::BsInit2 => self.init(o, 8, zeal),
            Op::BsInitBits => self.init(o, 1, zeal),
            // label, size, words, live, unit, source, flags, dst
            Op::BsAppend => {
                self.zeal(zeal, o[3]);
                self.append(o[0], o[7], o[1], o[4]);
                self.cells_for_room(Emitter::number(o[3]), o[2].heap_words());
                self.any(o[5]);
            }
            // label, size, unit, source, flags, dst
            Op::BsPrivateAppend => {
                self.append(o[0], o[5], o[1], o[2]);
                self.cells_for_room(X_REGISTERS as u64, 0);
                self.any(o[3]);
            }
            // label, a, b, unit, dst
            Op::BsAdd => {
                self.op(old::add);
                self.label(Emitter::label_of(o[0]));
                self.any(o[4]);
                self.any(o[1]);
                self.any(o[2]);
                self.cell(Emitter::number(o[3]));
            }
            Op::BsPutInteger => self.put(segment::INTEGER, o[0], o[1], o[2], o[3], o[4]),
            Op::BsPutFloat => self.put(segment::FLOAT, o[0], o[1], o[2], o[3], o[4]),
            Op::BsPutBinary => self.put(segment::BINARY, o[0], o[1], o[2], o[3], o[4]),
            Op::BsPutUtf8 => self.put(segment::UTF8, o[0], Operand::Nil, Operand::U(1), o[1], o[2]),
            Op::BsPutUtf16 => self.put(segment::UTF16, o[0], Operand::Nil, Operand::U(1), o[1], o[2]),
            Op::BsPutUtf32 => self.put(segment::UTF32, o[0], Operand::Nil, Operand::U(1), o[1], o[2]),
            Op::BsPutString => {
                let (len, offset) = (Emitter::number(o[0]) as usize, Emitter::number(o[1]) as usize);
                self.op(old::put_string);
                self.cell(0);
                self.cell(len as u64);
                self.cell(len.div_ceil(8) as u64);
                let beam = self.beam;
                self.bytes(&beam.strings[offset..offset + len]);
            }
            Op::BsUtf8Size => self.utf_size(segment::UTF8, o),
            Op::BsUtf16Size => self.utf_size(segment::UTF16, o),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// label, size, words, live, flags, dst
    fn init(&mut self, o: &[Operand], unit: u64, zeal: bool) {
        self.zeal(zeal, o[3]);
        self.op(old::init);
        self.label(Emitter::label_of(o[0]));
        self.any(o[5]);
        self.any(o[1]);
        self.cell(unit);
        self.cells_for_room(Emitter::number(o[3]), o[2].heap_words());
    }

    fn append(&mut self, fail: Operand, dst: Operand, size: Operand, unit: Operand) {
        self.op(old::append_bits);
        self.label(Emitter::label_of(fail));
        self.any(dst);
        self.any(size);
        self.cell(Emitter::number(unit));
    }

    fn cells_for_room(&mut self, live: u64, need: u64) {
        self.cell(live);
        self.cell(need);
    }

    fn put(&mut self, kind: u64, fail: Operand, size: Operand, unit: Operand, flags: Operand, source: Operand) {
        self.op(old::put_segment);
        self.label(Emitter::label_of(fail));
        let flags = self.segment_flags(flags);
        self.cell(kind | flags << 8 | Emitter::number(unit) << 16);
        self.any(source);
        self.size(size);
    }

    /// label, source, dst
    fn utf_size(&mut self, kind: u64, o: &[Operand]) {
        self.op(old::utf_size);
        self.any(o[1]);
        self.any(o[2]);
        self.cell(kind);
    }
}
