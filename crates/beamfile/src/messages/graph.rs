//! Which function of a module calls which other.

use heddle_abi::opcodes::Op;

use super::sites::{Sites, Target};
use crate::beam::BeamFile;
use crate::code::Instr;
use crate::operand::Operand;

pub(super) struct Graph {
    /// For each label the function whose entry it is, plus one.
    entries: Vec<u32>,
    /// For each function where its callers start among `callers`; one more at the end.
    starts: Vec<u32>,
    callers: Vec<u32>,
}

impl Graph {
    /// A function that makes a fun counts as a caller of the fun's function.
    pub fn new(beam: &BeamFile, sites: &Sites) -> Graph {
        let functions = &beam.code.functions;
        let mut entries = vec![0; beam.code.labels.limit() as usize];
        for (index, function) in functions.iter().enumerate() {
            entries[function.entry_label as usize] = index as u32 + 1;
        }
        let mut graph = Graph { entries, starts: vec![0; functions.len() + 1], callers: Vec::new() };
        // Calls, callee first. `latest` keeps out most of those that repeat.
        let mut calls: Vec<(u32, u32)> = Vec::with_capacity(sites.calls.len());
        let mut latest = vec![u32::MAX; functions.len()];
        for site in &sites.calls {
            let callee = graph.callee(beam, sites, &beam.code.instrs[site.instr as usize]);
            if let Some(callee) = callee
                && std::mem::replace(&mut latest[callee as usize], site.function) != site.function
            {
                calls.push((callee, site.function));
            }
        }
        for &(callee, _) in &calls {
            graph.starts[callee as usize + 1] += 1;
        }
        for index in 1..graph.starts.len() {
            graph.starts[index] += graph.starts[index - 1];
        }
        let mut next = graph.starts.clone();
        graph.callers = vec![0; calls.len()];
        for (callee, caller) in calls {
            graph.callers[next[callee as usize] as usize] = caller;
            next[callee as usize] += 1;
        }
        graph
    }

    /// The function of the module that an instruction calls or makes a fun of.
    #[inline]
    fn callee(&self, beam: &BeamFile, sites: &Sites, instr: &Instr) -> Option<u32> {
        let operands = || beam.code.operands(instr);
        match instr.op {
            Op::Call | Op::CallLast | Op::CallOnly => self.entry(operands()[1]),
            Op::MakeFun3 => self.lambda(beam, operands()[0]),
            Op::CallFun2 => self.lambda(beam, operands()[0]),
            Op::CallExt | Op::CallExtLast | Op::CallExtOnly => match sites.target(operands()[1]) {
                Target::Local(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    }

    /// The function that starts at a label.
    #[inline]
    pub fn entry(&self, label: Operand) -> Option<u32> {
        let Operand::Label(label) = label else { return None };
        self.entries.get(label as usize)?.checked_sub(1)
    }

    /// The function of a fun, from its number in the table of funs.
    pub fn lambda(&self, beam: &BeamFile, lambda: Operand) -> Option<u32> {
        let lambda = beam.lambdas.get(lambda.number()? as usize)?;
        self.entry(Operand::Label(lambda.label))
    }

    pub fn callers(&self, function: u32) -> &[u32] {
        &self.callers[self.starts[function as usize] as usize..self.starts[function as usize + 1] as usize]
    }
}
