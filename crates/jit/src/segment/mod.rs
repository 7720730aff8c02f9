//! Makes Cranelift's intermediate code for a segment: a walk over the instructions that are reached from its root.
//!
//! Values of X registers are kept in machine registers until the segment leaves. What they hold at a place depends on the way there, so the walk
//! carries a [`state::State`] along each way. Where ways meet, all X registers that are needed are in memory. (Most code is a tree of tests, in
//! which ways do not meet.) Y registers are always written to the stack, and read from it once.

mod arithmetic;
mod bits;
mod booleans;
mod building;
mod calls;
mod choices;
mod comparisons;
mod floats;
mod frames;
mod funs;
mod handlers;
mod inline;
mod leave;
mod maps;
mod registers;
mod slices;
mod state;
mod terms;
mod types;

use crate::analysis::effects::Registers;
use crate::analysis::function::FunctionView;
use crate::analysis::known::knows;
use crate::analysis::liveness::Liveness;
use crate::analysis::roots::Reach;
use crate::host::{Addresses, Host};
use cranelift_codegen::ir::{self, AbiParam, Block, InstBuilder, MemFlagsData, Signature, UserFuncName, Value, types as clif};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use heddle_abi::opcodes::Op;
use heddle_beamfile::Operand;
use inline::Inline;
use state::State;
use std::collections::{BTreeSet, HashMap};

/// All that is known of a function.
pub struct Plan<'a> {
    pub view: FunctionView<'a>,
    pub host: Host,
    pub roots: BTreeSet<usize>,
    pub live: Liveness,
    /// Where the things are that the code refers to. None: that is filled in later.
    pub addresses: Option<Addresses<'a>>,
}

/// The function is left to the first tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit(pub &'static str);

/// A place to go on at later.
struct Work {
    block: Block,
    /// The instruction, or `None` for the place where no clause matched.
    to: Option<usize>,
    state: State,
    /// The call that is inlined there.
    inline: Option<usize>,
}

pub struct Segment<'a, 'b> {
    plan: &'a Plan<'a>,
    b: FunctionBuilder<'b>,
    root: usize,
    /// The instruction that is translated.
    at: usize,
    reach: Reach,
    /// The register file.
    c: Value,
    signature: ir::SigRef,
    state: State,
    work: Vec<Work>,
    joins: HashMap<usize, Block>,
    /// The head of a loop: a tail call of the function itself goes there.
    loop_head: Option<Block>,
    /// Calls whose callees are translated in place, and the one that is now.
    inlines: Vec<Inline<'a>>,
    inline: Option<usize>,
    /// Where the first tier does the instruction.
    exit: Option<Block>,
    /// Where the instruction goes if one of its checks fails.
    failed: Option<Block>,
    /// Jumps out of the segment.
    exits: usize,
    /// It calls functions of the host, and needs its frame.
    calls_host: bool,
    unfit: Option<Unfit>,
}

/// Loads and stores of terms: aligned, and in memory that is there.
fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// What the code of a segment is called with, as every operation of the first tier.
pub fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend((0..5).map(|_| AbiParam::new(clif::I64)));
    signature.returns.push(AbiParam::new(clif::I64));
    signature
}

/// Makes the code of the segment that begins at `root`. Returns the number of jumps out of it if it may do without a frame, else `None`.
pub fn translate(
    plan: &Plan<'_>,
    root: usize,
    reach: Reach,
    frontend: TargetFrontendConfig,
    context: &mut FunctionBuilderContext,
    function: &mut ir::Function,
) -> Result<Option<usize>, Unfit> {
    function.signature = signature();
    function.name = UserFuncName::user(0, root as u32);
    let mut b = FunctionBuilder::new(function, context);
    let signature = b.import_signature(signature());
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let [_, c, h, s, r] = *b.block_params(start) else { return Err(Unfit("parameters")) };
    let state = State::new(h, s, r);
    let mut segment = Segment {
        plan,
        b,
        root,
        at: root,
        reach,
        c,
        signature,
        state,
        work: Vec::new(),
        joins: HashMap::new(),
        loop_head: None,
        inlines: Vec::new(),
        inline: None,
        exit: None,
        failed: None,
        exits: 0,
        calls_host: false,
        unfit: None,
    };
    segment.begin();
    while let Some(Work { block, to, state, inline }) = segment.work.pop() {
        segment.b.switch_to_block(block);
        segment.state = state;
        segment.inline = inline;
        match to {
            _ if inline.is_some() => segment.walk_inline(to),
            Some(to) if segment.joins.get(&to) == Some(&block) => segment.walk(to),
            Some(to) if !segment.plan.roots.contains(&to) => segment.arrive(to),
            to => segment.leave_to(to),
        }
    }
    segment.b.seal_all_blocks();
    segment.b.finalize(frontend);
    match segment.unfit {
        Some(unfit) => Err(unfit),
        None => Ok((!segment.calls_host).then_some(segment.exits)),
    }
}

