//! The mark in a stack that tells the collector which part did not change: see `stack`.

use heddle_term::Term;

/// Where the mark is in a process' stack. Places are counted in words from the stack's end, because collections move it.
#[derive(Clone, Copy)]
pub struct Mark {
    /// Place of the marked return address; 0 if there is none.
    pub(crate) at: u32,
    /// The words at the end of the stack that refer to nothing young.
    pub(crate) clean: u32,
    /// The return address that stood there.
    pub(crate) target: Term,
}

impl Mark {
    pub(crate) const NONE: Mark = Mark { at: 0, clean: 0, target: Term::NONE };
}
