//! Runs a program on a term. Guards and arguments of calls are evaluated in place: their values may lie in the table. Results, which
//! leave the table, are made by `build`.

use super::functions::Action;
use super::{Clause, Expr, Program};
use crate::args::boolean;
use heddle_runtime::process::Process;
use heddle_runtime::trace::seq;
use heddle_term::{Term, am, map};
use std::sync::atomic::Ordering;

/// What a program is run in: the term, the values of variables, and what trace actions left.
pub struct Env<'a> {
    pub object: Term,
    pub slots: Vec<Term>,
    /// Result of the last `message` action.
    pub message: Option<Term>,
    pub flags: Vec<&'static str>,
    /// What runs the actions of tracing; None where a specification is only tried out.
    pub actions: Option<&'a dyn Actions>,
}

impl Default for Env<'_> {
    fn default() -> Self {
        Env { object: Term::NIL, slots: Vec::new(), message: None, flags: Vec::new(), actions: None }
    }
}

/// Actions of a program that runs for a trace session.
pub trait Actions {
    /// Returns None for actions that do here what they do where a specification is only tried out.
    fn act(&self, action: Action, values: &[Term], p: &mut Process) -> Option<Term>;
}

/// What a failing call does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The guard fails.
    Guard,
    /// Its value is `'EXIT'`.
    Body,
}

impl Program {
    /// The first clause whose head and guards accept `object`.
    pub fn accept(&self, p: &mut Process, env: &mut Env, object: Term) -> Option<&Clause> {
        accept(&self.clauses, p, env, object)
    }

    /// The result for `object` in the caller's heap.
    pub fn run(&self, p: &mut Process, env: &mut Env, object: Term) -> Option<Term> {
        let clause = self.accept(p, env, object)?;
        Some(clause.result(p, env))
    }

    /// True if the result for `object` is `true`.
    pub fn is_true(&self, p: &mut Process, env: &mut Env, object: Term) -> bool {
        self.accept(p, env, object).is_some_and(|c| c.value(p, env).is_some_and(|v| v.is_atom_of(am::TRUE)))
    }
}

pub fn accept<'a>(clauses: &'a [Clause], p: &mut Process, env: &mut Env, object: Term) -> Option<&'a Clause> {
    env.object = object;
    clauses.iter().find(|clause| {
        if env.slots.len() < clause.slots {
            env.slots.resize(clause.slots, Term::NIL);
        }
        clause.head.matches(object, &mut env.slots)
            && clause.guards.iter().all(|g| eval(g, p, env, Mode::Guard).is_some_and(|v| v.is_atom_of(am::TRUE)))
    })
}

impl Clause {
    /// Value of the body in place.
    pub fn value(&self, p: &mut Process, env: &mut Env) -> Option<Term> {
        let (last, before) = self.body.split_last()?;
        for expr in before {
            eval(expr, p, env, Mode::Body);
        }
        eval(last, p, env, Mode::Body)
    }

    /// Value of the body as a term of the caller's heap.
    pub fn result(&self, p: &mut Process, env: &mut Env) -> Term {
        let Some((last, before)) = self.body.split_last() else { return Term::bool(true) };
        for expr in before {
            eval(expr, p, env, Mode::Body);
        }
        super::build::build(last, p, env)
    }
}

/// Calls a function with its arguments evaluated in place.
pub fn call(function: super::functions::Function, arguments: &[Expr], p: &mut Process, env: &mut Env, mode: Mode) -> Option<Term> {
    let mut values = [Term::NIL; 4];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = eval(argument, p, env, mode)?;
    }
    failed(function.call(p, &values[..arguments.len()]), mode)
}

fn failed(value: Option<Term>, mode: Mode) -> Option<Term> {
    match (value, mode) {
        (None, Mode::Body) => Some(am::EXIT_UPPER.into()),
        (value, _) => value,
    }
}

