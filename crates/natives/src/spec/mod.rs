//! Match specifications: compiled once, run on many terms. `compile` makes a program of a term, `eval` runs it. Tables and tracing use them.

pub mod build;
pub mod compile;
pub mod eval;
pub mod functions;
pub mod natives;
pub mod pattern;

use functions::Action;
use heddle_runtime::Package;
use heddle_runtime::process::{Process, Thrown};
use heddle_term::{Heap, Resource, Term};
use pattern::Pattern;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// `system_flag(trace_control_word, _)`: the word that the actions `get_tcw` and `set_tcw` read and write.
pub static CONTROL_WORD: AtomicU32 = AtomicU32::new(0);

/// What a specification is applied to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    Table,
    Trace,
}

/// Part of a guard or body.
pub enum Expr {
    Const(Term),
    Var(u32),
    /// `'$_'`
    Object,
    /// `{element, N, '$_'}`
    ObjectElement(i64),
    /// `'$$'`: the slots of the variables, in the order of their numbers.
    AllVars(Vec<u32>),
    Tuple(Vec<Expr>),
    /// Elements and tail.
    List(Vec<Expr>, Box<Expr>),
    Map(Vec<(Expr, Expr)>),
    Call(functions::Function, Vec<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    AndAlso(Vec<Expr>),
    OrElse(Vec<Expr>),
    /// A function of the trace dialect.
    Action(functions::Action, Vec<Expr>),
}

impl Expr {
    fn uses_only(&self, allowed: fn(Action) -> bool) -> bool {
        let all = |parts: &[Expr]| parts.iter().all(|part| part.uses_only(allowed));
        match self {
            Expr::Const(_) | Expr::Var(_) | Expr::Object | Expr::ObjectElement(_) | Expr::AllVars(_) => true,
            Expr::Tuple(parts) | Expr::Call(_, parts) | Expr::And(parts) | Expr::Or(parts) => all(parts),
            Expr::AndAlso(parts) | Expr::OrElse(parts) => all(parts),
            Expr::List(parts, tail) => tail.uses_only(allowed) && all(parts),
            Expr::Map(pairs) => pairs.iter().all(|(k, v)| k.uses_only(allowed) && v.uses_only(allowed)),
            Expr::Action(action, parts) => allowed(*action) && all(parts),
        }
    }
}

pub struct Clause {
    pub head: Pattern,
    pub guards: Vec<Expr>,
    pub body: Vec<Expr>,
    pub slots: usize,
}

/// A compiled specification. Its constants point into terms that outlive it: the caller's, or `_source`.
pub struct Program {
    pub clauses: Vec<Clause>,
    pub form: Form,
    /// Holds the terms as long as the program lives, and is never read. None: the caller holds them.
    _source: Option<Package>,
}

/// How the term is meant from which a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A list of `{Head, Guards, Body}`.
    Spec,
    /// A head alone. The result is all variables (`ets:match`).
    Match,
    /// A head alone. The result is the object (`ets:match_object`).
    MatchObject,
}

// SAFETY: constants lie in `_source`, which no thread changes, or (borrowed programs) the program stays in one native call.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

impl Resource for Program {
    fn type_name(&self) -> &'static str {
        "match_spec"
    }
}

/// Why a term is no specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    TooDeep,
    Wrong,
}

impl Unfit {
    fn of(errors: Vec<String>) -> Unfit {
        if errors.iter().any(|e| e == compile::TOO_DEEP) { Unfit::TooDeep } else { Unfit::Wrong }
    }

    pub fn raise(self, p: &mut Process) -> Thrown {
        match self {
            Unfit::Wrong => p.badarg(),
            Unfit::TooDeep => p.system_limit(),
        }
    }
}

impl Program {
    /// A program that may be used as long as `source` is neither moved nor freed.
    pub fn borrowed(source: Term, form: Form) -> Result<Program, Unfit> {
        let clauses = Program::clauses(source, form)?;
        Ok(Program { clauses, form, _source: None })
    }

    pub fn owned(source: Term, form: Form) -> Result<Arc<Program>, Unfit> {
        let source = Package::new(source);
        let clauses = Program::clauses(source.term(), form)?;
        Ok(Arc::new(Program { clauses, form, _source: Some(source) }))
    }

    /// A program for calls and messages, which are matched as lists.
    pub fn for_trace(source: Term) -> Result<Program, Unfit> {
        let source = Package::new(source);
        let clauses = compile::compile(source.term(), Form::Spec, Dialect::Trace).map_err(Unfit::of)?;
        Ok(Program { clauses, form: Form::Spec, _source: Some(source) })
    }

    /// True if the program is one for messages that are sent or, if `received`, for those that are received.
    pub fn is_for_messages(&self, received: bool) -> bool {
        let allowed = if received { Action::is_for_receives } else { Action::is_for_sends };
        self.clauses.iter().all(|c| c.guards.iter().chain(&c.body).all(|expr| expr.uses_only(allowed)))
    }

    /// Compiles for tables. An empty list is not a specification, but a search of tables takes it for one that nothing matches.
    fn clauses(source: Term, form: Form) -> Result<Vec<Clause>, Unfit> {
        if source.is_nil() && form == Form::Spec {
            return Ok(Vec::new());
        }
        compile::compile(source, form, Dialect::Table).map_err(Unfit::of)
    }

    pub fn reference(self: Arc<Program>, heap: &mut Heap) -> Term {
        let id = heddle_runtime::refs::fresh();
        heap.magic_reference(id.words(), self)
    }
}
