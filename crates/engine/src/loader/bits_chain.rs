//! Decides which `bs_create_bin` become chains (see `ops::bits::chain`), and emits their cells.

use crate::loader::emitter::{Emitter, OperandPlace};
use crate::ops::bits::chain::{self, No, Yes};
use crate::ops::bits::chain_segments::{self as put, Bytes};
use crate::ops::bits::{LITTLE, chain_sizes as sizes};
use crate::{register, source};
use heddle_beamfile::{Operand, Reg};
use heddle_term::boxed::HEAP_BITS_MAX_BYTES;

/// Cells of a chain that need the place of the `create_bin` after it.
pub struct Waiting {
    /// Cell, and the operation from which its distance counts: exits before the beginning has changed anything.
    early: Vec<(usize, usize)>,
    /// The same for exits after that, which go to `rollback` if there is one.
    late: Vec<(usize, usize)>,
    rollback: Option<usize>,
    /// The cell with the number of cells to skip, and the end operation itself.
    skip: (usize, usize),
}

impl Waiting {
    /// Fills in the distances. `start`: the place of `create_bin`. All cells are there.
    pub fn fill_in(self, emitter: &mut Emitter, start: usize) {
        for (cell, op) in self.early {
            emitter.cells[cell] = (start - op) as u64;
        }
        for (cell, op) in self.late {
            emitter.cells[cell] = (self.rollback.unwrap_or(start) - op) as u64;
        }
        let (cell, op) = self.skip;
        emitter.cells[cell] = (emitter.cells.len() - op) as u64;
    }
}

/// The kinds of segments that chains know.
#[derive(Clone, Copy, PartialEq)]
enum ChainKind {
    Append { private: bool },
    Integer { bits: u64 },
    SizedInteger,
    Float,
    String,
    Part { bytes: u64 },
    SizedPart,
    All,
    Utf8,
}

struct Part {
    kind: ChainKind,
    unit: u64,
    flags: u64,
    source: Operand,
    size: Operand,
}

/// Maximum number of segments of a chain. More are rare, and take their time anyway.
const MAX_SEGMENTS: usize = 64;

