//! Match specifications as the trace code sees them: compiled and run by the crate that implements them.

use crate::process::Process;
use crate::signal::package::Package;
use crate::trace::Session;
use heddle_term::Term;
use std::any::Any;
use std::sync::{Arc, OnceLock};

pub struct Spec {
    /// The specification as a term, for `trace_info`.
    pub source: Package,
    pub program: Box<dyn Any + Send + Sync>,
}

// SAFETY: no thread changes the package, and readers only copy out of it.
unsafe impl Sync for Spec {}

/// The result of a specification for a call or message.
#[derive(Default)]
pub struct Verdict {
    /// A clause matched, and its guards held.
    pub matched: bool,
    /// False: `{message, false}`.
    pub tell: bool,
    /// The last element of the trace message.
    pub message: Option<Package>,
    pub return_trace: bool,
    pub exception_trace: bool,
}

impl Verdict {
    pub fn plain() -> Verdict {
        Verdict { matched: true, tell: true, ..Verdict::default() }
    }
}

/// Runs the specification on the list of these terms.
pub type Run = fn(&mut Process, &Spec, &Arc<Session>, &[Term]) -> Verdict;

pub static RUN: OnceLock<Run> = OnceLock::new();

/// Without a specification everything matches.
pub fn run(p: &mut Process, spec: Option<&Arc<Spec>>, session: &Arc<Session>, terms: &[Term]) -> Verdict {
    match (spec, RUN.get()) {
        (Some(spec), Some(run)) => run(p, spec, session, terms),
        _ => Verdict::plain(),
    }
}
