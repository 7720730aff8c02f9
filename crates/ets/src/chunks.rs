//! `select/3`, `match/3` and similar natives: results in pieces of a wanted size, with continuations.
//!
//! Continuations have the shapes of stock, which `ets:repair_continuation/2` knows: `{Table, Place, Limit, Program, Found,
//! Count}` for hash tables, `{Table, LastKey, [], Limit, Program, Found, Reverse, Count}` for ordered ones. `Found` are
//! results that were not returned yet.

use super::access::{self, Right};
use super::hash_store::PLACE_END;
use super::plan::{Plan, plan};
use super::scan::{Position, piece};
use super::table::{Store, Table};
use super::walk::end_of_table;
use heddle_natives::args;
use heddle_natives::spec::eval::Env;
use heddle_natives::spec::{Form, Program};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::list::ListIter;
use heddle_term::{Atom, Term, am};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "select"/3 => select_3,
        "select"/1 => next,
        "select_reverse"/3 => select_reverse_3,
        "select_reverse"/1 => next,
        "match"/3 => match_3,
        "match"/1 => next,
        "match_object"/3 => match_object_3,
        "match_object"/1 => next,
    }
}

/// A query in pieces, taken out of its continuation.
struct Chunks {
    table: Term,
    position: Position,
    limit: usize,
    /// The reference to the program.
    program: Term,
    found: Term,
    count: usize,
    reverse: bool,
    ordered: bool,
}

impl Chunks {
    fn of(term: Term) -> Option<Chunks> {
        let chunks = match *term.as_tuple()? {
            [table, place, limit, program, found, count] => Chunks {
                table,
                position: match u64::try_from(place.as_small()?).ok()? {
                    PLACE_END.. => Position::End,
                    place => Position::At(place),
                },
                limit: args::count(limit)?,
                program,
                found,
                count: args::count(count)?,
                reverse: false,
                ordered: false,
            },
            [table, key, start, limit, program, found, reverse, count] => Chunks {
                table,
                // In the third place: `true` when nothing was visited yet, `false` when everything was.
                position: match args::boolean(start) {
                    Some(true) => Position::Start,
                    Some(false) => Position::End,
                    None => Position::Behind(key),
                },
                limit: args::count(limit)?,
                program,
                found,
                count: args::count(count)?,
                reverse: reverse.as_small()? != 0,
                ordered: true,
            },
            _ => return None,
        };
        let whole = chunks.limit > 0 && ListIter::new(chunks.found).count() == chunks.count;
        whole.then_some(chunks)
    }

    fn to_term(&self, p: &mut Process) -> Term {
        let (limit, count) = (Term::small(self.limit as i64), Term::small(self.count as i64));
        if self.ordered {
            let (key, start) = match self.position {
                Position::Behind(key) => (key, Term::NIL),
                Position::End => (Term::NIL, Term::bool(false)),
                _ => (Term::NIL, Term::bool(true)),
            };
            let reverse = Term::small(self.reverse as i64);
            return p.heap.tuple(&[self.table, key, start, limit, self.program, self.found, reverse, count]);
        }
        let place = match self.position {
            Position::At(place) => place,
            Position::End => PLACE_END,
            _ => 0,
        };
        p.heap.tuple(&[self.table, Term::small(place as i64), limit, self.program, self.found, count])
    }

    /// Looks at one batch.
    fn step(&mut self, p: &mut Process, table: &Table, program: &Program) {
        let Plan::Scan(range) = plan(program, table) else {
            self.collect_keys(p, table, program);
            return;
        };
        let mut env = Env::default();
        let (limit, reverse, ordered) = (self.limit, self.reverse, self.ordered);
        let (mut found, mut count) = (self.found, self.count);
        self.position = piece(p, table, range, self.position, ordered && reverse, |p, object| {
            if let Some(result) = program.run(p, &mut env, object.tuple()) {
                found = p.heap.cons(result, found);
                count += 1;
            }
            count >= limit
        });
        (self.found, self.count) = (found, count);
    }