impl Emitter<'_> {
    /// Emits the chain. Returns None, and emits nothing, if the instruction cannot be one.
    pub fn chain(&mut self, o: &[Operand], segments: &[Operand]) -> Option<Waiting> {
        let live = Emitter::number(o[2]);
        let mut parts = Vec::new();
        if segments.len() / 6 > MAX_SEGMENTS {
            return None;
        }
        for (i, chunk) in segments.chunks_exact(6).enumerate() {
            parts.push(self.part(i, chunk, live)?);
        }
        if let Some(Part { kind: ChainKind::Append { private }, source, .. }) = parts.first() {
            let appended = source.reg();
            // It would grow while its old size is still needed.
            if *private && parts[1..].iter().any(|p| p.source.reg() == appended || p.size.reg() == appended) {
                parts[0].kind = ChainKind::Append { private: false };
            }
        }
        match groups(&parts) {
            Some(groups) => self.emit_chain(o, &parts, &groups),
            None => self.emit_bits(o, &parts),
        }
    }

    fn part(&mut self, index: usize, chunk: &[Operand], live: u64) -> Option<Part> {
        let unit = Emitter::number(chunk[2]);
        let flags = self.segment_flags(chunk[3]);
        let (source, size) = (chunk[4], chunk[5]);
        let name = self.atom_name(chunk[0]);
        if name == "string" {
            return Some(Part { kind: ChainKind::String, unit: 8, flags: 0, source, size });
        }
        // The beginning may collect, and the sources are read again afterwards.
        let kept = |operand: Operand| !matches!(operand.reg(), Some(Reg::X(n)) if n as u64 >= live);
        if !kept(source) || !kept(size) {
            return None;
        }
        let all = self.atom_name(size) == "all";
        let constant = match size {
            _ if all || size.reg().is_some() => None,
            Operand::U(n) => Some(n),
            Operand::I(n) if n >= 0 => Some(n as u64),
            // utf8 has no size.
            _ if name == "utf8" => None,
            _ => return None,
        };
        // Sizes times units stay far from overflow.
        let bits = match constant {
            Some(n) if n <= 1 << 20 && unit <= 256 => Some(n * unit),
            Some(_) => return None,
            None => None,
        };
        let kind = match (name, bits) {
            ("append" | "private_append", _) if index == 0 && all && matches!(unit, 1 | 8) && source.reg().is_some() => {
                ChainKind::Append { private: name == "private_append" }
            }
            ("integer", Some(bits @ 1..)) => ChainKind::Integer { bits },
            ("integer", None) if !all => ChainKind::SizedInteger,
            ("float", Some(64)) => ChainKind::Float,
            ("binary", Some(bits)) if bits > 0 && bits % 8 == 0 => ChainKind::Part { bytes: bits / 8 },
            ("binary", None) if all => ChainKind::All,
            ("binary", None) => ChainKind::SizedPart,
            ("utf8", _) => ChainKind::Utf8,
            _ => return None,
        };
        Some(Part { kind, unit, flags, source, size })
    }

    fn emit_chain(&mut self, o: &[Operand], parts: &[Part], groups: &[usize]) -> Option<Waiting> {
        let (need, live) = (o[1].heap_words(), Emitter::number(o[2]));
        let mut waiting = Waiting { early: Vec::new(), late: Vec::new(), rollback: None, skip: (0, 0) };
        let constant = parts.iter().map(Part::constant_bits).sum::<u64>();
        let any = self.emit_sizes(parts, &mut waiting);
        let append = match parts.first()? {
            Part { kind: ChainKind::Append { private }, unit, source, .. } => Some((*private, *unit, *source)),
            _ => None,
        };
        let op = self.cells.len();
        if let Some((private, unit, source)) = append {
            let s = self.place(source);
            self.op(register!(s, S => match (private, any) {
                (true, true) => chain::begin_append::<S, Yes, Yes>,
                (true, false) => chain::begin_append::<S, Yes, No>,
                (false, true) => chain::begin_append::<S, No, Yes>,
                (false, false) => chain::begin_append::<S, No, No>,
            }));
            self.cell(need);
            self.cell(live);
            self.cell(constant);
            waiting.early.push((self.cells.len(), op));
            self.cell(0);
            self.cell(unit);
            self.cell(s.cell());
        } else if any || constant > 8 * HEAP_BITS_MAX_BYTES as u64 {
            if !any {
                self.op(sizes::no_sizes);
            }
            let op = self.cells.len();
            self.op(chain::begin_any);
            self.cell(need);
            self.cell(live);
            self.cell(constant);
            waiting.early.push((self.cells.len(), op));
            self.cell(0);
        } else {
            self.op(chain::begin_small);
            self.cell(need);
            self.cell(live);
            self.cell(2 + constant.div_ceil(64));
            self.cell(constant);
        }
        self.emit_segments(parts, groups, &mut waiting);
        let op = self.cells.len();
        let d = self.place(o[4]);
        self.op(register!(d, D => chain::end::<D>));
        self.cell(d.cell());
        waiting.skip = (self.cells.len(), op);
        self.cell(0);
        if append.is_some() {
            waiting.rollback = Some(self.cells.len());
            self.op(if any { chain::rollback::<Yes> } else { chain::rollback::<No> });
            self.cell(constant);
        }
        Some(waiting)
    }

    /// Appends a few fields that do not fill bytes. They are gathered first, so nothing must be undone.
    fn emit_bits(&mut self, o: &[Operand], parts: &[Part]) -> Option<Waiting> {
        let (Part { kind: ChainKind::Append { private }, unit, source, .. }, fields) = parts.split_first()? else { return None };
        let is_field = |p: &Part| matches!(p.kind, ChainKind::Integer { .. }) && p.flags & LITTLE == 0;
        let bits = fields.iter().map(Part::constant_bits).sum::<u64>();
        // Together with the seven bits that may stand before them they fit in a word.
        if fields.is_empty() || bits > 56 || !fields.iter().all(is_field) {
            return None;
        }
        let mut waiting = Waiting { early: Vec::new(), late: Vec::new(), rollback: None, skip: (0, 0) };
        self.emit_fields(fields, &mut waiting);
        let op = self.cells.len();
        let s = self.place(*source);
        self.op(register!(s, S => if *private { chain::append_group::<S, Yes> } else { chain::append_group::<S, No> }));
        self.cell(o[1].heap_words());
        self.cell(Emitter::number(o[2]));
        self.cell(bits);
        waiting.early.push((self.cells.len(), op));
        self.cell(0);
        self.cell(*unit);
        self.cell(s.cell());
        self.any(o[4]);
        waiting.skip = (self.cells.len(), op);
        self.cell(0);
        Some(waiting)
    }

    /// Emits the operations for sizes known at run time only. Returns true if there are any.
    fn emit_sizes(&mut self, parts: &[Part], waiting: &mut Waiting) -> bool {
        let mut any = false;
        for part in parts {
            let (op, operand) = (
                self.cells.len(),
                if matches!(part.kind, ChainKind::SizedInteger | ChainKind::SizedPart) { part.size } else { part.source },
            );
            let place = self.place(operand);
            self.op(match (part.kind, any) {
                (ChainKind::All, false) => source!(place, S => sizes::size_of_all::<S, Yes>),
                (ChainKind::All, true) => source!(place, S => sizes::size_of_all::<S, No>),
                (ChainKind::SizedInteger | ChainKind::SizedPart, false) => source!(place, S => sizes::size_of_sized::<S, Yes>),
                (ChainKind::SizedInteger | ChainKind::SizedPart, true) => source!(place, S => sizes::size_of_sized::<S, No>),
                (ChainKind::Utf8, false) => source!(place, S => sizes::size_of_utf8::<S, Yes>),
                (ChainKind::Utf8, true) => source!(place, S => sizes::size_of_utf8::<S, No>),
                _ => continue,
            });
            self.cell(place.cell());
            waiting.early.push((self.cells.len(), op));
            self.cell(0);
            self.cell(part.unit);
            any = true;
        }
        any
    }

    fn emit_segments(&mut self, parts: &[Part], groups: &[usize], waiting: &mut Waiting) {
        let mut at = 0;
        let mut i = 0;
        while i < parts.len() {
            let part = &parts[i];
            if groups[i] > 1 {
                at += self.emit_group(&parts[i..i + groups[i]], at, waiting);
                i += groups[i];
                continue;
            }
            i += 1;
            if part.kind == ChainKind::String {
                self.emit_string(part, at);
                at += part.constant_bits() / 8;
                continue;
            }
            let place = self.place(part.source);
            let op = self.cells.len();
            match part.kind {
                ChainKind::Append { .. } | ChainKind::String => continue,
                ChainKind::Integer { bits } => self.op(integer_op(place, bits, part.flags)),
                ChainKind::Float => self.op(source!(place, S => put::put_float::<S>)),
                ChainKind::Part { .. } => self.op(source!(place, S => put::put_part::<S>)),
                ChainKind::All => self.op(source!(place, S => put::put_all::<S>)),
                ChainKind::Utf8 => self.op(source!(place, S => put::put_utf8::<S>)),
                ChainKind::SizedInteger => self.op(put::put_sized_integer),
                ChainKind::SizedPart => self.op(put::put_sized),
            }
            if matches!(part.kind, ChainKind::SizedInteger | ChainKind::SizedPart) {
                self.any(part.source);
            } else {
                self.cell(place.cell());
            }
            self.cell(at);
            if part.kind != ChainKind::Utf8 {
                waiting.late.push((self.cells.len(), op));
                self.cell(0);
            }
            match part.kind {
                ChainKind::Integer { bits } => {
                    self.cell(bits);
                    self.cell(part.flags);
                }
                ChainKind::Float => self.cell(part.flags),
                ChainKind::Part { bytes } => self.cell(bytes),
                ChainKind::SizedInteger | ChainKind::SizedPart => {
                    self.cell(part.unit);
                    self.any(part.size);
                    if part.kind == ChainKind::SizedInteger {
                        self.cell(part.flags);
                    }
                }
                _ => {}
            }
            at = if part.is_constant() { at + part.constant_bits() / 8 } else { 0 };
        }
    }

    /// Emits the operations that gather fields in a word.
    fn emit_fields(&mut self, fields: &[Part], waiting: &mut Waiting) {
        for (i, field) in fields.iter().enumerate() {
            let place = self.place(field.source);
            let bits = field.constant_bits();
            let op = self.cells.len();
            self.op(if i == 0 { source!(place, S => put::group_first::<S>) } else { source!(place, S => put::group_more::<S>) });
            self.cell(place.cell());
            self.cell(u64::MAX >> (64 - bits));
            waiting.late.push((self.cells.len(), op));
            self.cell(0);
            if i > 0 {
                self.cell(bits);
            }
        }
    }

    /// Emits a group of fields. Returns the number of bytes that they fill together.
    fn emit_group(&mut self, fields: &[Part], at: u64, waiting: &mut Waiting) -> u64 {
        self.emit_fields(fields, waiting);
        let bytes = fields.iter().map(Part::constant_bits).sum::<u64>() / 8;
        self.op(match bytes {
            1 => put::group_end::<Bytes<1>>,
            2 => put::group_end::<Bytes<2>>,
            3 => put::group_end::<Bytes<3>>,
            4 => put::group_end::<Bytes<4>>,
            5 => put::group_end::<Bytes<5>>,
            6 => put::group_end::<Bytes<6>>,
            7 => put::group_end::<Bytes<7>>,
            _ => put::group_end::<Bytes<8>>,
        });
        self.cell(at);
        bytes
    }

    fn emit_string(&mut self, part: &Part, at: u64) {
        let (offset, len) = (Emitter::number(part.source) as usize, Emitter::number(part.size) as usize);
        let beam = self.beam;
        let bytes = &beam.strings[offset..offset + len];
        self.op(match len {
            1 => put::put_string::<Bytes<1>>,
            2 => put::put_string::<Bytes<2>>,
            3 => put::put_string::<Bytes<3>>,
            4 => put::put_string::<Bytes<4>>,
            5 => put::put_string::<Bytes<5>>,
            6 => put::put_string::<Bytes<6>>,
            7 => put::put_string::<Bytes<7>>,
            8 => put::put_string::<Bytes<8>>,
            _ => put::put_long_string,
        });
        self.cell(at);
        if !matches!(len, 1..=8) {
            self.cell(len as u64);
            self.cell(len.div_ceil(8) as u64);
        }
        self.bytes(bytes);
    }
}

