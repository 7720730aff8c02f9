//! Searching binaries: `binary:match`, `matches`, `split`, and compiled patterns.

use super::bytes::{self, slice};
use super::{atomics, long, types};
use crate::args;
use aho_corasick::{AhoCorasick, MatchKind};
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::{Atom, Resource, Term, list};
use memchr::memmem;
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "binary" => {
        "compile_pattern"/1 => compile_pattern,
        "match"/2 => match_first,
        "match"/3 => match_first,
        "matches"/2 => matches,
        "matches"/3 => matches,
        "split"/2 => split,
        "split"/3 => split,
    }
}

enum Pattern {
    One(Box<memmem::Finder<'static>>),
    Many(AhoCorasick),
    /// A few strings that are looked up once: no automaton.
    Few(Vec<Vec<u8>>),
}

impl Resource for Pattern {
    fn type_name(&self) -> &'static str {
        "pattern"
    }
}

impl Pattern {
    /// First match from `at` on, the longest of those that begin at the same place.
    fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        match self {
            Pattern::One(finder) => finder.find(&text[at..]).map(|i| (at + i, finder.needle().len())),
            Pattern::Many(automaton) => {
                let found = automaton.find(&text[at..])?;
                Some((at + found.start(), found.len()))
            }
            Pattern::Few(strings) => {
                let firsts: Vec<u8> = strings.iter().map(|s| s[0]).collect();
                let mut at = at;
                loop {
                    at += match firsts[..] {
                        [x] => memchr::memchr(x, &text[at..]),
                        [x, y] => memchr::memchr2(x, y, &text[at..]),
                        [x, y, z] => memchr::memchr3(x, y, z, &text[at..]),
                        _ => text[at..].iter().position(|b| firsts.contains(b)),
                    }?;
                    let longest = strings.iter().filter(|s| text[at..].starts_with(s)).map(Vec::len).max();
                    if let Some(len) = longest {
                        return Some((at, len));
                    }
                    at += 1;
                }
            }
        }
    }
}

/// Strings of a pattern argument: a binary or a list of them, none empty.
fn strings(term: Term) -> Option<Vec<Vec<u8>>> {
    let list = if term.is_cons() { list::to_vec(term)? } else { vec![term] };
    list.into_iter().map(|s| Some(bytes::view(s)?.to_vec()).filter(|b| !b.is_empty())).collect()
}

fn automaton(strings: &[Vec<u8>]) -> Option<Pattern> {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(strings).ok().map(Pattern::Many)
}

fn one(string: &[u8]) -> Pattern {
    Pattern::One(Box::new(memmem::Finder::new(string).into_owned()))
}

fn compile_pattern(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(strings) = strings(a[0]) else { return Err(p.badarg()) };
    p.bump(strings.iter().map(Vec::len).sum::<usize>() / 8);
    let (tag, pattern) = match &strings[..] {
        [string] => ("bm", Some(one(string))),
        many => ("ac", automaton(many)),
    };
    let Some(pattern) = pattern else { return Err(p.system_limit()) };
    let reference = atomics::magic(p, Arc::new(pattern));
    Ok(p.heap.tuple(&[Atom::new(tag).into(), reference]))
}

/// Above these sizes an automaton pays even for one search (guessed).
const FEW_STRINGS: usize = 8;
const SHORT_TEXT_BYTES: usize = 16 * 1024;

fn pattern(term: Term, text_bytes: usize) -> Option<Arc<Pattern>> {
    if let Some(&[tag, reference]) = term.as_tuple() {
        let pattern = args::resource::<Pattern>(reference)?;
        let wanted = if matches!(*pattern, Pattern::One(_)) { "bm" } else { "ac" };
        return (tag.as_atom()?.name() == wanted).then_some(pattern);
    }
    let strings = strings(term)?;
    Some(Arc::new(match &strings[..] {
        [string] => one(string),
        many if many.len() <= FEW_STRINGS && text_bytes <= SHORT_TEXT_BYTES => Pattern::Few(strings),
        many => automaton(many)?,
    }))
}

