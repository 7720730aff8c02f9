//! Searching binaries: `binary:match`, `matches`, `split`, and compiled patterns.

use super::bytes::{self, slice};
use super::{atomics, types};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use heddle_natives::args;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_term::bits::BitsView;
use heddle_term::{Atom, Resource, Term, list};
use memchr::memmem;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

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
    Byte(u8),
    One(Box<memmem::Finder<'static>>),
    Many(AhoCorasick),
    /// A few strings that are searched for once, without an automaton.
    Few(Strings),
    /// Strings of a pattern that may be used for a long text, or for a short one. Their automaton is made when they have been searched for in
    /// `AUTOMATON_FROM_BYTES`.
    Late(Box<Late>),
}

/// Strings, none empty.
struct Strings {
    strings: Vec<Vec<u8>>,
    /// A bit for each byte that a string begins with.
    firsts: [u64; 4],
}

impl Strings {
    fn new(strings: Vec<Vec<u8>>) -> Strings {
        let mut firsts = [0; 4];
        strings.iter().for_each(|string| firsts[string[0] as usize / 64] |= 1 << (string[0] % 64));
        Strings { strings, firsts }
    }

    fn begins(&self, byte: u8) -> bool {
        self.firsts[byte as usize / 64] & 1 << (byte % 64) != 0
    }

    /// First match from `at` on, the longest of those that begin at the same place.
    fn find(&self, text: &[u8], mut at: usize) -> Option<(usize, usize)> {
        loop {
            at += match &self.strings[..] {
                [x] => memchr::memchr(x[0], &text[at..]),
                [x, y] => memchr::memchr2(x[0], y[0], &text[at..]),
                [x, y, z] => memchr::memchr3(x[0], y[0], z[0], &text[at..]),
                _ => text[at..].iter().position(|&byte| self.begins(byte)),
            }?;
            let longest = self.strings.iter().filter(|s| text[at..].starts_with(s)).map(Vec::len).max();
            if let Some(len) = longest {
                return Some((at, len));
            }
            at += 1;
        }
    }

    fn longest(&self) -> usize {
        self.strings.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// Making an automaton of ten strings takes as long as searching some ten thousand bytes for them (guessed).
const AUTOMATON_FROM_BYTES: usize = 16 * 1024;
/// Up to this many strings, and bytes of them, the automaton may be made later.
const MAX_LATE_STRINGS: usize = 32;
const MAX_LATE_BYTES: usize = 256;

/// Strings that were few and short enough: an automaton of them can be made.
struct Late {
    strings: Strings,
    searched_bytes: AtomicUsize,
    automaton: OnceLock<AhoCorasick>,
}

impl Late {
    fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        // Relaxed: it is a guide only.
        if text.len() - at > AUTOMATON_FROM_BYTES || self.searched_bytes.load(Ordering::Relaxed) > AUTOMATON_FROM_BYTES {
            let made = || automaton(&self.strings.strings).expect("an automaton of few strings");
            return find_many(self.automaton.get_or_init(made), text, at);
        }
        let found = self.strings.find(text, at);
        let end = found.map_or(text.len(), |(start, len)| start + len);
        // Relaxed: it is a guide only.
        self.searched_bytes.fetch_add(end - at, Ordering::Relaxed);
        found
    }
}

fn find_many(automaton: &AhoCorasick, text: &[u8], at: usize) -> Option<(usize, usize)> {
    let found = automaton.find(&text[at..])?;
    Some((at + found.start(), found.len()))
}

impl Resource for Pattern {
    fn type_name(&self) -> &'static str {
        "pattern"
    }
}

impl Pattern {
    /// Bytes of its longest string.
    fn longest(&self) -> usize {
        match self {
            Pattern::Byte(_) => 1,
            Pattern::One(finder) => finder.needle().len(),
            Pattern::Many(automaton) => automaton.max_pattern_len(),
            Pattern::Few(strings) => strings.longest(),
            Pattern::Late(late) => late.strings.longest(),
        }
    }