/// The value in place: valid as long as the object, the program and the caller's heap. None: a guard failed.
pub fn eval(expr: &Expr, p: &mut Process, env: &mut Env, mode: Mode) -> Option<Term> {
    match expr {
        Expr::Const(c) => Some(*c),
        Expr::Var(slot) => Some(env.slots[*slot as usize]),
        Expr::Object => Some(env.object),
        Expr::ObjectElement(n) => {
            let index = usize::try_from(*n - 1).ok();
            failed(index.and_then(|i| env.object.as_tuple()?.get(i).copied()), mode)
        }
        Expr::AllVars(order) => {
            let values: Vec<Term> = order.iter().map(|&slot| env.slots[slot as usize]).collect();
            Some(p.heap.list(&values))
        }
        Expr::Tuple(parts) => {
            let values: Vec<Term> = parts.iter().map(|e| eval(e, p, env, mode)).collect::<Option<_>>()?;
            Some(p.heap.tuple(&values))
        }
        Expr::List(parts, tail) => {
            let values: Vec<Term> = parts.iter().map(|e| eval(e, p, env, mode)).collect::<Option<_>>()?;
            let tail = eval(tail, p, env, mode)?;
            Some(p.heap.list_with_tail(&values, tail))
        }
        Expr::Map(pairs) => {
            let mut values = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                values.push((eval(key, p, env, mode)?, eval(value, p, env, mode)?));
            }
            Some(map::from_pairs(&mut p.heap, &values))
        }
        Expr::Call(function, arguments) => call(*function, arguments, p, env, mode),
        Expr::And(parts) => failed(strict(parts, p, env, mode, |a, b| a & b), mode),
        Expr::Or(parts) => failed(strict(parts, p, env, mode, |a, b| a | b), mode),
        Expr::AndAlso(parts) => failed(lazy(parts, p, env, mode, false), mode),
        Expr::OrElse(parts) => failed(lazy(parts, p, env, mode, true), mode),
        Expr::Action(action, arguments) => act(*action, arguments, p, env, mode),
    }
}

fn strict(parts: &[Expr], p: &mut Process, env: &mut Env, mode: Mode, join: fn(bool, bool) -> bool) -> Option<Term> {
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        values.push(eval(part, p, env, mode)?);
    }
    let mut result = None;
    for value in values {
        let value = boolean(value)?;
        result = Some(result.map_or(value, |r| join(r, value)));
    }
    result.map(Term::bool)
}

/// `andalso` and `orelse`: the last part may have any value.
fn lazy(parts: &[Expr], p: &mut Process, env: &mut Env, mode: Mode, stop_at: bool) -> Option<Term> {
    let (last, before) = parts.split_last()?;
    for part in before {
        if boolean(eval(part, p, env, mode)?)? == stop_at {
            return Some(Term::bool(stop_at));
        }
    }
    eval(last, p, env, mode)
}

fn act(action: Action, arguments: &[Expr], p: &mut Process, env: &mut Env, mode: Mode) -> Option<Term> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(eval(argument, p, env, mode)?);
    }
    if let Some(value) = env.actions.and_then(|actions| actions.act(action, &values, p)) {
        return Some(value);
    }
    match action {
        Action::Message => env.message = Some(values[0]),
        Action::ReturnTrace => env.flags.push("return_trace"),
        Action::ExceptionTrace => env.flags.push("exception_trace"),
        Action::Display => heddle_term::complain!("{}\n", heddle_term::text::display::to_string(values[0])),
        Action::Caller | Action::CallerLine | Action::Stack => return Some(am::UNDEFINED.into()),
        Action::GetSeqToken => return Some(seq::whole(p)),
        Action::IsSeqTrace => return Some(Term::bool(seq::has_token(p))),
        // What it is, instead of a change.
        Action::SetSeqToken => return Some(seq::component(p, values[0]).unwrap_or(am::EXIT_UPPER.into())),
        Action::GetControlWord | Action::SetControlWord => {
            return Some(Term::small(super::CONTROL_WORD.load(Ordering::Relaxed) as i64));
        }
        Action::Enable | Action::Disable | Action::Trace | Action::Silent | Action::ProcessDump => {}
    }
    Some(Term::bool(true))
}
