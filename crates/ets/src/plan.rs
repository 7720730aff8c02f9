//! Which objects a match specification needs to look at.

use super::table::{Store, Table};
use super::tree_store::{Point, Range};
use heddle_natives::spec::pattern::Pattern;
use heddle_natives::spec::{Clause, Expr, Program};
use heddle_term::Term;
use heddle_term::order::{cmp, exact_eq};

pub enum Plan<'a> {
    /// Objects of these keys only; no two equal, in rising order for ordered tables.
    Keys(Vec<Term>),
    /// All objects whose keys lie in this range (hash tables: all).
    Scan(Range<'a>),
}

enum Wanted<'a> {
    Nothing,
    Key(Term),
    Prefix(&'a Pattern),
    Everything,
}

fn wanted<'a>(clause: &'a Clause, table: &Table) -> Wanted<'a> {
    match &clause.head {
        Pattern::Any | Pattern::Bind(_) | Pattern::Same(_) => Wanted::Everything,
        Pattern::Const(c) => table.key_of(*c).map_or(Wanted::Nothing, Wanted::Key),
        Pattern::Tuple(parts) => match parts.get(table.key_index) {
            None => Wanted::Nothing,
            Some(Pattern::Const(c)) => Wanted::Key(*c),
            Some(part) if part.has_prefix() => Wanted::Prefix(part),
            Some(_) => Wanted::Everything,
        },
        Pattern::List(..) | Pattern::Map(_) => Wanted::Nothing,
    }
}

pub fn plan<'a>(program: &'a Program, table: &Table) -> Plan<'a> {
    let ordered = matches!(table.store, Store::Tree(_));
    let mut keys: Vec<Term> = Vec::new();
    let mut prefixes: Vec<&Pattern> = Vec::new();
    for clause in &program.clauses {
        match wanted(clause, table) {
            Wanted::Nothing => {}
            Wanted::Key(key) => keys.push(key),
            Wanted::Prefix(pattern) if ordered => prefixes.push(pattern),
            Wanted::Prefix(_) | Wanted::Everything => return Plan::Scan(Range::ALL),
        }
    }
    match (prefixes.as_slice(), keys.is_empty()) {
        ([], _) => {
            if ordered {
                keys.sort_by(|a, b| cmp(*a, *b));
                keys.dedup_by(|a, b| cmp(*a, *b).is_eq());
            } else {
                let mut distinct: Vec<Term> = Vec::with_capacity(keys.len());
                for key in keys {
                    if !distinct.iter().any(|k| exact_eq(*k, key)) {
                        distinct.push(key);
                    }
                }
                keys = distinct;
            }
            Plan::Keys(keys)
        }
        ([prefix], true) => Plan::Scan(Range { low: Some(Point::Below(prefix)), high: Some(Point::Above(prefix)) }),
        _ => Plan::Scan(Range::ALL),
    }
}

/// True if every result of the program has the key of the object it comes from (`select_replace`).
pub fn keeps_keys(program: &Program, key_index: usize) -> bool {
    program.clauses.iter().all(|clause| {
        let [result] = clause.body.as_slice() else { return false };
        let key = match &clause.head {
            Pattern::Tuple(parts) => parts.get(key_index).map(KeyPattern::Part),
            Pattern::Const(c) => c.as_tuple().and_then(|t| t.get(key_index)).map(|&k| KeyPattern::Const(k)),
            _ => None,
        };
        match result {
            Expr::Object => true,
            Expr::Tuple(parts) => parts.get(key_index).is_some_and(|part| {
                matches!(part, Expr::ObjectElement(n) if *n == key_index as i64 + 1) || key.is_some_and(|k| k.is_kept_by(part))
            }),
            Expr::Const(c) => {
                let kept = c.as_tuple().and_then(|t| t.get(key_index)).copied();
                kept.is_some_and(|kept| key.is_some_and(|k| k.constant().is_some_and(|k| exact_eq(k, kept))))
            }
            _ => false,
        }
    })
}

#[derive(Clone, Copy)]
enum KeyPattern<'a> {
    Part(&'a Pattern),
    Const(Term),
}

impl KeyPattern<'_> {
    fn constant(&self) -> Option<Term> {
        match self {
            KeyPattern::Part(p) => p.constant(),
            KeyPattern::Const(c) => Some(*c),
        }
    }

    fn is_kept_by(self, expr: &Expr) -> bool {
        match (self, expr) {
            (KeyPattern::Part(p), expr) => part_is_kept(p, expr),
            (KeyPattern::Const(k), expr) => constant_is_kept(k, expr),
        }
    }
}

fn part_is_kept(pattern: &Pattern, expr: &Expr) -> bool {
    match (pattern, expr) {
        (Pattern::Bind(n) | Pattern::Same(n), Expr::Var(m)) => n == m,
        (Pattern::Const(k), expr) => constant_is_kept(*k, expr),
        (Pattern::Tuple(parts), Expr::Tuple(exprs)) => all_kept(parts, exprs),
        (Pattern::List(parts, tail), Expr::List(exprs, rest)) => all_kept(parts, exprs) && part_is_kept(tail, rest),
        _ => false,
    }
}

/// True if the expression makes the constant, from constants.
fn constant_is_kept(constant: Term, expr: &Expr) -> bool {
    match expr {
        Expr::Const(c) => exact_eq(constant, *c),
        Expr::Tuple(exprs) => constant
            .as_tuple()
            .is_some_and(|parts| parts.len() == exprs.len() && parts.iter().zip(exprs).all(|(&part, expr)| constant_is_kept(part, expr))),
        Expr::List(exprs, rest) => {
            let mut left = constant;
            let kept = exprs.iter().all(|expr| {
                let kept = left.is_cons() && constant_is_kept(left.head(), expr);
                if kept {
                    left = left.tail();
                }
                kept
            });
            kept && constant_is_kept(left, rest)
        }
        _ => false,
    }
}

fn all_kept(parts: &[Pattern], exprs: &[Expr]) -> bool {
    parts.len() == exprs.len() && parts.iter().zip(exprs).all(|(p, e)| part_is_kept(p, e))
}
