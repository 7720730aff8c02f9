//! Functions that never return.
//!
//! Compilers know when a local function always raises, and then put nothing sensible behind a call to it. In one place that
//! matters: such a call may stand right before a `try_case`, which only exceptions may reach. Then the callee owes us that it
//! really does not return.

/// Collected while the functions are followed one by one. Functions are meant by index.
#[derive(Default)]
pub(super) struct Returns {
    returning: Vec<usize>,
    /// Callee and caller.
    tail_calls: Vec<(usize, usize)>,
    claims: Vec<Claim>,
}

/// At this instruction of the module, the callee is taken not to return.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub function: usize,
    pub instr: usize,
    pub callee: usize,
}

impl Returns {
    pub fn returns(&mut self, function: usize) {
        if self.returning.last() != Some(&function) {
            self.returning.push(function);
        }
    }

    pub fn tail_calls(&mut self, caller: usize, callee: usize) {
        if self.tail_calls.last() != Some(&(callee, caller)) {
            self.tail_calls.push((callee, caller));
        }
    }

    pub fn claim(&mut self, claim: Claim) {
        if self.claims.last() != Some(&claim) {
            self.claims.push(claim);
        }
    }

    /// A claim that does not hold.
    pub fn broken_claim(mut self, functions: usize) -> Option<Claim> {
        if self.claims.is_empty() {
            return None;
        }
        self.tail_calls.sort_unstable();
        let mut returns = vec![false; functions];
        while let Some(function) = self.returning.pop() {
            if std::mem::replace(&mut returns[function], true) {
                continue;
            }
            let first = self.tail_calls.partition_point(|&(callee, _)| callee < function);
            let callers = self.tail_calls[first..].iter().take_while(|&&(callee, _)| callee == function);
            self.returning.extend(callers.map(|&(_, caller)| caller));
        }
        self.claims.into_iter().find(|claim| returns[claim.callee])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returning_spreads_to_tail_callers() {
        let claim = |callee| Claim { function: 0, instr: 7, callee };
        let broken = |callee| {
            let mut returns = Returns::default();
            returns.returns(3);
            returns.tail_calls(2, 3);
            returns.tail_calls(1, 2);
            returns.tail_calls(4, 4);
            returns.claim(claim(callee));
            returns.broken_claim(5).is_some()
        };
        assert!([1, 2, 3].into_iter().all(broken));
        assert!(!broken(4) && !broken(0));
    }
}
