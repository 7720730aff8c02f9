//! What `trace_pattern` requests for functions.

use crate::trace::spec::Spec;
use crate::trace::tracer::Tracer;
use std::sync::Arc;

/// A change of call tracing.
#[derive(Clone)]
pub enum CallChange {
    Local(Option<Arc<Spec>>),
    /// Removes all other tracing of the function.
    Global(Option<Arc<Spec>>),
    NotLocal,
    NotGlobal,
}

/// The change that `trace_pattern` requests. None: leave as it is; Some(None): remove.
#[derive(Clone, Default)]
pub struct PatternRequest {
    pub call: Option<CallChange>,
    pub meta: Option<Option<(Tracer, Option<Arc<Spec>>)>>,
    pub count: Option<Counting>,
    pub time: Option<Counting>,
    pub memory: Option<Counting>,
}

/// A change of the call counter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    Start,
    Off,
    Pause,
    Restart,
}