    /// First match from `at` on, the longest of those that begin at the same place.
    fn find(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        match self {
            Pattern::Byte(byte) => memchr::memchr(*byte, &text[at..]).map(|i| (at + i, 1)),
            Pattern::One(finder) => finder.find(&text[at..]).map(|i| (at + i, finder.needle().len())),
            Pattern::Many(automaton) => find_many(automaton, text, at),
            Pattern::Few(strings) => strings.find(text, at),
            Pattern::Late(late) => late.find(text, at),
        }
    }
}

/// Strings of a pattern argument: a binary or a list of them, none empty.
fn strings(term: Term) -> Option<Vec<Vec<u8>>> {
    let list = if term.is_cons() { list::to_vec(term)? } else { vec![term] };
    list.into_iter().map(|s| Some(bytes::view(s)?.to_vec()).filter(|b| !b.is_empty())).collect()
}

/// With more bytes of strings than this, the table of a state machine takes long to make: it grows with the square of a string that is like
/// itself, as `xyxyxy...`.
const MAX_TABLE_BYTES: usize = 1000;

fn automaton(strings: &[Vec<u8>]) -> Option<AhoCorasick> {
    let mut strings: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    strings.sort_unstable();
    strings.dedup();
    let long = strings.iter().map(|string| string.len()).sum::<usize>() > MAX_TABLE_BYTES;
    let kind = long.then_some(AhoCorasickKind::ContiguousNFA);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(&strings).ok()
}

fn one(string: &[u8]) -> Pattern {
    if let &[byte] = string {
        return Pattern::Byte(byte);
    }
    Pattern::One(Box::new(memmem::Finder::new(string).into_owned()))
}

fn late(strings: Vec<Vec<u8>>) -> Pattern {
    Pattern::Late(Box::new(Late { strings: Strings::new(strings), searched_bytes: AtomicUsize::new(0), automaton: OnceLock::new() }))
}

fn compile_pattern(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(strings) = strings(a[0]) else { return Err(p.badarg()) };
    p.bump(strings.iter().map(Vec::len).sum::<usize>() / 8);
    let (tag, pattern) = match &strings[..] {
        [string] => ("bm", Some(one(string))),
        few if few.len() <= MAX_LATE_STRINGS && few.iter().map(Vec::len).sum::<usize>() <= MAX_LATE_BYTES => ("ac", Some(late(strings))),
        many => ("ac", automaton(many).map(Pattern::Many)),
    };
    let Some(pattern) = pattern else { return Err(p.system_limit()) };
    let reference = atomics::magic(p, Arc::new(pattern));
    Ok(p.heap.tuple(&[Atom::new(tag).into(), reference]))
}

/// Above these sizes an automaton pays even for one search (guessed).
const FEW_STRINGS: usize = 8;
const SHORT_TEXT_BYTES: usize = 16 * 1024;

/// A pattern for one search.
enum Used {
    Compiled(Arc<Pattern>),
    Made(Pattern),
}

impl std::ops::Deref for Used {
    type Target = Pattern;
    fn deref(&self) -> &Pattern {
        match self {
            Used::Compiled(pattern) => pattern,
            Used::Made(pattern) => pattern,
        }
    }
}

/// The pattern that an argument is. A pattern that is made here suits a text of `text_bytes`.
fn pattern(term: Term, text_bytes: usize) -> Option<Used> {
    if let Some(&[tag, reference]) = term.as_tuple() {
        let pattern = args::resource::<Pattern>(reference)?;
        let wanted = if matches!(*pattern, Pattern::Byte(_) | Pattern::One(_)) { "bm" } else { "ac" };
        return (tag.as_atom()?.name() == wanted).then_some(Used::Compiled(pattern));
    }
    if let Some(&[byte]) = bytes::view(term).and_then(|view| view.as_bytes()) {
        return Some(Used::Made(Pattern::Byte(byte)));
    }
    let strings = strings(term)?;
    Some(Used::Made(match &strings[..] {
        [string] => one(string),
        many if many.len() <= FEW_STRINGS && text_bytes <= SHORT_TEXT_BYTES => Pattern::Few(Strings::new(strings)),
        many => Pattern::Many(automaton(many)?),
    }))
}

#[derive(Default)]
struct SearchOptions {
    scope: Option<(usize, usize)>,
    global: bool,
    trim: bool,
    trim_all: bool,
}

