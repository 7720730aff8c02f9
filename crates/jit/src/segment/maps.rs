//! Looking into maps. Keys that are atoms or small integers, and known now, are looked for in place, and large maps with such keys left to the first
//! tier. A function of the VM looks for other keys.

use super::{Segment, trusted};
use crate::analysis::known::is_constant;
use crate::symbol::{HostWord, Symbol};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Signature, Value, types as clif};
use cranelift_codegen::isa::CallConv;
use heddle_beamfile::Operand;
use heddle_term::term::TAG_BOXED;
use heddle_term::{Kind, Term};

/// Words of a small map: header, tuple of the keys, values in the order of the keys.
const KEYS: i32 = 1;
const VALUES: i32 = 2;

impl Segment<'_, '_> {
    /// `get_map_elements`: keys and where their values go.
    pub(super) fn get_map_elements(&mut self, at: usize, label: Operand, map: Operand, pairs: &[Operand]) {
        let missing = self.block_to(label);
        let map = self.get(map);
        if !pairs.iter().step_by(2).all(|&key| is_constant(key)) {
            let found: Vec<_> = pairs.chunks_exact(2).map(|pair| (pair[1], self.value_of_key(map, pair[0], missing))).collect();
            found.into_iter().for_each(|(to, value)| self.set(to, value));
            return;
        }
        let (keys, bytes) = self.small_map(at, map);
        let mut found = Vec::new();
        for pair in pairs.chunks_exact(2) {
            let place = self.find_key(keys, bytes, pair[0], missing);
            let address = self.b.ins().iadd(map, place);
            let value = self.b.ins().load(clif::I64, trusted(), address, VALUES * 8 - TAG_BOXED as i32);
            found.push((pair[1], value));
        }
        for (to, value) in found {
            self.set(to, value);
        }
    }

    /// `has_map_fields`
    pub(super) fn has_map_fields(&mut self, at: usize, label: Operand, map: Operand, wanted: &[Operand]) {
        let missing = self.block_to(label);
        let map = self.get(map);
        if !wanted.iter().all(|&key| is_constant(key)) {
            for &key in wanted {
                self.value_of_key(map, key, missing);
            }
            return;
        }
        let (keys, bytes) = self.small_map(at, map);
        for &key in wanted {
            self.find_key(keys, bytes, key, missing);
        }
    }

    /// `put_map_assoc` and `put_map_exact` where all keys are there: a copy with other values. Without one of them the first tier goes on.
    pub(super) fn put_map(&mut self, at: usize, map: Operand, to: Operand, pairs: &[Operand]) {
        let map = self.get(map);
        let boxed = self.is_boxed(map);
        self.exit_unless(boxed, at);
        let (keys, bytes) = self.small_map(at, map);
        let Some(missing) = self.exit else { return self.fail("a map without an exit") };
        let mut places = Vec::new();
        for pair in pairs.chunks_exact(2) {
            places.push((self.find_key(keys, bytes, pair[0], missing), pair[1]));
        }
        let all = self.b.ins().iadd_imm_s(bytes, i64::from(VALUES) * 8);
        let (h, s) = (self.heap_top(), self.stack_top());
        let top = self.b.ins().iadd(h, all);
        let room = self.b.ins().isub(s, top);
        let slack = self.plan.host.slack_words as i64 * 8;
        let fits = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, room, slack);
        self.exit_unless(fits, at);
        self.copy_words(trusted(), (map, -(TAG_BOXED as i32)), (h, 0), all);
        for (place, value) in places {
            let value = self.get(value);
            let address = self.b.ins().iadd(h, place);
            self.b.ins().store(trusted(), value, address, VALUES * 8);
        }
        let new = self.b.ins().iadd_imm_s(h, TAG_BOXED as i64);
        self.state.h = top;
        self.set(to, new);
    }

    /// The result of `map_get` or `is_map_key`. The first tier does what is no map, and has no such key.
    pub(super) fn look_into(&mut self, at: usize, name: &str, key: Value, map: Value) -> Value {
        let boxed = self.is_boxed(map);
        self.exit_unless(boxed, at);
        let header = self.boxed_word(map, 0);
        let is_map = self.is_kind(header, [Kind::FlatMap, Kind::HashMap]);
        self.exit_unless(is_map, at);
        let (value, is_there) = self.ask_for_key(map, key);
        if name == "is_map_key" {
            return self.boolean(is_there);
        }
        self.exit_unless(is_there, at);
        value
    }

    /// The value of any key of any map. Goes to `missing` without the key.
    fn value_of_key(&mut self, map: Value, key: Operand, missing: Block) -> Value {
        let key = self.get(key);
        let (value, is_there) = self.ask_for_key(map, key);
        self.go_on_if(is_there, missing);
        value
    }

    /// The value of any key of any map, and whether it has the key.
    fn ask_for_key(&mut self, map: Value, key: Value) -> (Value, Value) {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([AbiParam::new(clif::I64); 2]);
        signature.returns.push(AbiParam::new(clif::I64));
        let signature = self.b.import_signature(signature);
        let function = self.symbol(Symbol::Host(HostWord::MapGet));
        let call = self.b.ins().call_indirect(signature, function, &[map, key]);
        self.calls_host = true;
        let value = self.b.inst_results(call)[0];
        let none = self.word(Term::NONE.raw());
        (value, self.b.ins().icmp(IntCC::NotEqual, value, none))
    }

    /// The tuple of the keys of a small map, and eight times the number of them. The first tier does the instruction for other maps.
    fn small_map(&mut self, at: usize, map: Value) -> (Value, Value) {
        let header = self.boxed_word(map, 0);
        let is_small = self.is_kind(header, [Kind::FlatMap; 2]);
        self.exit_unless(is_small, at);
        let keys = self.boxed_word(map, KEYS);
        // The header counts the tuple of the keys, too.
        let size = self.arity(header);
        let size = self.b.ins().ishl_imm_u(size, 3);
        (keys, self.b.ins().iadd_imm_s(size, -8))
    }

    /// Eight times the place of a key, counted from 0. Goes to `missing` without the key.
    fn find_key(&mut self, keys: Value, bytes: Value, key: Operand, missing: Block) -> Value {
        let key = self.get(key);
        let (head, body, next, found) = (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        let place = self.b.append_block_param(head, clif::I64);
        let zero = self.word(0);
        self.b.ins().jump(head, &[zero.into()]);
        self.b.switch_to_block(head);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, place, bytes);
        self.b.ins().brif(more, body, &[], missing, &[]);
        self.b.switch_to_block(body);
        let address = self.b.ins().iadd(keys, place);
        let candidate = self.b.ins().load(clif::I64, trusted(), address, 8 - TAG_BOXED as i32);
        let is = self.b.ins().icmp(IntCC::Equal, candidate, key);
        self.b.ins().brif(is, found, &[], next, &[]);
        self.b.switch_to_block(next);
        let after = self.b.ins().iadd_imm_s(place, 8);
        self.b.ins().jump(head, &[after.into()]);
        self.b.switch_to_block(found);
        place
    }
}