#[derive(Default)]
struct Options {
    scope: Option<(usize, usize)>,
    global: bool,
    trim: bool,
    trim_all: bool,
}

fn options(term: Option<&Term>, size: usize, is_split: bool) -> Option<Options> {
    let mut options = Options::default();
    for option in list::to_vec(term.copied().unwrap_or(Term::NIL))? {
        match option.as_atom().map(Atom::name) {
            Some("global") if is_split => options.global = true,
            Some("trim") if is_split => options.trim = true,
            Some("trim_all") if is_split => options.trim_all = true,
            Some(_) => return None,
            None => {
                let (name, value) = args::option(option)?;
                let &[position, length] = value.as_tuple()? else { return None };
                if name.name() != "scope" {
                    return None;
                }
                options.scope = Some(types::part(position, length, size)?);
            }
        }
    }
    Some(options)
}

/// Runs `f` on the text up to the end of the scope, the place to start at, the pattern and the options.
fn search<T>(
    p: &mut Process,
    a: &[Term],
    is_split: bool,
    f: impl FnOnce(&mut Process, &[u8], usize, &Pattern, &Options) -> T,
) -> Result<T, Thrown> {
    let mut copy = Vec::new();
    let Some(text) = bytes::bytes(a[0], &mut copy) else { return Err(p.badarg()) };
    let Some(options) = options(a.get(2), text.len(), is_split) else { return Err(p.badarg()) };
    let Some(pattern) = pattern(a[1], text.len()) else { return Err(p.badarg()) };
    let (start, len) = options.scope.unwrap_or((0, text.len()));
    long::BINARIES.work(p, len / 2)?;
    Ok(f(p, &text[..start + len], start, &pattern, &options))
}

fn pair(p: &mut Process, (start, len): (usize, usize)) -> Term {
    p.heap.tuple(&[Term::small(start as i64), Term::small(len as i64)])
}

fn match_first(p: &mut Process, a: &[Term]) -> NativeResult {
    search(p, a, false, |p, text, start, pattern, _| match pattern.find(text, start) {
        Some(found) => pair(p, found),
        None => Atom::new("nomatch").into(),
    })
}

fn all(text: &[u8], start: usize, pattern: &Pattern) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some((start, len)) = pattern.find(text, at) {
        found.push((start, len));
        at = start + len;
    }
    found
}

fn matches(p: &mut Process, a: &[Term]) -> NativeResult {
    search(p, a, false, |p, text, start, pattern, _| {
        let found: Vec<Term> = all(text, start, pattern).into_iter().map(|m| pair(p, m)).collect();
        p.bump(found.len() / 8);
        p.heap.list(&found)
    })
}

fn split(p: &mut Process, a: &[Term]) -> NativeResult {
    search(p, a, true, |p, text, start, pattern, options| {
        let found = if options.global { all(text, start, pattern) } else { pattern.find(text, start).into_iter().collect() };
        let size = bytes::view(a[0]).map_or(0, |v| (v.size_bits / 8) as usize);
        let mut parts: Vec<(usize, usize)> = Vec::with_capacity(found.len() + 1);
        let mut from = 0;
        for (start, len) in found {
            parts.push((from, start));
            from = start + len;
        }
        parts.push((from, size));
        if options.trim_all {
            parts.retain(|(from, to)| from != to);
        } else if options.trim {
            while parts.last().is_some_and(|(from, to)| from == to) {
                parts.pop();
            }
        }
        p.bump(parts.len() / 8);
        let whole = |&(from, to): &(usize, usize)| from == 0 && to == size;
        let terms: Vec<Term> = parts
            .iter()
            .map(|part| if whole(part) { a[0] } else { slice(&mut p.heap, a[0], part.0 as u64 * 8, (part.1 - part.0) as u64 * 8) })
            .collect();
        p.heap.list(&terms)
    })
}
