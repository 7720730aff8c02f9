//! From function to function: what each does with its arguments, and whose results are sent, until nothing new is learnt.
//!
//! A function's summary says for each parameter what is sent of it, and what is returned of it; callers use the second half if
//! they send the result. A function is visited again when what it needs of others has grown. All sets only grow, so that ends.

use std::collections::BinaryHeap;

use super::Messages;
use super::graph::Graph;
use super::sites::Sites;
use super::want::{Labels, REGISTERS, State, Want};
use crate::beam::BeamFile;

/// All visits together look at no more instructions than this share of the module's, each counted as often as it is looked at: then what
/// is known stands, and the rest is local. Of OTP 27's modules few would need more, 1.8 at most.
const EFFORT: f64 = 0.8;
/// Instructions that may be looked at in any case, about 50 microseconds: small modules have helpers whose loops take further visits.
const EFFORT_MIN: usize = 3000;

#[derive(Clone, Copy)]
pub(super) struct Summary {
    pub params: [Want; REGISTERS],
    /// True if any of them is sent, whatever becomes of the result.
    sends: bool,
    /// What callers send of its result.
    pub demanded: Want,
    queued: bool,
    visited: bool,
}

pub(super) struct Flow<'a> {
    pub beam: &'a BeamFile,
    pub sites: &'a Sites,
    pub graph: &'a Graph,
    pub labels: Labels,
    pub summaries: Vec<Summary>,
    /// Those that stand last come first: helpers mostly stand after the functions that call them.
    queue: BinaryHeap<u32>,
    /// Instructions that may still be looked at.
    left: usize,
    pub messages: Messages,
    /// If this is set, only that instruction sends.
    pub only: Option<u32>,
    /// For each function the one on whose behalf it was first visited, if that is asked for.
    pub causes: Option<Vec<Option<u32>>>,
}

impl<'a> Flow<'a> {
    pub fn new(beam: &'a BeamFile, sites: &'a Sites, graph: &'a Graph, messages: Messages) -> Flow<'a> {
        let unvisited =
            Summary { params: [Want::NOTHING; REGISTERS], sends: false, demanded: Want::NOTHING, queued: false, visited: false };
        Flow {
            beam,
            sites,
            graph,
            labels: Labels::new(beam.code.labels.limit()),
            summaries: vec![unvisited; beam.code.functions.len()],
            queue: BinaryHeap::with_capacity(sites.senders.len() * 2),
            left: ((beam.code.instrs.len() as f64 * EFFORT) as usize).max(EFFORT_MIN),
            messages,
            only: None,
            causes: None,
        }
    }

    /// Visits these functions and all that they lead to.
    pub fn run(&mut self, starts: impl Iterator<Item = u32>) {
        for function in starts {
            self.enqueue(function, function);
        }
        while let Some(function) = self.queue.pop() {
            let summary = &mut self.summaries[function as usize];
            (summary.queued, summary.visited) = (false, true);
            let code = &self.beam.code.functions[function as usize];
            let Some(left) = self.left.checked_sub((code.end - code.entry) as usize) else { return };
            self.left = left;
            self.visit(function);
        }
    }

    fn enqueue(&mut self, function: u32, cause: u32) {
        let summary = &mut self.summaries[function as usize];
        if !std::mem::replace(&mut summary.queued, true) {
            self.queue.push(function);
        }
        if let Some(causes) = &mut self.causes {
            causes[function as usize].get_or_insert(cause);
        }
    }

    /// The function `caller` sends this of the result of `callee`.
    #[inline]
    pub fn demand(&mut self, callee: u32, want: Want, caller: u32) {
        let summary = &mut self.summaries[callee as usize];
        if summary.demanded.news(want).is_nothing() {
            return;
        }
        summary.demanded = summary.demanded.or(want);
        self.enqueue(callee, caller);
    }

    /// A visit ended with these wants at the function's entry.
    pub fn learn(&mut self, function: u32, entry: &State) {
        let arity = self.beam.code.functions[function as usize].arity as usize;
        let mut news = Want::NOTHING;
        for (x, param) in self.summaries[function as usize].params.iter_mut().enumerate().take(arity) {
            news = news.or(param.news(entry.x(x)));
            *param = param.or(entry.x(x));
        }
        if news.is_nothing() {
            return;
        }
        self.summaries[function as usize].sends |= news.is_sent();
        let graph = self.graph;
        for &caller in graph.callers(function) {
            // A caller that was not visited sends no result.
            if news.is_sent() || self.summaries[caller as usize].visited {
                self.enqueue(caller, function);
            }
        }
    }

    /// True if a call of `callee` wants nothing of its arguments, if its result has the want `result`.
    #[inline]
    pub fn wants_nothing(&self, callee: u32, result: Want) -> bool {
        result.is_nothing() && !self.summaries[callee as usize].sends
    }

    /// Of the argument `x` of a call of `callee`, if its result has the want `result`.
    #[inline]
    pub fn argument(&self, callee: u32, x: usize, result: Want) -> Want {
        match self.summaries[callee as usize].params.get(x) {
            Some(param) => param.of_argument(result),
            None => Want::NOTHING,
        }
    }
}