impl<'a> Segment<'a, '_> {
    /// The function whose instructions are translated: that of the segment, or one that is inlined.
    fn view(&self) -> FunctionView<'a> {
        self.inline.map_or(self.plan.view, |inline| self.inlines[inline].view)
    }

    fn live(&self, at: usize) -> Registers {
        self.plan.live.before(at)
    }

    /// From the root.
    fn begin(&mut self) {
        let view = self.view();
        let is_loop = Some(self.root) == view.entry() && self.reach.instrs.iter().any(|&at| view.is_loop(at) || view.calls_itself(at));
        if is_loop {
            self.begin_loop();
        }
        self.walk(self.root);
    }

    /// Goes on at a place to which the state leads from one way or several.
    fn arrive(&mut self, at: usize) {
        if self.reach.targets.get(&at).is_some_and(|&ways| ways > 1) {
            self.join(at);
        } else {
            self.walk(at);
        }
    }

    /// Translates instructions until control leaves the block.
    fn walk(&mut self, mut at: usize) {
        let view = self.view();
        while self.instruction(at) {
            let Some(next) = view.real(at + 1) else { return self.fail("it runs past its end") };
            if self.plan.roots.contains(&next) {
                return self.leave_to(Some(next));
            }
            if self.reach.targets.get(&next).is_some_and(|&ways| ways > 1) {
                return self.join(next);
            }
            at = next;
        }
    }

    /// Continues at a place where ways meet: the X registers that are needed are in memory.
    fn join(&mut self, at: usize) {
        self.store_needed(self.live(at));
        let (h, s, r) = (self.heap_top(), self.stack_top(), self.state.r);
        let arguments = [h.into(), s.into(), r.into()];
        let known = self.joins.get(&at).copied();
        let block = known.unwrap_or_else(|| self.b.create_block());
        self.b.ins().jump(block, &arguments);
        if known.is_none() {
            let [h, s, r] = [clif::I64; 3].map(|kind| self.b.append_block_param(block, kind));
            self.joins.insert(at, block);
            // Later, and not from here: a large function has many such places one after the other.
            self.work.push(Work { block, to: Some(at), state: State::new(h, s, r), inline: None });
        }
    }

    fn fail(&mut self, why: &'static str) {
        self.unfit.get_or_insert(Unfit(why));
        self.b.ins().trap(ir::TrapCode::unwrap_user(1));
    }

    /// Translates an instruction. Returns true if control goes on at the next one, in the same block.
    fn instruction(&mut self, at: usize) -> bool {
        let view = self.view();
        if self.unfit.is_some() {
            self.fail("");
            return false;
        }
        if !knows(&view, at) {
            self.exit(at);
            return false;
        }
        self.failed = None;
        self.exit = None;
        self.at = at;
        if self.plan.host.tells_lines {
            self.b.set_srcloc(ir::SourceLoc::new(at as u32));
        }
        let o = view.operands(at);
        match view.instr(at).op {
            Op::Move => self.move_term(o[0], o[1]),
            Op::Swap => self.swap(o[0], o[1]),
            Op::GetList => self.get_list(o[0], Some(o[1]), Some(o[2])),
            Op::GetHd => self.get_list(o[0], Some(o[1]), None),
            Op::GetTl => self.get_list(o[0], None, Some(o[1])),
            Op::PutList => self.put_list(o[0], o[1], o[2]),
            Op::GetTupleElement => self.get_element(o[0], o[1], o[2]),
            Op::SetTupleElement => self.set_element(o[0], o[1], o[2]),
            Op::PutTuple2 => self.put_tuple(o[0], view.list(o[1])),
            Op::UpdateRecord => self.update_record(o[1], o[2], o[3], view.list(o[4])),
            Op::Allocate => self.allocate(at, o[0], None),
            Op::AllocateHeap => self.allocate(at, o[0], Some(o[1])),
            Op::TestHeap => self.test_heap(at, o[0]),
            Op::Deallocate => self.move_stack(o[0]),
            Op::Trim => self.move_stack(o[0]),
            Op::InitYregs => self.init_slots(view.list(o[0])),
            Op::Jump => return self.jump(o[0]),
            Op::SelectVal => return self.select_value(o[0], o[1], view.list(o[2])),
            Op::SelectTupleArity => return self.select_arity(o[0], o[1], view.list(o[2])),
            Op::IsEqExact | Op::IsNeExact | Op::IsEq | Op::IsNe | Op::IsLt | Op::IsGe => self.compare(at, o),
            Op::TestArity => self.test_arity(o),
            Op::IsTaggedTuple => self.is_tagged_tuple(o),
            Op::Call => return self.call(at, o),
            Op::CallOnly | Op::CallLast => return self.call_last(at, o),
            Op::CallExt => return self.call_external(at, o),
            Op::CallExtOnly | Op::CallExtLast => return self.call_external_last(o),
            Op::CallFun => return self.call_fun(at, o[0], Operand::X(o[0].number().unwrap_or(0) as u16)),
            Op::CallFun2 => return self.call_fun(at, o[1], o[2]),
            Op::Return => return self.ret(),
            Op::Try | Op::Catch => self.mark(o[0], o[1]),
            Op::TryEnd => self.unmark(o[0]),
            Op::CatchEnd => self.catch_end(at, o[0]),
            Op::TryCase => self.try_case(o[0]),
            Op::GcBif1 | Op::GcBif2 | Op::Bif1 | Op::Bif2 => self.guard(at),
            Op::Fmove => self.move_float(o[0], o[1]),
            Op::Fconv => self.convert(at, o[0], o[1]),
            Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv => self.float_arithmetic(at, o),
            Op::Fnegate => self.negate_float(o[1], o[2]),
            Op::MakeFun3 => self.make_fun(o[0], o[1], view.list(o[2])),
            Op::Bif0 => {
                let pid = self.own_pid();
                self.set(o[1], pid);
            }
            Op::PutMapAssoc | Op::PutMapExact => self.put_map(at, o[1], o[2], view.list(o[4])),
            Op::IsFunction2 => self.is_function_of(at, o),
            Op::GetMapElements => self.get_map_elements(at, o[0], o[1], view.list(o[2])),
            Op::HasMapFields => self.has_map_fields(at, o[0], o[1], view.list(o[2])),
            Op::BsStartMatch3 => self.start_match(at, o[0], o[1], o[3]),
            Op::BsStartMatch4 => self.start_match(at, o[0], o[2], o[3]),
            Op::BsMatch => self.bs_match(at, o),
            Op::BsCreateBin => self.create_bin(at, o),
            Op::BsGetTail => self.get_tail(at, o[0], o[1]),
            Op::BsGetUtf8 => self.get_utf8(at, o[1], Some(o[4])),
            Op::BsSkipUtf8 => self.get_utf8(at, o[1], None),
            Op::BsSkipBits2 => self.skip_bits(at, o),
            Op::BsGetBinary2 => self.get_binary(at, o),
            Op::BsGetInteger2 => self.get_integer(at, o),
            Op::BsGetPosition => self.get_position(o[0], o[1]),
            Op::BsSetPosition => self.set_position(o[0], o[1]),
            Op::BsTestTail2 => self.test_tail(o),
            Op::BsTestUnit => self.test_unit(o),
            op => self.type_test(at, op, o),
        }
        true
    }
}
