//! Traversals in pieces: the position of one, and one piece of it.

use super::object::{Object, Verdict};
use super::table::{Store, Table};
use super::tree_store::Range;
use heddle_natives::spec::Program;
use heddle_runtime::process::Process;
use heddle_term::{Resource, Term};
use std::sync::Arc;

/// Objects looked at in one native call.
pub const BATCH: usize = 1000;

/// Where a traversal goes on.
#[derive(Clone, Copy)]
pub enum Position {
    Start,
    /// From this place of a hash table on.
    At(u64),
    /// After this key of an ordered table, in the direction of the traversal.
    Behind(Term),
    End,
}

impl Position {
    /// The position as a term that a native can take apart again. `End` is never stored.
    pub fn to_term(self, p: &mut Process) -> Term {
        match self {
            Position::Start | Position::End => Term::NIL,
            Position::At(place) => Term::small(place as i64),
            Position::Behind(key) => p.heap.cons(key, Term::NIL),
        }
    }
    pub fn from_term(term: Term) -> Position {
        match term.as_small() {
            Some(place) => Position::At(place as u64),
            None if term.is_cons() => Position::Behind(term.head()),
            None => Position::Start,
        }
    }
}

/// One piece: `f` sees objects until it answers true or the batch is full.
pub fn piece(
    p: &mut Process,
    table: &Table,
    range: Range,
    from: Position,
    backward: bool,
    mut f: impl FnMut(&mut Process, &Object) -> bool,
) -> Position {
    let mut seen = 0;
    match &table.store {
        Store::Hash(store) => {
            let place = if let Position::At(place) = from { place } else { 0 };
            let next = store.scan(place, |object| {
                seen += 1;
                f(p, object) || seen >= BATCH
            });
            next.map_or(Position::End, Position::At)
        }
        Store::Tree(store) => {
            let key = if let Position::Behind(key) = from { Some(key) } else { None };
            let mut last = Term::NIL;
            let ended = store.scan(range, key, backward, |object| {
                seen += 1;
                let stop = f(p, object) || seen >= BATCH;
                if stop {
                    last = p.heap.copy(object.key);
                }
                stop
            });
            if ended { Position::End } else { Position::Behind(last) }
        }
    }
}

/// As `piece`, for what changes objects.
pub fn piece_write(
    p: &mut Process,
    table: &Table,
    range: Range,
    from: Position,
    mut f: impl FnMut(&mut Process, &Object) -> Verdict,
) -> Position {
    let mut seen = 0;
    match &table.store {
        Store::Hash(store) => {
            let place = if let Position::At(place) = from { place } else { 0 };
            let next = store.scan_write(place, |object| {
                seen += 1;
                (f(p, object), seen >= BATCH)
            });
            next.map_or(Position::End, Position::At)
        }
        Store::Tree(store) => {
            let key = if let Position::Behind(key) = from { Some(key) } else { None };
            let mut last = Term::NIL;
            let ended = store.scan_write(range, key, |object| {
                seen += 1;
                let stop = seen >= BATCH;
                if stop {
                    last = p.heap.copy(object.key);
                }
                (f(p, object), stop)
            });
            if ended { Position::End } else { Position::Behind(last) }
        }
    }
}

/// The program of a native that was interrupted. It stands in the argument where the specification was. Erlang code never has such a term,
/// so it cannot be mistaken for a pattern.
pub struct Paused(pub Arc<Program>);

impl Resource for Paused {
    fn type_name(&self) -> &'static str {
        "ets_traversal"
    }
}