fn options(term: Option<&Term>, size: usize, is_split: bool) -> Option<SearchOptions> {
    let mut options = SearchOptions::default();
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

/// The text to search, the part of it, and the options.
struct Search {
    text: BitsView,
    start: usize,
    end: usize,
    options: SearchOptions,
}

fn arguments(p: &mut Process, a: &[Term], is_split: bool) -> Result<Search, Thrown> {
    let Some(text) = bytes::view(a[0]) else { return Err(p.badarg()) };
    let size = (text.size_bits / 8) as usize;
    let Some(options) = options(a.get(2), size, is_split) else { return Err(p.badarg()) };
    let (start, len) = options.scope.unwrap_or((0, size));
    Ok(Search { text, start, end: start + len, options })
}

impl Search {
    /// The first match. It is mostly near, and bytes after it cost nothing. So the search looks in a short part first, then in as
    /// many bytes as a normal scheduler may search, and last on a dirty scheduler.
    fn first(&self, p: &mut Process, strings: Term) -> Result<Option<(usize, usize)>, Thrown> {
        let rest = self.end - self.start;
        let here = rest.min(long::BINARIES.here(rest).saturating_mul(2));
        for part in [here.min(SHORT_TEXT_BYTES), here] {
            let Some(pattern) = pattern(strings, part) else { return Err(p.badarg()) };
            let mut copy = Vec::new();
            let text = bytes::range(self.text, self.start, self.start + part, &mut copy);
            // A longer match may begin where a string does that the end of the part cuts off.
            match pattern.find(text, 0) {
                Some((at, len)) if part == rest || at + pattern.longest() <= part => {
                    long::done(p, (at + len) / 2);
                    return Ok(Some((self.start + at, len)));
                }
                None if part == rest => {
                    long::done(p, rest / 2);
                    return Ok(None);
                }
                _ => {}
            }
        }
        Err(Thrown::DirtyCpu)
    }

    /// All matches.
    fn all(&self, p: &mut Process, strings: Term) -> Result<Vec<(usize, usize)>, Thrown> {
        let len = self.end - self.start;
        let Some(pattern) = pattern(strings, len) else { return Err(p.badarg()) };
        long::BINARIES.work(p, len / 2)?;
        let mut copy = Vec::new();
        let text = bytes::range(self.text, self.start, self.end, &mut copy);
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((from, len)) = pattern.find(text, at) {
            found.push((self.start + from, len));
            at = from + len;
        }
        p.bump(found.len() / 8);
        Ok(found)
    }
}

fn pair(p: &mut Process, (start, len): (usize, usize)) -> Term {
    p.heap.tuple(&[Term::small(start as i64), Term::small(len as i64)])
}

fn match_first(p: &mut Process, a: &[Term]) -> NativeResult {
    match arguments(p, a, false)?.first(p, a[1])? {
        Some(found) => Ok(pair(p, found)),
        None => Ok(Atom::new("nomatch").into()),
    }
}

fn matches(p: &mut Process, a: &[Term]) -> NativeResult {
    let found = arguments(p, a, false)?.all(p, a[1])?;
    let found: Vec<Term> = found.into_iter().map(|m| pair(p, m)).collect();
    Ok(p.heap.list(&found))
}

fn split(p: &mut Process, a: &[Term]) -> NativeResult {
    let search = arguments(p, a, true)?;
    let options = &search.options;
    let first;
    let all;
    let found: &[(usize, usize)] = if options.global {
        all = search.all(p, a[1])?;
        &all
    } else {
        first = search.first(p, a[1])?;
        first.as_slice()
    };
    let size = (search.text.size_bits / 8) as usize;
    let mut parts: SmallVec<[(usize, usize); 2]> = SmallVec::with_capacity(found.len() + 1);
    let mut from = 0;
    for &(start, len) in found {
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
    let terms: SmallVec<[Term; 2]> = parts
        .iter()
        .map(|part| if whole(part) { a[0] } else { slice(&mut p.heap, a[0], part.0 as u64 * 8, (part.1 - part.0) as u64 * 8) })
        .collect();
    Ok(p.heap.list(&terms))
}
