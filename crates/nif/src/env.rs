//! Environments: where a library builds terms, and the process that it acts for.

use crate::library::Library;
use heddle_runtime::process::Process;
use heddle_term::copy::Keep;
use heddle_term::{Heap, Term};
use std::any::Any;
use std::ptr::{null, null_mut};

/// What stands for an exception among the results of functions.
pub const NO_TERM: Term = Term::NONE;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EnvKind {
    /// Of a NIF that a process calls on a scheduler. Terms are built on the heap of the process.
    Process,
    /// Of a NIF that a process calls on a dirty thread. Terms are built on a heap of their own; other threads may look at the process.
    Dirty,
    /// Of a call-back that acts for no process.
    Callback,
    /// Made by `enif_alloc_env`.
    Independent,
}

/// What a NIF left besides its result.
#[derive(Clone, Copy)]
pub enum Left {
    Nothing,
    Exception(Term),
    /// `enif_schedule_nif`: the arguments are in `trap_args` of the process, or in `Env::arguments` on a dirty thread.
    Scheduled(*const crate::schedule::Scheduled),
}

pub struct Env {
    pub heap: *mut Heap,
    /// Null for environments without a process.
    pub process: *mut Process,
    pub library: *const Library,
    pub kind: EnvKind,
    /// Reductions that are left of the slice.
    pub left: i64,
    pub outcome: Left,
    rare: Option<Box<Rare>>,
}

/// What few environments need.
#[derive(Default)]
pub struct Rare {
    /// Arguments of the function that is scheduled next.
    pub arguments: Vec<Term>,
    /// The process whose event a tracer gets, if that process calls it.
    pub for_pid: Option<u64>,
    /// What is there as long as the environment.
    pub kept: Vec<Box<dyn Any>>,
}

impl Env {
    /// For a call-back of a library.
    pub fn callback(library: *const Library, heap: &mut Heap) -> Env {
        Env { heap, process: null_mut(), library, kind: EnvKind::Callback, left: 0, outcome: Left::Nothing, rare: None }
    }

    /// For a library that a process calls on a scheduler, `left` reductions before the end of its slice.
    #[inline(always)]
    pub fn of_process(p: &mut Process, library: *const Library, left: i64) -> Env {
        Env { heap: &raw mut p.heap, process: p, library, kind: EnvKind::Process, left, outcome: Left::Nothing, rare: None }
    }

    /// True if the library raised and scheduled nothing, and holds nothing here that must be dropped.
    #[inline(always)]
    pub fn is_as_made(&self) -> bool {
        matches!(self.outcome, Left::Nothing) && self.rare.is_none()
    }

    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The number of the process, which never changes.
    pub fn pid(&self) -> u64 {
        // SAFETY: environments that act for a process have one, which is there during the call.
        unsafe { (*(*self.process).shared).pid }
    }

    /// True if it acts for a process.
    pub fn has_process(&self) -> bool {
        matches!(self.kind, EnvKind::Process | EnvKind::Dirty)
    }

    /// The number of the process that it acts for, or whose event it is about.
    pub fn any_pid(&self) -> Option<u64> {
        if self.has_process() { Some(self.pid()) } else { self.rare.as_ref()?.for_pid }
    }

    pub fn raise(&mut self, reason: Term) -> Term {
        self.outcome = Left::Exception(reason);
        NO_TERM
    }

    /// Memory for bytes as long as the environment.
    pub fn keep(&mut self, bytes: Vec<u8>) -> &mut [u8] {
        let kept = &mut self.rare().kept;
        kept.push(Box::new(bytes));
        kept.last_mut().and_then(|kept| kept.downcast_mut::<Vec<u8>>()).expect("just pushed")
    }
}

/// An environment that a library makes for itself.
pub struct IndependentEnv {
    pub env: Env,
    heap: Box<Heap>,
}

impl IndependentEnv {
    pub fn new() -> Box<IndependentEnv> {
        let mut heap = Box::new(Heap::new());
        let mut env = Env::callback(null(), &mut heap);
        env.kind = EnvKind::Independent;
        Box::new(IndependentEnv { env, heap })
    }

    pub fn clear(&mut self) {
        self.heap.clear();
        *self.heap = Heap::new();
        self.env.heap = &raw mut *self.heap;
        self.env.outcome = Left::Nothing;
        self.env.rare = None;
    }
}

impl Drop for IndependentEnv {
    fn drop(&mut self) {
        self.heap.clear();
    }
}

/// A copy of a term of any environment in the heap. In one that outlives the call, it refers to no literals, which may leave.
pub fn copy(heap: &mut Heap, term: Term, lasts: bool) -> Term {
    if !lasts {
        return heap.copy(term);
    }
    heap.copy_keeping(term, Keep::NOTHING)
}