    fn collect_keys(&mut self, p: &mut Process, table: &Table, program: &Program) {
        if let Plan::Keys(mut keys) = plan(program, table) {
            if self.reverse {
                keys.reverse();
            }
            let mut env = Env::default();
            for key in keys {
                table.with_key(key, |object| {
                    if let Some(result) = program.run(p, &mut env, object.tuple()) {
                        self.found = p.heap.cons(result, self.found);
                        self.count += 1;
                    }
                });
            }
        }
        self.position = Position::End;
    }

    /// True if there is enough for an answer.
    fn is_ready(&self) -> bool {
        self.count >= self.limit || matches!(self.position, Position::End)
    }

    /// Makes the answer. `first`: this call had no continuation. Programs rely on the first piece of a bag beginning with the newest object
    /// of its key (Elixir's `Module.get_last_attribute`). So what a hash table keeps for later is in the order of stock: each continuation
    /// reverses it.
    fn answer(mut self, p: &mut Process, first: bool) -> Term {
        if self.count == 0 {
            return end_of_table();
        }
        let all: Vec<Term> = ListIter::new(self.found).collect();
        let handed = self.limit.min(all.len());
        let (rest, chunk) = all.split_at(all.len() - handed);
        let turned = |part: &[Term]| part.iter().rev().copied().collect::<Vec<Term>>();
        // Each result was put in front of the ones before: ordered tables need the reverse.
        let chunk = if self.ordered { p.heap.list(&turned(chunk)) } else { p.heap.list(chunk) };
        let rest = if self.ordered || first { p.heap.list(rest) } else { p.heap.list(&turned(rest)) };
        (self.found, self.count) = (rest, all.len() - handed);
        let continuation = if self.count == 0 && matches!(self.position, Position::End) { end_of_table() } else { self.to_term(p) };
        p.heap.tuple(&[chunk, continuation])
    }
}

fn start(p: &mut Process, a: &[Term], form: Form, name: &str, reverse: bool) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let Some(limit) = args::count(a[2]).filter(|&n| n > 0) else { return Err(p.badarg()) };
    let program = Program::owned(a[1], form).map_err(|refused| refused.raise(p))?;
    let ordered = matches!(table.store, Store::Tree(_));
    let reference = std::sync::Arc::clone(&program).reference(&mut p.heap);
    // A reference, not the name: a continuation is for this table, even if another table gets the name.
    let whole = table.reference(&mut p.heap);
    let mut chunks =
        Chunks { table: whole, position: Position::Start, limit, program: reference, found: Term::NIL, count: 0, reverse, ordered };
    chunks.step(p, table, &program);
    if chunks.is_ready() {
        access::still_there(p, a[0], table)?;
        return Ok(chunks.answer(p, true));
    }
    let continuation = chunks.to_term(p);
    p.bump(super::scan::BATCH);
    Err(p.trap_to(am::ETS, Atom::new(name), &[continuation]))
}

fn next(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[0] == end_of_table() {
        return Ok(a[0]);
    }
    let Some(mut chunks) = Chunks::of(a[0]) else { return Err(p.badarg()) };
    let (program, table) = (chunks.program, chunks.table);
    let Some(program) = args::borrowed_resource::<Program>(&program) else { return Err(p.badarg()) };
    let table = access::table(p, &table, Right::Read)?;
    if matches!(table.store, Store::Tree(_)) != chunks.ordered {
        return Err(p.badarg());
    }
    if !chunks.is_ready() {
        chunks.step(p, table, program);
    }
    if chunks.is_ready() {
        return Ok(chunks.answer(p, false));
    }
    let continuation = chunks.to_term(p);
    p.bump(super::scan::BATCH);
    Err(p.again(&[continuation]))
}

fn select_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Form::Spec, "select", false)
}
fn select_reverse_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Form::Spec, "select_reverse", true)
}
fn match_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Form::Match, "match", false)
}
fn match_object_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Form::MatchObject, "match_object", false)
}