impl Part {
    /// The number of bits, if it is known when the code is loaded, else 0.
    fn constant_bits(&self) -> u64 {
        match self.kind {
            ChainKind::Integer { bits } => bits,
            ChainKind::Float => 64,
            ChainKind::String => 8 * Emitter::number(self.size),
            ChainKind::Part { bytes } => 8 * bytes,
            _ => 0,
        }
    }
    fn is_constant(&self) -> bool {
        !matches!(self.kind, ChainKind::All | ChainKind::SizedInteger | ChainKind::SizedPart | ChainKind::Utf8)
    }
}

/// The number of segments that are written together, for each first one. None if a segment would start inside a byte.
fn groups(parts: &[Part]) -> Option<Vec<usize>> {
    let mut groups = vec![1; parts.len()];
    let mut i = 0;
    while i < parts.len() {
        let ChainKind::Integer { bits } = parts[i].kind else {
            i += 1;
            continue;
        };
        if bits % 8 == 0 {
            i += 1;
            continue;
        }
        let (first, mut sum) = (i, 0);
        while sum == 0 || sum % 8 != 0 {
            let Part { kind: ChainKind::Integer { bits }, flags, .. } = parts.get(i)? else { return None };
            sum += bits;
            if sum > 64 || flags & LITTLE != 0 {
                return None;
            }
            i += 1;
        }
        groups[first] = i - first;
    }
    // An empty bitstring is a literal, except in hand-written code.
    parts.iter().any(|p| p.constant_bits() > 0 || !p.is_constant()).then_some(groups)
}

fn integer_op(place: OperandPlace, bits: u64, flags: u64) -> crate::ctx::OpFn {
    match (bits, flags & LITTLE != 0) {
        (8, _) => source!(place, S => put::put_integer::<S, put::Int8>),
        (16, false) => source!(place, S => put::put_integer::<S, put::Big16>),
        (24, false) => source!(place, S => put::put_integer::<S, put::Big24>),
        (32, false) => source!(place, S => put::put_integer::<S, put::Big32>),
        (64, false) => source!(place, S => put::put_integer::<S, put::Big64>),
        (16, true) => source!(place, S => put::put_integer::<S, put::Little16>),
        (24, true) => source!(place, S => put::put_integer::<S, put::Little24>),
        (32, true) => source!(place, S => put::put_integer::<S, put::Little32>),
        (64, true) => source!(place, S => put::put_integer::<S, put::Little64>),
        _ => source!(place, S => put::put_other_integer::<S>),
    }
}
