//! `select`, `match` and `match_object` over a whole table, and counting, deleting and replacing by specification.

use super::access::{self, Right, cause};
use super::object::{Change, Verdict};
use super::plan::{Plan, keeps_keys, plan};
use super::scan::{Paused, Position, piece, piece_write};
use super::table::{Store, Table, TableType};
use super::tree_store::Range;
use heddle_natives::args;
use heddle_natives::spec::eval::Env;
use heddle_natives::spec::{Form, Program};
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::order::exact_eq;
use heddle_term::{Resource, Term};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "ets" => {
        "select"/2 => select,
        "select_reverse"/2 => select_reverse,
        "match"/2 => match_2,
        "match_object"/2 => match_object,
        "select_count"/2 => select_count,
        "internal_select_delete"/2 => select_delete,
        "select_replace"/2 => select_replace,
    }
}

/// A query, at its start or after an interruption.
enum Query<'a> {
    New(Program),
    Paused(&'a Paused, Position, Term),
}

impl Query<'_> {
    fn program(&self) -> &Program {
        match self {
            Query::New(program) => program,
            Query::Paused(paused, _, _) => &paused.0,
        }
    }
    fn position(&self) -> Position {
        match self {
            Query::New(_) => Position::Start,
            Query::Paused(_, position, _) => *position,
        }
    }
    /// The results so far, or `nothing` at the start.
    fn found(&self, nothing: Term) -> Term {
        match self {
            Query::New(_) => nothing,
            Query::Paused(_, _, found) => *found,
        }
    }
}

fn query<'a>(p: &mut Process, spec: Term, form: Form) -> Result<Query<'a>, Thrown> {
    if let Some([paused, position, found]) = spec.as_tuple()
        && let Some(paused) = args::borrowed_resource::<Paused>(paused)
    {
        return Ok(Query::Paused(paused, Position::from_term(*position), *found));
    }
    Program::borrowed(spec, form).map(Query::New).map_err(|refused| refused.raise(p))
}

/// Goes on later: the same native is called again, with the results so far in place of the specification.
fn pause(p: &mut Process, a: &[Term], form: Form, position: Position, found: Term) -> Thrown {
    let paused = match a[1].as_tuple() {
        Some(&[paused, _, _]) if args::borrowed_resource::<Paused>(&paused).is_some() => paused,
        _ => {
            let program = match Program::owned(a[1], form) {
                Ok(program) => program,
                Err(refused) => return refused.raise(p),
            };
            let id = heddle_runtime::refs::fresh();
            p.heap.magic_reference(id.words(), Arc::new(Paused(program)) as Arc<dyn Resource>)
        }
    };
    let position = position.to_term(p);
    let state = p.heap.tuple(&[paused, position, found]);
    p.bump(super::scan::BATCH);
    p.again(&[a[0], state])
}

// ---- all results at once ----

fn select_all(p: &mut Process, a: &[Term], form: Form, reverse: bool) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let query = query(p, a[1], form)?;
    let program = query.program();
    let mut list = query.found(Term::NIL);
    let mut env = Env::default();
    let range = match plan(program, table) {
        Plan::Keys(mut keys) => {
            // The list is built from its end.
            if !reverse {
                keys.reverse();
            }
            for key in keys {
                table.with_key(key, |object| {
                    if let Some(result) = program.run(p, &mut env, object.tuple()) {
                        list = p.heap.cons(result, list);
                    }
                });
            }
            if list.is_nil() {
                access::still_there(p, a[0], table)?;
            }
            return Ok(list);
        }
        Plan::Scan(range) => range,
    };
    let position = piece(p, table, range, query.position(), !reverse, |p, object| {
        if let Some(result) = program.run(p, &mut env, object.tuple()) {
            list = p.heap.cons(result, list);
        }
        false
    });
    match position {
        Position::End => {
            access::still_there(p, a[0], table)?;
            Ok(list)
        }
        position => Err(pause(p, a, form, position, list)),
    }
}

