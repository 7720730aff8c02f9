//! Heads of match specifications.

use heddle_term::order::{cmp, exact_eq};
use heddle_term::{Kind, Term, map};
use std::cmp::Ordering;

pub enum Pattern {
    Any,
    /// The first occurrence of a variable. It fills this slot.
    Bind(u32),
    /// A further occurrence: equal to what is in this slot.
    Same(u32),
    /// A part without variables.
    Const(Term),
    Tuple(Vec<Pattern>),
    /// Elements and tail.
    List(Vec<Pattern>, Box<Pattern>),
    /// Keys that the map must have, and what their values must match.
    Map(Vec<(Term, Pattern)>),
}

impl Pattern {
    pub fn matches(&self, term: Term, slots: &mut [Term]) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Bind(n) => {
                slots[*n as usize] = term;
                true
            }
            Pattern::Same(n) => exact_eq(slots[*n as usize], term),
            Pattern::Const(c) => exact_eq(*c, term),
            Pattern::Tuple(parts) => match term.as_tuple() {
                Some(elements) if elements.len() == parts.len() => parts.iter().zip(elements).all(|(p, &e)| p.matches(e, slots)),
                _ => false,
            },
            Pattern::List(parts, tail) => {
                let mut rest = term;
                for part in parts {
                    if !rest.is_cons() || !part.matches(rest.head(), slots) {
                        return false;
                    }
                    rest = rest.tail();
                }
                tail.matches(rest, slots)
            }
            Pattern::Map(pairs) => term.is_map() && pairs.iter().all(|(k, p)| map::get(term, *k).is_some_and(|v| p.matches(v, slots))),
        }
    }

    pub fn constant(&self) -> Option<Term> {
        match self {
            Pattern::Const(c) => Some(*c),
            _ => None,
        }
    }

    /// True if the smallest and largest matching keys can be told from the pattern.
    pub fn has_prefix(&self) -> bool {
        match self {
            Pattern::Const(_) => true,
            Pattern::Tuple(parts) => parts.first().is_some_and(Pattern::has_prefix),
            Pattern::List(parts, _) => parts.first().is_some_and(Pattern::has_prefix),
            _ => false,
        }
    }
}

/// How the keys that `pattern` can match compare with `key`. Equal: `key` may be one of them.
pub fn cmp_prefix(pattern: &Pattern, key: Term) -> Ordering {
    prefix(pattern, key).unwrap_or(Ordering::Equal)
}

/// Returns None if the pattern leaves the order open from here on.
fn prefix(pattern: &Pattern, key: Term) -> Option<Ordering> {
    match pattern {
        Pattern::Const(c) => Some(cmp(*c, key)),
        Pattern::Tuple(parts) => {
            let Some(elements) = key.as_tuple() else { return Some(rank(RANK_TUPLE, key)) };
            if parts.len() != elements.len() {
                return Some(parts.len().cmp(&elements.len()));
            }
            for (part, &element) in parts.iter().zip(elements) {
                match prefix(part, element)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(Ordering::Equal)
        }
        Pattern::List(parts, tail) => {
            let mut rest = key;
            for part in parts {
                if !rest.is_cons() {
                    return Some(rank(RANK_CONS, rest));
                }
                match prefix(part, rest.head())? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
                rest = rest.tail();
            }
            prefix(tail, rest)
        }
        Pattern::Any | Pattern::Bind(_) | Pattern::Same(_) | Pattern::Map(_) => None,
    }
}

const RANK_TUPLE: u32 = 3;
const RANK_CONS: u32 = 6;

/// How the order of terms puts kinds of terms against tuples and lists.
fn rank(of: u32, key: Term) -> Ordering {
    let other = match key.kind() {
        Some(Kind::Tuple) => RANK_TUPLE,
        Some(Kind::FlatMap | Kind::HashMap) => 4,
        Some(Kind::HeapBits | Kind::BinRef | Kind::SubBits) => 7,
        _ if key.is_nil() => 5,
        _ if key.is_cons() => RANK_CONS,
        _ => 0,
    };
    of.cmp(&other)
}
