//! Match specifications as the trace code sees them: compiled and run by the crate that implements them.

use crate::process::Process;
use crate::signal::package::Package;
use crate::trace::Session;
use heddle_term::Term;
use std::sync::Arc;

pub struct Spec {
    /// The specification as a term, for `trace_info`.
    pub source: Package,
    pub program: Box<dyn Program>,
}

/// A compiled specification.
pub trait Program: Send + Sync {
    /// Runs the specification on the list of these terms.
    fn run(&self, p: &mut Process, session: &Arc<Session>, terms: &[Term]) -> SpecVerdict;
    /// True if the specification is one for messages that are sent or, if `received`, for those that are received.
    fn is_for_messages(&self, received: bool) -> bool;
}

// SAFETY: no thread changes the package, and readers only copy out of it.
unsafe impl Sync for Spec {}

/// The result of a specification for a call or message.
#[derive(Default)]
pub struct SpecVerdict {
    /// A clause matched, and its guards held.
    pub matched: bool,
    /// False: `{message, false}`.
    pub tell: bool,
    /// The last element of the trace message.
    pub message: Option<Package>,
    pub return_trace: bool,
    pub exception_trace: bool,
}

impl SpecVerdict {
    pub(crate) fn plain() -> SpecVerdict {
        SpecVerdict { matched: true, tell: true, ..SpecVerdict::default() }
    }
}

/// Without a specification everything matches.
pub(crate) fn run(p: &mut Process, spec: Option<&Arc<Spec>>, session: &Arc<Session>, terms: &[Term]) -> SpecVerdict {
    match spec {
        Some(spec) => spec.program.run(p, session, terms),
        None => SpecVerdict::plain(),
    }
}
