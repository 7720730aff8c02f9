//! Natives: compiled specifications as terms, and trying specifications out.

use super::eval::{self, Env, Mode};
use super::{Dialect, Form, Program, compile};
use crate::args::borrowed_resource;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::list::length;
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "match_spec_compile"/1 => match_spec_compile,
        "is_compiled_ms"/1 => is_compiled_ms,
        "match_spec_run_r"/3 => match_spec_run_r,
    }
    "erlang" => {
        "match_spec_test"/3 => match_spec_test,
    }
}

fn match_spec_compile(p: &mut Process, a: &[Term]) -> NativeResult {
    match Program::owned(a[0], Form::Spec) {
        Ok(program) if !a[0].is_nil() => Ok(program.reference(&mut p.heap)),
        Ok(_) => Err(p.badarg()),
        Err(refused) => Err(refused.raise(p)),
    }
}

fn is_compiled_ms(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(Term::bool(borrowed_resource::<Program>(&a[0]).is_some()))
}

/// Elements handled in one call.
const BATCH: usize = 1000;

fn match_spec_run_r(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(program) = borrowed_resource::<Program>(&a[1]) else { return Err(p.badarg()) };
    let (mut rest, mut results) = (a[0], a[2]);
    let mut env = Env::default();
    for _ in 0..BATCH {
        if !rest.is_cons() {
            return if rest.is_nil() { Ok(results) } else { Err(p.badarg()) };
        }
        if let Some(result) = program.run(p, &mut env, rest.head()) {
            results = p.heap.cons(result, results);
        }
        rest = rest.tail();
    }
    p.bump(BATCH);
    Err(p.again(&[rest, a[1], results]))
}

fn match_spec_test(p: &mut Process, a: &[Term]) -> NativeResult {
    let dialect = match a[2].as_atom().map(|t| t.name()) {
        Some("table") => Dialect::Table,
        Some("trace") if length(a[0]).is_some() => Dialect::Trace,
        _ => return Err(p.badarg()),
    };
    let clauses = match compile::compile(a[1], Form::Spec, dialect) {
        Ok(clauses) => clauses,
        Err(errors) => return Ok(error_list(p, &errors)),
    };
    let mut env = Env::default();
    let result = match eval::accept(&clauses, p, &mut env, a[0]) {
        None => Term::bool(false),
        Some(clause) if dialect == Dialect::Table => clause.result(p, &mut env),
        Some(clause) => {
            for expr in &clause.body {
                eval::eval(expr, p, &mut env, Mode::Body);
            }
            env.message.map_or(Term::bool(true), |m| p.heap.copy(m))
        }
    };
    let flags: Vec<Term> = env.flags.iter().map(|f| Atom::new(f).into()).collect();
    let flags = p.heap.list(&flags);
    Ok(p.heap.tuple(&[am::OK.into(), result, flags, Term::NIL]))
}

fn error_list(p: &mut Process, errors: &[String]) -> Term {
    let mut items = Vec::with_capacity(errors.len());
    for error in errors {
        let text = p.heap.string(error);
        items.push(p.heap.tuple(&[am::ERROR.into(), text]));
    }
    let list = p.heap.list(&items);
    p.heap.tuple(&[am::ERROR.into(), list])
}
