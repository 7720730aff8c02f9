//! The places of a function where segments begin.

use super::function::FunctionView;
use super::known::knows;
use heddle_abi::opcodes::Op;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A place that several segments reach is copied into each of them if it has at most this many instructions (guessed).
const COPIED_INSTRS: usize = 6;

/// A function of more instructions is large.
const LARGE_INSTRS: usize = 200;

/// The instructions at which segments begin.
pub fn of(view: &FunctionView<'_>) -> BTreeSet<usize> {
    let mut roots: BTreeSet<usize> = view.entry().into_iter().collect();
    for at in view.instrs() {
        if knows(view, at) {
            if view.returns_here(at) {
                roots.extend(view.after_group(at));
            }
            // An exception gets there from the first tier.
            if matches!(view.instr(at).op, Op::Try | Op::Catch) {
                roots.extend(view.labels(at).into_iter().filter_map(|label| view.at_label(label)));
            }
        } else if !matches!(view.instr(at).op, Op::Label | Op::Line) {
            roots.extend(view.labels(at).into_iter().filter_map(|label| view.at_label(label)));
            if !view.ends(at) {
                roots.extend(view.after_group(at));
            }
        }
    }
    roots.retain(|&root| knows(view, root) && view.cell(root).is_some());
    loop {
        let shared = shared(view, &roots);
        if shared.is_empty() {
            return roots;
        }
        roots.extend(shared);
    }
}

/// Places that several segments reach by jumps, and that are too large to be copied.
fn shared(view: &FunctionView<'_>, roots: &BTreeSet<usize>) -> Vec<usize> {
    let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
    for &root in roots {
        for target in reach(view, roots, root).targets.into_keys() {
            *reached.entry(target).or_default() += 1;
        }
    }
    let is_large = |at: usize| reach(view, roots, at).instrs.len() > COPIED_INSTRS;
    let found = reached.into_iter().filter(|&(at, times)| times > 1 && view.cell(at).is_some() && is_large(at));
    // One at a time: the places after it are then reached once. In large functions that would take long.
    let most = if view.instrs().len() > LARGE_INSTRS { usize::MAX } else { 1 };
    found.map(|(at, _)| at).take(most).collect()
}

/// What belongs to a segment.
pub struct Reach {
    pub instrs: HashSet<usize>,
    /// Places that it jumps to, and the number of ways there, with the way from the instruction before.
    pub targets: BTreeMap<usize, usize>,
}

/// Follows all ways from `root` to the next roots.
pub fn reach(view: &FunctionView<'_>, roots: &BTreeSet<usize>, root: usize) -> Reach {
    let mut reach = Reach { instrs: HashSet::from([root]), targets: BTreeMap::new() };
    let mut ways: BTreeMap<usize, usize> = BTreeMap::new();
    let mut jumped: BTreeSet<usize> = BTreeSet::new();
    let mut work = vec![root];
    while let Some(at) = work.pop() {
        if !knows(view, at) {
            continue;
        }
        let successors = view.successors(at);
        let is_call = matches!(view.instr(at).op, Op::Call | Op::CallExt | Op::CallFun | Op::CallFun2);
        let next = successors.next.filter(|_| !is_call);
        jumped.extend(successors.jumps.iter().flatten());
        for to in successors.jumps.into_iter().flatten().chain(next) {
            if roots.contains(&to) {
                continue;
            }
            *ways.entry(to).or_default() += 1;
            if reach.instrs.insert(to) {
                work.push(to);
            }
        }
    }
    reach.targets = ways.into_iter().filter(|(at, _)| jumped.contains(at)).collect();
    reach
}
