//! Guard natives: arithmetic, tests, comparisons and the commonest accessors have operations, the rest are called.

use crate::ctx::{OpFn, X_REGISTERS};
use crate::loader::emitter::{Emitter, OperandPlace};
use crate::ops::tests;
use crate::ops::{arith, bifs, booleans};
use crate::{register, source};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use heddle_term::{Export, Heap, Term, am, big};
use std::sync::atomic::Ordering;

impl Emitter<'_> {
    pub fn guard(&mut self, op: Op, o: &[Operand]) {
        let (fail, live, import, args, dst) = match op {
            Op::Bif0 => (0, None, o[0], &o[1..1], o[1]),
            Op::Bif1 => (Emitter::label_of(o[0]), None, o[1], &o[2..3], o[3]),
            Op::Bif2 => (Emitter::label_of(o[0]), None, o[1], &o[2..4], o[4]),
            Op::GcBif1 => (Emitter::label_of(o[0]), Some(o[1]), o[2], &o[3..4], o[4]),
            Op::GcBif2 => (Emitter::label_of(o[0]), Some(o[1]), o[2], &o[3..5], o[5]),
            _ => (Emitter::label_of(o[0]), Some(o[1]), o[2], &o[3..6], o[6]),
        };
        let export = self.imports[Emitter::number(import) as usize];
        if let Some(live) = live
            && self.arithmetic(fail, Emitter::number(live), export, args, dst)
        {
            return;
        }
        if self.truth(export, args, dst) || self.of_process(export, args, dst) {
            return;
        }
        let live = live.map_or(X_REGISTERS as u64, Emitter::number);
        let patch = self.fast_guard(export, args, dst);
        match patch {
            Some(_) => self.slow_op(bifs::guard_native),
            None => self.op(bifs::guard_native),
        }
        let native = export.native.load(Ordering::Acquire);
        self.cell(if native == 0 { missing_guard as *const () as u64 } else { native as u64 });
        self.cell(export as *const Export as u64);
        self.label(fail);
        self.any(dst);
        self.cell(live);
        self.cell(args.len() as u64);
        for &arg in args {
            self.any(arg);
        }
        // The fast operation jumps over the slow one.
        if let Some((start, cell)) = patch {
            self.cells[cell] = self.cells.len() as u64 - start;
        }
    }

    fn arithmetic(&mut self, fail: u32, live: u64, export: &'static Export, args: &[Operand], dst: Operand) -> bool {
        let mfa = export.mfa;
        if mfa.module != am::ERLANG {
            return false;
        }
        if let [a] = args {
            let run: fn(&mut Heap, Term) -> Result<Term, big::ArithError> = match mfa.function.name() {
                "-" => big::neg,
                // 0 is added, as in stock: + -0.0 is 0.0, unlike a call of erlang:'+'/1 by apply.
                "+" => |heap, a| big::add(heap, a, Term::small(0)),
                "bnot" => big::bnot,
                _ => return false,
            };
            self.op(arith::unary);
            self.any(*a);
            self.any(dst);
            self.label(fail);
            self.cell(live);
            self.cell(export as *const Export as u64);
            self.cell(run as usize as u64);
            return true;
        }
        let [a, b] = args else { return false };
        let (a, b, d) = (self.place(*a), self.place(*b), self.place(dst));
        macro_rules! pick {
            ($op:ident) => {
                source!(a, A => source!(b, B => register!(d, D => arith::$op::<A, B, D>)))
            };
        }
        let op: OpFn = match mfa.function.name() {
            "+" => pick!(add),
            "-" => pick!(sub),
            "*" => pick!(mul),
            "div" => pick!(int_div),
            "rem" => pick!(int_rem),
            "band" => pick!(band),
            "bor" => pick!(bor),
            "bxor" => pick!(bxor),
            "bsl" => pick!(bsl),
            "bsr" => pick!(bsr),
            "/" => source!(a, A => source!(b, B => register!(d, D => arith::slow::<A, B, D, arith::Divide>))),
            _ => return false,
        };
        self.op(op);
        self.cell(a.cell());
        self.cell(b.cell());
        self.cell(d.cell());
        self.label(fail);
        self.cell(live);
        self.cell(export as *const Export as u64);
        true
    }

    /// Emits tests and comparisons, which cannot fail.
    fn truth(&mut self, export: &Export, args: &[Operand], dst: Operand) -> bool {
        let mfa = export.mfa;
        if mfa.module != am::ERLANG {
            return false;
        }
        let places: Vec<OperandPlace> = args.iter().map(|&a| self.place(a)).collect();
        let d = self.place(dst);
        macro_rules! tested {
            ($a:expr, $T:ident) => {
                (source!($a, A => register!(d, D => booleans::tested::<A, D, tests::$T>)), vec![$a])
            };
        }
        macro_rules! compared {
            ($a:expr, $b:expr, $T:ident) => {
                (source!($a, A => source!($b, B => register!(d, D => booleans::compared::<A, B, D, booleans::$T>))), vec![$a, $b])
            };
        }
        let (op, places): (OpFn, Vec<OperandPlace>) = match (mfa.function.name(), places.as_slice()) {
            ("is_integer", &[a]) => tested!(a, IsInteger),
            ("is_float", &[a]) => tested!(a, IsFloat),
            ("is_number", &[a]) => tested!(a, IsNumber),
            ("is_atom", &[a]) => tested!(a, IsAtom),
            ("is_pid", &[a]) => tested!(a, IsPid),
            ("is_reference", &[a]) => tested!(a, IsReference),
            ("is_port", &[a]) => tested!(a, IsPort),
            ("is_binary", &[a]) => tested!(a, IsBinary),
            ("is_bitstring", &[a]) => tested!(a, IsBitstring),
            ("is_list", &[a]) => tested!(a, IsList),
            ("is_tuple", &[a]) => tested!(a, IsTuple),
            ("is_boolean", &[a]) => tested!(a, IsBoolean),
            ("is_map", &[a]) => tested!(a, IsMap),
            ("is_function", &[a]) => tested!(a, IsFunction),
            ("=:=", &[a, b]) => compared!(a, b, ExactEq),
            ("=/=", &[a, b]) => compared!(a, b, ExactNe),
            ("==", &[a, b]) => compared!(a, b, Eq),
            ("/=", &[a, b]) => compared!(a, b, Ne),
            ("<", &[a, b]) => compared!(a, b, Lt),
            (">=", &[a, b]) => compared!(a, b, Ge),
            (">", &[a, b]) => compared!(b, a, Lt),
            ("=<", &[a, b]) => compared!(b, a, Ge),
            _ => return false,
        };
        self.op(op);
        for place in places {
            self.cell(place.cell());
        }
        self.cell(d.cell());
        true
    }

    /// Emits guards that read the process itself, which cannot fail.
    fn of_process(&mut self, export: &Export, args: &[Operand], dst: Operand) -> bool {
        let mfa = export.mfa;
        if mfa.module != am::ERLANG {
            return false;
        }
        match (mfa.function.name(), args) {
            ("self", []) => {
                let d = self.place(dst);
                self.op(register!(d, D => bifs::self_pid::<D>));
                self.cell(d.cell());
            }
            ("get", &[key]) => {
                let key = self.place(key);
                self.op(source!(key, S => bifs::dictionary_get::<S>));
                self.cell(key.cell());
                self.any(dst);
            }
            _ => return false,
        }
        true
    }

    /// Emits the operation for the common case. Returns where to patch in the distance to the end: (start, cell).
    fn fast_guard(&mut self, export: &Export, args: &[Operand], dst: Operand) -> Option<(u64, usize)> {
        let mfa = export.mfa;
        if mfa.module != am::ERLANG {
            return None;
        }
        let d = self.place(dst);
        let start = self.cells.len() as u64;
        let places: Vec<OperandPlace> = args.iter().map(|&a| self.place(a)).collect();
        macro_rules! combined {
            ($a:expr, $b:expr, $O:ident) => {
                source!($a, A => source!($b, B => register!(d, D => booleans::combined::<A, B, D, booleans::$O>)))
            };
        }
        let op: OpFn = match (mfa.function.name(), places.as_slice()) {
            ("abs", &[a]) => source!(a, A => register!(d, D => bifs::abs::<A, D>)),
            ("map_size", &[a]) => source!(a, A => register!(d, D => bifs::map_size::<A, D>)),
            ("hd", &[a]) => source!(a, A => register!(d, D => bifs::hd::<A, D>)),
            ("tl", &[a]) => source!(a, A => register!(d, D => bifs::tl::<A, D>)),
            ("tuple_size", &[a]) => source!(a, A => register!(d, D => bifs::tuple_size::<A, D>)),
            ("byte_size", &[a]) => source!(a, A => register!(d, D => bifs::byte_size::<A, D>)),
            ("length", &[a]) => source!(a, A => register!(d, D => bifs::length::<A, D>)),
            ("element", &[a, b]) => source!(a, A => source!(b, B => register!(d, D => bifs::element::<A, B, D>))),
            ("map_get", &[a, b]) => source!(a, A => source!(b, B => register!(d, D => bifs::map_get::<A, B, D>))),
            ("not", &[a]) => source!(a, A => register!(d, D => booleans::negated::<A, D>)),
            ("and", &[a, b]) => combined!(a, b, And),
            ("or", &[a, b]) => combined!(a, b, Or),
            ("xor", &[a, b]) => combined!(a, b, Xor),
            _ => return None,
        };
        self.op(op);
        for place in &places {
            self.cell(place.cell());
        }
        self.cell(d.cell());
        self.cell(0);
        Some((start, self.cells.len() - 1))
    }
}

/// A guard native without an implementation: `undef`, named by the frame.
fn missing_guard(p: &mut heddle_runtime::Process, _: &[Term]) -> heddle_runtime::NativeResult {
    Err(p.error(am::UNDEF))
}
