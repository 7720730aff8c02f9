//! The walk over a module's instructions: each generic instruction becomes cells. Neighbours that are often together become one operation.

use crate::ctx::reg_offset;
use crate::loader::emitter::{Emitter, OperandPlace};
use crate::ops::{calls, control, data, direct, errors, floats, frames, funs, maps, nifs, receive, tests};
use crate::second_tier::counted;
use crate::{register, source};
use heddle_abi::opcodes::Op;
use heddle_beamfile::{BeamError, Function as BeamFunction, Instr, Operand};
use heddle_runtime::code::nifs::NifPlace;
use heddle_runtime::code::{Function, LineEntry};
use heddle_runtime::exports;
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Term, am};
use std::sync::atomic::Ordering;

/// From ERTS, which keeps a line in 24 bits.
const MAX_LINE: u32 = (1 << 24) - 2;

impl Emitter<'_> {
    pub fn all(&mut self, module: Atom, zeal: bool) -> Result<(), BeamError> {
        let beam = self.beam;
        for (index, function) in beam.code.functions.iter().enumerate() {
            self.clear_frames = beam.raises_raw(index);
            let name = self.atoms[function.name as usize];
            if self.counts_calls {
                (0..counted::CELLS).for_each(|_| self.cell(0));
            }
            let start = self.offset();
            // Labels before func_info are targets of failed clauses.
            for instr in &beam.code.instrs[function.start as usize..function.func_info as usize] {
                self.leading(instr);
            }
            self.op(crate::ops::calls::func_info);
            self.cell(Term::atom(module).raw());
            self.cell(Term::atom(name).raw());
            self.cell(function.arity as u64);
            let entry = self.offset();
            self.functions.push(Function { start, entry, name, arity: function.arity as u8 });
            self.body(module, name, function, zeal)?;
        }
        Ok(())
    }

    fn leading(&mut self, instr: &Instr) {
        let operands = self.beam.code.operands(instr);
        match instr.op {
            Op::Label => self.place_label(operands[0]),
            Op::Line => self.line_entry(operands[0], true),
            _ => {}
        }
    }

    fn place_label(&mut self, operand: Operand) {
        let label = Emitter::number(operand) as usize;
        self.labels[label] = self.offset();
    }

    /// A line number that is too large for stock's table counts as none.
    pub fn stock_line(line: u32) -> u32 {
        if line <= MAX_LINE { line } else { 0 }
    }

    fn line(&mut self, operand: Operand) {
        self.line_entry(operand, false);
    }

    /// `begins`: the line instruction before a function.
    fn line_entry(&mut self, operand: Operand, begins: bool) {
        let index = Emitter::number(operand) as usize;
        if let Some(location) = self.beam.lines.items.get(index) {
            let entry = LineEntry { offset: self.offset(), file: location.file as u16, line: Emitter::stock_line(location.line) };
            self.recorder.line(*location, begins);
            match self.lines.last_mut() {
                Some(last) if last.offset == entry.offset => *last = entry,
                _ => self.lines.push(entry),
            }
        }
    }

    fn body(&mut self, module: Atom, name: Atom, function: &BeamFunction, zeal: bool) -> Result<(), BeamError> {
        let beam = self.beam;
        let instrs = &beam.code.instrs[function.entry as usize..function.end as usize];
        // The stub of a native has the native as its body. Calls inside the module come here, too.
        let mfa = Mfa { module, function: name, arity: function.arity as u8 };
        let native = exports::find(mfa).filter(|export| export.native.load(Ordering::Acquire) != 0);
        let hibernate = mfa == Mfa { module: am::ERLANG, function: am::HIBERNATE, arity: 3 };
        if native.is_some() || hibernate {
            for instr in instrs {
                if instr.op == Op::Label {
                    self.place_label(beam.code.operands(instr)[0]);
                }
            }
        }
        if hibernate {
            // Calls by name are the operation itself; `apply` and funs come to this one.
            self.op(control::hibernate);
            return Ok(());
        }
        if let Some(export) = native {
            self.op(crate::ops::natives::native_body);
            self.cell(export.native.load(Ordering::Acquire) as u64);
            self.cell(export as *const _ as u64);
            return Ok(());
        }
        let mut i = 0;
        while i < instrs.len() {
            if beam.clears(function.entry as usize + i)
                && let Some(&dst) = beam.code.operands(&instrs[i]).last()
            {
                self.clear(dst);
            }
            if i > 0
                && let Some(moved) = self.moved(&instrs[i - 1])
                && self.is_line_of_nothing(&instrs[i..], moved)
            {
                i += 1;
                continue;
            }
            self.at = function.entry as usize + i;
            let offset = self.offset();
            if let Some(start) = self.starts.get_mut(self.at) {
                *start = offset;
            }
            let done = self.instruction(module, function, &instrs[i..], zeal)?;
            if self.at + done > self.next_message {
                self.note_message(offset, done);
            }
            i += done;
            if instrs[0].op == Op::Label && i == 1 {
                // The compiler may put the frame before `nif_start`; a NIF begins without one.
                if self.all_nifs || instrs.iter().any(|i| i.op == Op::NifStart) {
                    self.nif_start();
                }
                self.count_function();
            }
        }
        Ok(())
    }

    /// The function that is emitted may become a NIF.
    fn nif_start(&mut self) {
        let Some(function) = self.functions.last() else { return };
        let (name, arity) = (function.name, function.arity);
        self.op(nifs::nif_start);
        self.nif_places.push(NifPlace { name, arity, cell: self.offset() });
        self.cell(0);
        self.cell(arity as u64);
        self.slow_op(nifs::nif_again);
    }

    /// The destination of an instruction that moves an existing value. (A fun without an environment is a literal.)
    fn moved(&self, instr: &Instr) -> Option<Operand> {
        let o = self.beam.code.operands(instr);
        match (instr.op, o) {
            (Op::Move, o) => Some(o[1]),
            (Op::MakeFun3, &[_, dst, Operand::List(list)]) if self.beam.code.list(list).is_empty() => Some(dst),
            _ => None,
        }
    }

    /// True if `rest` begins with a line that comes after a move to `moved` and before a tail call of a function that is not a native. The
    /// place of such a call is never needed. And code after it that has no line of its own (inlined code) must not get this one, as with
    /// stock's loader.
    fn is_line_of_nothing(&self, rest: &[Instr], moved: Operand) -> bool {
        let [line, call, ..] = rest else { return false };
        line.op == Op::Line
            && moved == Operand::X(0)
            && match call.op {
                Op::CallOnly | Op::CallLast => true,
                Op::CallExtOnly | Op::CallExtLast => {
                    let export = self.imports[Emitter::number(self.beam.code.operands(call)[1]) as usize];
                    let is_apply = export.mfa.module == am::ERLANG && export.mfa.function == am::APPLY;
                    // Relaxed: natives are there from the start.
                    export.native.load(Ordering::Relaxed) == 0 && !is_apply
                }
                _ => false,
            }
    }

    /// Emits a value for a register that the verifier found to be read without one: see `Verified::clears`.
    fn clear(&mut self, dst: Operand) {
        match self.place(dst) {
            OperandPlace::X(cell) => {
                self.op(data::clear_xreg);
                self.cell(cell);
            }
            OperandPlace::Y(cell) => {
                self.op(frames::init_yreg);
                self.cell(cell);
            }
            OperandPlace::K(_) => {}
        }
    }

    /// Emits the first instruction of `rest` (and what is merged with it); returns how many were used.
    fn instruction(&mut self, module: Atom, function: &BeamFunction, rest: &[Instr], zeal: bool) -> Result<usize, BeamError> {
        let code = &self.beam.code;
        let instr = &rest[0];
        let o = code.operands(instr);
        match instr.op {
            Op::Label => self.place_label(o[0]),
            Op::BsStartMatch3 | Op::BsStartMatch4 if self.start_and_position(rest, zeal) => return Ok(2),
            Op::Line => self.line(o[0]),
            Op::FuncInfo | Op::IntCodeEnd | Op::NifStart => {}
            Op::ExecutableLine => {
                self.line(o[0]);
                self.count_line(o[1]);
            }
            Op::OnLoad => self.on_load = self.functions.last().map(|f| f.entry),

            // ---- data ----
            Op::Move => {
                if let [_, line, next, ..] = rest
                    && line.op == Op::Line
                    && matches!(next.op, Op::Call | Op::CallOnly | Op::CallLast)
                {
                    if !self.is_line_of_nothing(&rest[1..], o[1]) {
                        self.line(code.operands(line)[0]);
                    }
                    self.move_and_go(o, next);
                    return Ok(3);
                }
                if let [_, next, ..] = rest
                    && self.move_and_go(o, next)
                {
                    return Ok(2);
                }
                // Three in a row: the last one may be merged with a call after it.
                let pair_first = !matches!(rest, [_, b, c, ..] if b.op == Op::Move && matches!(c.op, Op::Line | Op::Call | Op::CallOnly | Op::CallLast | Op::Return));
                if let [_, next, ..] = rest
                    && pair_first
                    && next.op == Op::Move
                    && let Some(n) = self.move_pair(o, code.operands(next))
                {
                    return Ok(n);
                }
                self.move_one(o[0], o[1]);
            }
            Op::Swap => self.generic(data::swap, &[o[0], o[1]]),
            Op::GetList => {
                let (s, h, t) = (self.place(o[0]), self.place(o[1]), self.place(o[2]));
                self.op(register!(s, S => register!(h, H => register!(t, T => data::get_list::<S, H, T>))));
                self.places(&[s, h, t]);
            }
            Op::GetHd => self.unary(o[0], o[1], |s, d| register!(s, S => register!(d, D => data::get_hd::<S, D>))),
            Op::GetTl => self.unary(o[0], o[1], |s, d| register!(s, S => register!(d, D => data::get_tl::<S, D>))),
            Op::PutList => {
                let (h, t, d) = (self.place(o[0]), self.place(o[1]), self.place(o[2]));
                if self.builds_message(0) {
                    self.op(source!(h, H => source!(t, T => register!(d, D => direct::put_list_direct::<H, T, D>))));
                } else {
                    self.op(source!(h, H => source!(t, T => register!(d, D => data::put_list::<H, T, D>))));
                }
                self.places(&[h, t, d]);
            }
            Op::GetTupleElement => return Ok(self.get_elements(rest)),
            Op::SetTupleElement => {
                self.op(data::set_element);
                self.any(o[0]);
                self.any(o[1]);
                self.cell((1 + Emitter::number(o[2])) * 8);
            }
            Op::PutTuple2 => {
                let Operand::List(list) = o[1] else { return Err(self.bad(function, instr)) };
                let elements = code.list(list);
                let d = self.place(o[0]);
                let header = data::tuple_header(elements.len());
                let is_direct = self.builds_message(0);
                match elements.len() {
                    _ if is_direct => self.op(register!(d, D => direct::put_tuple_direct::<D>)),
                    2 => self.op(register!(d, D => data::put_tuple_2::<D>)),
                    3 => self.op(register!(d, D => data::put_tuple_3::<D>)),
                    4 => self.op(register!(d, D => data::put_tuple_4::<D>)),
                    5 => self.op(register!(d, D => data::put_tuple_5::<D>)),
                    _ => self.op(register!(d, D => data::put_tuple::<D>)),
                }
                self.cell(d.cell());
                self.cell(header);
                if is_direct || !(2..=5).contains(&elements.len()) {
                    self.cell(elements.len() as u64);
                }
                for &element in elements {
                    self.any(element);
                }
            }
            Op::UpdateRecord => {
                let Operand::List(list) = o[4] else { return Err(self.bad(function, instr)) };
                let updates = code.list(list);
                self.op(data::update_record);
                self.cell(Emitter::number(o[1]));
                self.any(o[2]);
                self.any(o[3]);
                self.cell(updates.len() as u64 / 2);
                for pair in updates.chunks_exact(2) {
                    self.cell(Emitter::number(pair[0]) * 8);
                    self.any(pair[1]);
                }
            }

            // ---- frames and heap ----
            Op::Allocate => {
                self.zeal(zeal, o[1]);
                if let [_, next, ..] = rest
                    && next.op == Op::Move
                    && !self.clear_frames
                    && let [src, dst] = code.operands(next)
                    && let (OperandPlace::X(src), OperandPlace::Y(dst)) = (self.place(*src), self.place(*dst))
                {
                    self.op(frames::allocate_move);
                    self.cell(Emitter::number(o[0]));
                    self.cell(Emitter::number(o[1]));
                    self.cell(src);
                    self.cell(dst);
                    return Ok(2);
                }
                self.op(frames::allocate);
                self.cell(Emitter::number(o[0]));
                self.cell(Emitter::number(o[1]));
                self.clear_frame(Emitter::number(o[0]));
            }
            Op::AllocateHeap => {
                self.zeal(zeal, o[2]);
                self.op(frames::allocate_heap);
                self.cell(Emitter::number(o[0]));
                self.cell(Emitter::number(o[2]));
                self.cell(o[1].heap_words());
                self.clear_frame(Emitter::number(o[0]));
            }
            Op::TestHeap => {
                self.zeal(zeal, o[1]);
                if let [_, next, ..] = rest
                    && next.op == Op::PutList
                {
                    let n = code.operands(next);
                    let (h, t, d) = (self.place(n[0]), self.place(n[1]), self.place(n[2]));
                    if self.builds_message(1) {
                        self.op(source!(h, H => source!(t, T => register!(d, D => direct::test_heap_put_list_direct::<H, T, D>))));
                    } else {
                        self.op(source!(h, H => source!(t, T => register!(d, D => frames::test_heap_put_list::<H, T, D>))));
                    }
                    self.cell(o[0].heap_words());
                    self.cell(Emitter::number(o[1]));
                    self.places(&[h, t, d]);
                    return Ok(2);
                }
                self.op(frames::test_heap);
                self.cell(o[0].heap_words());
                self.cell(Emitter::number(o[1]));
            }
            Op::Deallocate => {
                if let [_, next, ..] = rest
                    && next.op == Op::Return
                {
                    self.op(frames::deallocate_return);
                    self.cell(Emitter::number(o[0]));
                    return Ok(2);
                }
                self.op(frames::deallocate);
                self.cell(Emitter::number(o[0]));
            }
            Op::Trim => {
                self.op(frames::trim);
                self.cell(Emitter::number(o[0]));
            }
            Op::InitYregs => {
                let Operand::List(list) = o[0] else { return Err(self.bad(function, instr)) };
                match code.list(list) {
                    [_] => self.op(frames::init_yreg),
                    [_, _] => self.op(frames::init_yregs_2),
                    more => {
                        self.op(frames::init_yregs);
                        self.cell(more.len() as u64);
                    }
                }
                for &y in code.list(list) {
                    let place = self.place(y);
                    self.cell(place.cell());
                }
            }
            Op::Jump => {
                self.op(frames::jump);
                self.label(Emitter::label_of(o[0]));
            }

            // ---- tests ----
            Op::IsInteger => self.test::<tests::IsInteger>(o),
            Op::IsFloat => self.test::<tests::IsFloat>(o),
            Op::IsNumber => self.test::<tests::IsNumber>(o),
            Op::IsAtom => self.test::<tests::IsAtom>(o),
            Op::IsPid => self.test::<tests::IsPid>(o),
            Op::IsReference => self.test::<tests::IsReference>(o),
            Op::IsPort => self.test::<tests::IsPort>(o),
            Op::IsNil => self.test::<tests::IsNil>(o),
            Op::IsBinary => self.test::<tests::IsBinary>(o),
            Op::IsBitstr => self.test::<tests::IsBitstring>(o),
            Op::IsList => self.test::<tests::IsList>(o),
            Op::IsNonemptyList => {
                if let [_, next, ..] = rest
                    && next.op == Op::GetList
                    && code.operands(next)[0].reg() == o[1].reg()
                {
                    let n = code.operands(next);
                    let (s, h, t) = (self.place(n[0]), self.place(n[1]), self.place(n[2]));
                    self.op(register!(s, S => register!(h, H => register!(t, T => tests::is_cons_get_list::<S, H, T>))));
                    self.places(&[s, h, t]);
                    self.label(Emitter::label_of(o[0]));
                    return Ok(2);
                }
                self.test::<tests::IsCons>(o);
            }
            Op::IsTuple => {
                if let [_, next, ..] = rest
                    && next.op == Op::TestArity
                    && code.operands(next)[1].reg() == o[1].reg()
                    && Emitter::label_of(code.operands(next)[0]) == Emitter::label_of(o[0])
                {
                    let s = self.place(o[1]);
                    self.op(register!(s, S => tests::is_tuple_of_arity::<S>));
                    self.cell(s.cell());
                    self.cell(data::tuple_header(Emitter::number(code.operands(next)[2]) as usize));
                    self.label(Emitter::label_of(o[0]));
                    return Ok(2);
                }
                self.test::<tests::IsTuple>(o);
            }
            Op::TestArity => {
                let s = self.place(o[1]);
                self.op(register!(s, S => tests::test_arity::<S>));
                self.cell(s.cell());
                self.cell(data::tuple_header(Emitter::number(o[2]) as usize));
                self.label(Emitter::label_of(o[0]));
            }
            Op::IsTaggedTuple => {
                let s = self.place(o[1]);
                self.op(register!(s, S => tests::is_tagged_tuple::<S>));
                self.cell(s.cell());
                self.cell(data::tuple_header(Emitter::number(o[2]) as usize));
                self.any(o[3]);
                self.label(Emitter::label_of(o[0]));
            }
            Op::IsBoolean => self.test::<tests::IsBoolean>(o),
            Op::IsMap => self.test::<tests::IsMap>(o),
            Op::IsFunction => self.test::<tests::IsFunction>(o),
            Op::IsFunction2 => {
                self.op(tests::is_function2);
                self.any(o[1]);
                self.any(o[2]);
                self.label(Emitter::label_of(o[0]));
            }
            Op::IsEqExact | Op::IsNeExact | Op::IsEq | Op::IsNe | Op::IsLt | Op::IsGe => self.comparison(instr.op, o),
            Op::SelectVal => self.select_val(o)?,
            Op::SelectTupleArity => self.select_arity(o)?,

            // ---- errors ----
            Op::Badmatch => self.generic(errors::badmatch, &[o[0]]),
            Op::CaseEnd => self.generic(errors::case_end, &[o[0]]),
            Op::TryCaseEnd => self.generic(errors::try_case_end, &[o[0]]),
            Op::Badrecord => self.generic(errors::badrecord, &[o[0]]),
            Op::IfEnd => self.op(errors::if_end),
            Op::Catch | Op::Try => {
                self.op(errors::catch);
                self.any(o[0]);
                self.label(Emitter::label_of(o[1]));
            }
            Op::CatchEnd => self.generic(errors::catch_end, &[o[0]]),
            Op::TryEnd => self.generic(errors::try_end, &[o[0]]),
            Op::TryCase => self.generic(errors::try_case, &[o[0]]),
            Op::Raise => self.generic(errors::raise_again, &[o[0], o[1]]),
            Op::BuildStacktrace => self.op(errors::build_stacktrace),
            Op::RawRaise => self.op(errors::raw_raise),

            // ---- floats ----
            Op::Fmove => match (o[0], o[1]) {
                (Operand::FR(a), Operand::FR(b)) => {
                    self.op(floats::fcopy);
                    self.cell(reg_offset(a));
                    self.cell(reg_offset(b));
                }
                (Operand::FR(a), dst) => {
                    self.op(floats::fstore);
                    self.cell(reg_offset(a));
                    self.any(dst);
                }
                (src, Operand::FR(b)) => {
                    let s = self.place(src);
                    self.op(source!(s, S => floats::fload::<S>));
                    self.cell(s.cell());
                    self.cell(reg_offset(b));
                }
                _ => return Err(self.bad(function, instr)),
            },
            Op::Fconv => {
                let Operand::FR(dst) = o[1] else { return Err(self.bad(function, instr)) };
                self.op(floats::fconv);
                self.any(o[0]);
                self.cell(reg_offset(dst));
            }
            Op::Fadd => self.float(floats::fadd, &o[1..]),
            Op::Fsub => self.float(floats::fsub, &o[1..]),
            Op::Fmul => self.float(floats::fmul, &o[1..]),
            Op::Fdiv => self.float(floats::fdiv, &o[1..]),
            Op::Fnegate => self.float(floats::fnegate, &o[1..]),

            // ---- maps ----
            Op::GetMapElements => {
                let Operand::List(list) = o[2] else { return Err(self.bad(function, instr)) };
                self.op(maps::get_map_elements);
                self.any(o[1]);
                self.label(Emitter::label_of(o[0]));
                self.cell(code.list(list).len() as u64 / 2);
                for &operand in code.list(list) {
                    self.any(operand);
                }
            }
            Op::HasMapFields => {
                let Operand::List(list) = o[2] else { return Err(self.bad(function, instr)) };
                self.op(maps::has_map_fields);
                self.any(o[1]);
                self.label(Emitter::label_of(o[0]));
                self.cell(code.list(list).len() as u64);
                for &operand in code.list(list) {
                    self.any(operand);
                }
            }
            Op::PutMapAssoc if self.new_map(o, zeal) => {}
            Op::PutMapAssoc | Op::PutMapExact => {
                let Operand::List(list) = o[4] else { return Err(self.bad(function, instr)) };
                self.op(maps::put_map);
                self.cell((instr.op == Op::PutMapExact) as u64);
                self.label(Emitter::label_of(o[0]));
                self.any(o[1]);
                self.any(o[2]);
                self.cell(Emitter::number(o[3]));
                self.cell(code.list(list).len() as u64 / 2);
                for &operand in code.list(list) {
                    self.any(operand);
                }
            }

            // ---- messages ----
            Op::Send => {
                let export = exports::get(Mfa { module: am::ERLANG, function: am::SEND, arity: 2 });
                self.op(receive::send);
                self.cell(export as *const _ as u64);
            }
            Op::LoopRec => {
                self.op(receive::loop_rec);
                self.label(Emitter::label_of(o[0]));
            }
            Op::LoopRecEnd => {
                self.op(receive::loop_rec_end);
                self.label(Emitter::label_of(o[0]));
            }
            Op::RemoveMessage => self.op(receive::remove_message),
            Op::Wait => {
                self.op(receive::wait);
                self.label(Emitter::label_of(o[0]));
            }
            Op::WaitTimeout => {
                self.op(receive::wait_timeout);
                self.label(Emitter::label_of(o[0]));
                self.any(o[1]);
            }
            Op::Timeout => self.op(receive::timeout),
            Op::RecvMarkerReserve => self.generic(receive::recv_marker_reserve, &[o[0]]),
            Op::RecvMarkerBind => self.generic(receive::recv_marker_bind, &[o[0], o[1]]),
            Op::RecvMarkerClear => self.generic(receive::recv_marker_clear, &[o[0]]),
            Op::RecvMarkerUse => self.generic(receive::recv_marker_use, &[o[0]]),

            // ---- funs ----
            Op::MakeFun3 => {
                let Operand::List(list) = o[2] else { return Err(self.bad(function, instr)) };
                let entry = self.lambdas[Emitter::number(o[0]) as usize];
                self.op(funs::make_fun);
                self.cell(entry as *const _ as u64);
                self.any(o[1]);
                self.cell(code.list(list).len() as u64);
                for &operand in code.list(list) {
                    self.any(operand);
                }
            }
            Op::CallFun | Op::CallFun2 => return Ok(self.call_fun(rest)),

            // ---- calls ----
            Op::Call
            | Op::CallLast
            | Op::CallOnly
            | Op::CallExt
            | Op::CallExtLast
            | Op::CallExtOnly
            | Op::Return
            | Op::Apply
            | Op::ApplyLast => self.call(module, instr.op, o),

            // ---- guard natives ----
            Op::Bif0 | Op::Bif1 | Op::Bif2 | Op::GcBif1 | Op::GcBif2 | Op::GcBif3 => self.guard(instr.op, o),

            // ---- bit syntax ----
            _ => {
                if !self.bits(instr, zeal)? && !self.bits_old(instr, zeal)? {
                    return Err(self.bad(function, instr));
                }
            }
        }
        Ok(1)
    }

    pub fn bad(&self, function: &BeamFunction, instr: &Instr) -> BeamError {
        self.beam.code.error(&self.beam.atoms, Some(function), instr, "the engine has no operation for this instruction")
    }

    fn clear_frame(&mut self, size: u64) {
        if self.clear_frames && size > 0 {
            self.op(frames::init_yregs);
            self.cell(size);
            for y in 0..size {
                self.cell(y * 8);
            }
        }
    }

    pub fn zeal(&mut self, zeal: bool, live: Operand) {
        if zeal {
            self.op(frames::zeal_collect);
            self.cell(Emitter::number(live));
        }
    }

    fn places(&mut self, places: &[OperandPlace]) {
        for place in places {
            self.cell(place.cell());
        }
    }

    fn generic(&mut self, op: crate::ctx::OpFn, operands: &[Operand]) {
        self.op(op);
        for &operand in operands {
            self.any(operand);
        }
    }

    fn unary(&mut self, src: Operand, dst: Operand, pick: impl Fn(OperandPlace, OperandPlace) -> crate::ctx::OpFn) {
        let (s, d) = (self.place(src), self.place(dst));
        self.op(pick(s, d));
        self.places(&[s, d]);
    }

    fn float(&mut self, op: crate::ctx::OpFn, registers: &[Operand]) {
        self.op(op);
        for &register in registers {
            let Operand::FR(n) = register else { continue };
            self.cell(reg_offset(n));
        }
    }

    /// Emits a move merged with the call or return after it.
    fn move_and_go(&mut self, o: &[Operand], next: &Instr) -> bool {
        let n = self.beam.code.operands(next);
        let (s, d) = (self.place(o[0]), self.place(o[1]));
        match next.op {
            Op::Call => {
                self.op(source!(s, S => register!(d, D => calls::move_call::<S, D>)));
                self.places(&[s, d]);
                self.label(Emitter::label_of(n[1]));
            }
            Op::CallOnly => {
                self.op(source!(s, S => register!(d, D => calls::move_call_only::<S, D>)));
                self.places(&[s, d]);
                self.label(Emitter::label_of(n[1]));
            }
            Op::CallLast => {
                self.op(source!(s, S => register!(d, D => calls::move_call_last::<S, D>)));
                self.places(&[s, d]);
                self.cell(Emitter::number(n[2]));
                self.label(Emitter::label_of(n[1]));
            }
            Op::Return => {
                self.op(source!(s, S => register!(d, D => calls::move_return::<S, D>)));
                self.places(&[s, d]);
            }
            _ => return false,
        }
        true
    }

    fn move_one(&mut self, src: Operand, dst: Operand) {
        let (s, d) = (self.place(src), self.place(dst));
        self.op(source!(s, S => register!(d, D => data::move_1::<S, D>)));
        self.places(&[s, d]);
    }

    fn move_pair(&mut self, a: &[Operand], b: &[Operand]) -> Option<usize> {
        let (s1, d1, s2, d2) = (self.place(a[0]), self.place(a[1]), self.place(b[0]), self.place(b[1]));
        self.op(source!(s1, S1 => register!(d1, D1 => source!(s2, S2 => register!(d2, D2 => data::move_2::<S1, D1, S2, D2>)))));
        self.places(&[s1, d1, s2, d2]);
        Some(2)
    }

    fn get_elements(&mut self, rest: &[Instr]) -> usize {
        let code = &self.beam.code;
        let o = code.operands(&rest[0]);
        let index = Emitter::number(o[1]);
        let (s, d) = (self.place(o[0]), self.place(o[2]));
        if let [_, next, ..] = rest
            && next.op == Op::GetTupleElement
        {
            let n = code.operands(next);
            // The second must not read what the first overwrites.
            if n[0].reg() == o[0].reg() && Emitter::number(n[1]) == index + 1 && o[2].reg() != o[0].reg() {
                let d2 = self.place(n[2]);
                self.op(register!(s, S => register!(d, D1 => register!(d2, D2 => data::get_elements_2::<S, D1, D2>))));
                self.cell(s.cell());
                self.cell((1 + index) * 8);
                self.places(&[d, d2]);
                return 2;
            }
        }
        self.op(register!(s, S => register!(d, D => data::get_element::<S, D>)));
        self.cell(s.cell());
        self.cell((1 + index) * 8);
        self.cell(d.cell());
        1
    }

    fn test<T: tests::Test>(&mut self, o: &[Operand]) {
        let s = self.place(o[1]);
        self.op(source!(s, S => tests::test_1::<S, T>));
        self.cell(s.cell());
        self.label(Emitter::label_of(o[0]));
    }

    fn comparison(&mut self, op: Op, o: &[Operand]) {
        let (a, b) = (self.place(o[1]), self.place(o[2]));
        // With an immediate the exact comparisons are one comparison of words.
        if let (Op::IsEqExact | Op::IsNeExact, OperandPlace::K(constant)) = (op, b)
            && Term::from_raw(constant).is_immediate()
        {
            self.op(match op {
                Op::IsEqExact => source!(a, S => tests::is_eq_immediate::<S>),
                _ => source!(a, S => tests::is_ne_immediate::<S>),
            });
        } else {
            self.op(match op {
                Op::IsEqExact => source!(a, A => source!(b, B => tests::is_eq_exact::<A, B>)),
                Op::IsNeExact => source!(a, A => source!(b, B => tests::is_ne_exact::<A, B>)),
                Op::IsEq => source!(a, A => source!(b, B => tests::is_eq::<A, B>)),
                Op::IsNe => source!(a, A => source!(b, B => tests::is_ne::<A, B>)),
                Op::IsLt => source!(a, A => source!(b, B => tests::is_lt::<A, B>)),
                _ => source!(a, A => source!(b, B => tests::is_ge::<A, B>)),
            });
        }
        self.places(&[a, b]);
        self.label(Emitter::label_of(o[0]));
    }
}