fn select(p: &mut Process, a: &[Term]) -> NativeResult {
    select_all(p, a, Form::Spec, false)
}
fn select_reverse(p: &mut Process, a: &[Term]) -> NativeResult {
    select_all(p, a, Form::Spec, true)
}
fn match_2(p: &mut Process, a: &[Term]) -> NativeResult {
    select_all(p, a, Form::Match, false)
}
fn match_object(p: &mut Process, a: &[Term]) -> NativeResult {
    select_all(p, a, Form::MatchObject, false)
}

// ---- counting and changing ----

fn select_count(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let query = query(p, a[1], Form::Spec)?;
    let program = query.program();
    let mut count = query.found(Term::small(0)).small_value();
    let mut env = Env::default();
    let range = match plan(program, table) {
        Plan::Keys(keys) => {
            for key in keys {
                table.with_key(key, |object| count += program.is_true(p, &mut env, object.tuple()) as i64);
            }
            return Ok(Term::small(count));
        }
        Plan::Scan(range) => range,
    };
    let position = piece(p, table, range, query.position(), false, |p, object| {
        count += program.is_true(p, &mut env, object.tuple()) as i64;
        false
    });
    finish(p, a, position, count)
}

fn finish(p: &mut Process, a: &[Term], position: Position, count: i64) -> NativeResult {
    match position {
        Position::End => Ok(Term::small(count)),
        position => Err(pause(p, a, Form::Spec, position, Term::small(count))),
    }
}

fn select_delete(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    let query = query(p, a[1], Form::Spec)?;
    let program = query.program();
    let mut count = query.found(Term::small(0)).small_value();
    let mut env = Env::default();
    let range = match plan(program, table) {
        Plan::Keys(keys) => {
            for key in keys {
                count += table.remove(key, |object| program.is_true(p, &mut env, object.tuple())) as i64;
            }
            return Ok(Term::small(count));
        }
        Plan::Scan(range) => range,
    };
    let position = piece_write(p, table, range, query.position(), |p, object| {
        if program.is_true(p, &mut env, object.tuple()) {
            count += 1;
            Verdict::Delete
        } else {
            Verdict::Keep
        }
    });
    finish(p, a, position, count)
}

fn select_replace(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if table.kind == TableType::Bag {
        return Err(cause(p, "table_type"));
    }
    let query = query(p, a[1], Form::Spec)?;
    let program = query.program();
    if !keeps_keys(program, table.key_index) {
        return Err(p.badarg());
    }
    let mut count = query.found(Term::small(0)).small_value();
    let mut env = Env::default();
    let range = match plan(program, table) {
        Plan::Keys(keys) if table.kind != TableType::DuplicateBag => {
            for key in keys {
                table.update(key, |object| match object.and_then(|o| replacement(p, table, program, &mut env, o.tuple())) {
                    Some(new) => {
                        count += 1;
                        Change::Put(new)
                    }
                    None => Change::Nothing,
                });
            }
            return Ok(Term::small(count));
        }
        Plan::Keys(_) => Range::ALL,
        Plan::Scan(range) => range,
    };
    let position =
        piece_write(p, table, range, query.position(), |p, object| match replacement(p, table, program, &mut env, object.tuple()) {
            Some(new) => {
                count += 1;
                Verdict::Replace(new)
            }
            None => Verdict::Keep,
        });
    finish(p, a, position, count)
}

/// The object that takes the place of `tuple`.
fn replacement(p: &mut Process, table: &Table, program: &Program, env: &mut Env, tuple: Term) -> Option<super::object::Owned> {
    let clause = program.accept(p, env, tuple)?;
    let new = clause.value(p, env)?;
    let kept = exact_eq(table.key_of(new)?, table.key_of(tuple)?);
    debug_assert!(kept || matches!(table.store, Store::Tree(_)));
    kept.then(|| table.object(new))
}
