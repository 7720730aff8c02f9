//! X registers whose values are still needed.

use super::effects::{self, Effects, Registers};
use super::function::{FunctionView, Successors};

/// For each instruction of a function the X registers that are read from it on, before they are written.
pub struct Liveness {
    start: usize,
    before: Vec<Registers>,
}

impl Liveness {
    /// `None` if the function has registers that compiled code does not know.
    pub fn of(view: &FunctionView<'_>) -> Option<Liveness> {
        let instrs = view.instrs();
        let beam = view.source.beam;
        let effects: Vec<Effects> = instrs.clone().map(|at| effects::of(beam, view.instr(at))).collect::<Option<_>>()?;
        let successors: Vec<_> = instrs.clone().map(|at| view.successors(at)).collect();
        let no_clause = effects::first(u64::from(view.function.arity));
        let mut live = Liveness { start: instrs.start, before: vec![0; instrs.len()] };
        loop {
            let mut changed = false;
            for at in instrs.clone().rev() {
                let index = at - instrs.start;
                let Successors { jumps, next } = &successors[index];
                let mut after = next.map_or(0, |next| live.before(next));
                for jump in jumps {
                    after |= jump.map_or(no_clause, |jump| live.before(jump));
                }
                let before = effects[index].reads | after & !effects[index].writes;
                changed |= live.before[index] != before;
                live.before[index] = before;
            }
            if !changed {
                return Some(live);
            }
        }
    }

    pub fn before(&self, at: usize) -> Registers {
        self.before[at - self.start]
    }
}
