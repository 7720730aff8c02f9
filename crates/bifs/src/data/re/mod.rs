//! Module `re`: regular expressions.

mod code;
mod errors;
mod latin1;
mod options;
mod predecessor;

use super::bytes;
use code::{Code, CompileError, Limits, MatchError, Source};
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::sched;
use heddle_term::{Atom, Term, am, list};
use options::{Capture, RunOptions, Shape};
use pcre2_sys::{PCRE2_ANCHORED, PCRE2_NO_UTF_CHECK, PCRE2_PARTIAL_HARD};
use std::rc::Rc;

heddle_runtime::natives! { TABLE:
    "re" => {
        "compile"/1 => compile,
        "compile"/2 => compile,
        "run"/2 => run,
        "run"/3 => run,
        "internal_run"/4 => internal_run,
        "inspect"/2 => inspect,
        "version"/0 => version,
    }
}

/// The version that programs are told: the release of the library whose syntax and error texts are those of OTP 27, with the day of the library that
/// is here. It must be none that stock has: Elixir keeps what `re:compile` returned in modules, with the version, and compiles again if that differs.
const VERSION: &[u8] = b"8.45 2025-08-27";

fn version(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.binary(VERSION))
}

fn re() -> Atom {
    Atom::new("re")
}

fn badopt(p: &mut Process) -> Thrown {
    p.badarg_cause(Atom::new("badopt"))
}

fn io_bytes(data: Term) -> Option<Vec<u8>> {
    if data.is_list() { list::iolist_to_vec(data).ok() } else { bytes::view(data).map(|v| v.to_vec()) }
}

fn compile(p: &mut Process, a: &[Term]) -> NativeResult {
    let options_term = a.get(1).copied().unwrap_or(Term::NIL);
    let Some(options) = options::compile_options(options_term) else { return Err(badopt(p)) };
    if options.bits & pcre2_sys::PCRE2_UTF != 0 && !a[0].is_binary() {
        return Err(p.trap_to(re(), Atom::new("ucompile"), &[a[0], options_term]));
    }
    let Some(text) = io_bytes(a[0]) else { return Err(p.badarg()) };
    p.bump(text.len() / 4);
    match compiled(text, &options) {
        Ok((source, code)) => {
            let pattern = pattern_term(p, &source, &code);
            Ok(p.heap.tuple(&[am::OK.into(), pattern]))
        }
        Err(error) => {
            let error = error_term(p, error);
            Ok(p.heap.tuple(&[am::ERROR.into(), error]))
        }
    }
}

fn compiled(mut text: Vec<u8>, options: &options::CompileOptions) -> Result<(Source, Rc<Code>), CompileError> {
    if options.inconsistent {
        return Err(CompileError { text: "inconsistent NEWLINE options".into(), at: 0 });
    }
    // Stock's library takes a zero for the end of the pattern.
    if let Some(end) = text.iter().position(|&byte| byte == 0) {
        text.truncate(end);
    }
    let source = Source { options: options.bits, newline: options.newline, bsr: options.bsr, text };
    let code = code::get(&source)?;
    Ok((source, code))
}

fn pattern_term(p: &mut Process, source: &Source, code: &Code) -> Term {
    let binary = p.heap.binary(&source.to_bytes());
    let flag = |b: bool| Term::small(b as i64);
    p.heap.tuple(&[
        Atom::new("re_pattern").into(),
        Term::small(code.captures as i64),
        flag(source.is_unicode()),
        flag(source.uses_crlf()),
        binary,
    ])
}

fn error_term(p: &mut Process, error: CompileError) -> Term {
    let text = p.heap.string(&error.text);
    p.heap.tuple(&[text, Term::small(error.at as i64)])
}

/// The source of a compiled pattern; None if the term is something else.
fn source_of(term: Term) -> Option<Source> {
    match term.as_tuple() {
        Some(&[tag, _, _, _, binary]) if tag.is_atom_of(Atom::new("re_pattern")) => {
            Source::from_bytes(bytes::bytes(binary, &mut Vec::new())?)
        }
        _ => None,
    }
}

fn inspect(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(code) = source_of(a[0]).and_then(|s| code::get(&s).ok()) else { return Err(p.badarg()) };
    if !a[1].is_atom_of(Atom::new("namelist")) {
        return Err(p.badarg());
    }
    let mut names: Vec<Vec<u8>> = code.names().into_iter().map(|n| n.0).collect();
    names.dedup();
    let names: Vec<Term> = names.iter().map(|name| p.heap.binary(name)).collect();
    let names = p.heap.list(&names);
    Ok(p.heap.tuple(&[a[1], names]))
}

fn run(p: &mut Process, a: &[Term]) -> NativeResult {
    execute(p, a, true)
}

/// As run/3. The fourth argument is true if the subject is seen for the first time.
fn internal_run(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(first) = heddle_natives::args::boolean(a[3]) else { return Err(p.badarg()) };
    execute(p, &a[..3], first)
}

fn execute(p: &mut Process, a: &[Term], first: bool) -> NativeResult {
    let options_term = a.get(2).copied().unwrap_or(Term::NIL);
    let Some(options) = options::run_options(options_term) else { return Err(badopt(p)) };
    let (subject, pattern) = (a[0], a[1]);
    let precompiled = source_of(pattern);
    let unicode = match &precompiled {
        Some(source) => source.is_unicode(),
        None => options.compile.bits & pcre2_sys::PCRE2_UTF != 0,
    };
    if precompiled.is_some() && (options.has_compile || options.compile.inconsistent) {
        return Err(p.badarg());
    }
    let is_new = precompiled.is_none();
    if is_new && !(pattern.is_cons() || pattern.is_nil() || pattern.is_bitstring()) {
        return Err(p.badarg());
    }
    // Erlang code turns characters into UTF-8, and UTF-8 into lists of characters. It also judges what is no text.
    let is_text = |term: Term| !term.is_bitstring();
    let gives_text = !options.global && matches!(options.shape, Shape::List);
    if unicode && (is_text(subject) || (is_new && is_text(pattern)) || gives_text) {
        return Err(p.trap_to(re(), Atom::new("urun"), &[subject, pattern, options_term]));
    }
    let (source, code) = match precompiled {
        Some(source) => {
            let source = with_run_options(source, &options);
            match code::get(&source) {
                Ok(code) => (source, code),
                Err(_) => return Err(p.badarg()),
            }
        }
        None => {
            let Some(text) = io_bytes(pattern) else { return Err(p.badarg()) };
            match compiled(text, &options.compile) {
                Ok(compiled) => compiled,
                Err(error) if options.report_errors => {
                    let error = error_term(p, error);
                    let error = p.heap.tuple(&[Atom::new("compile").into(), error]);
                    return Ok(p.heap.tuple(&[am::ERROR.into(), error]));
                }
                Err(_) => return Err(p.badarg()),
            }
        }
    };
    if options.global {
        let term = if is_new { pattern_term(p, &source, &code) } else { pattern };
        let options = if is_new {
            p.heap.tuple(&[options_term, Term::bool(true), pattern])
        } else {
            p.heap.tuple(&[options_term, Term::bool(false)])
        };
        return Err(p.trap_to(re(), Atom::new("grun"), &[subject, term, options]));
    }
    let Some(capture) = options::capture(options.capture).filter(|_| !options.bad_shape) else { return Err(p.badarg()) };
    let copy;
    let (subject, term): (&[u8], Option<Term>) = match bytes::view(subject).and_then(|v| v.as_bytes()) {
        Some(bytes) => (bytes, Some(subject)),
        None => match io_bytes(subject) {
            Some(bytes) => {
                copy = bytes;
                (&copy, None)
            }
            None => return Err(p.badarg()),
        },
    };
    if options.offset > subject.len() {
        return Err(p.badarg());
    }
    let checked = !(first && unicode);
    if !checked {
        // Stock looks at all of a subject that it sees first, wherever the match begins.
        long::MATCHING.work(p, subject.len() / 8)?;
        if std::str::from_utf8(subject).is_err() || !is_character_start(subject, options.offset) {
            return Err(p.badarg());
        }
    }
    let found = match match_once(p, &code, subject, &options) {
        Outcome::Found(groups) => groups,
        Outcome::Elsewhere => return Err(Thrown::DirtyCpu),
        Outcome::Failed(MatchError::Bad) => return Err(p.badarg()),
        Outcome::Failed(error) => {
            let reason = match error {
                MatchError::MatchLimit if options.report_errors => "match_limit",
                MatchError::RecursionLimit if options.report_errors => "match_limit_recursion",
                _ => return Ok(Atom::new("nomatch").into()),
            };
            return Ok(p.heap.tuple(&[am::ERROR.into(), Atom::new(reason).into()]));
        }
    };
    let answer = Answer { subject, term, shape: options.shape, code: &code, found };
    answer.term(p, &capture)
}

/// The source with the options of a run: other newlines make another pattern.
fn with_run_options(mut source: Source, options: &RunOptions) -> Source {
    if options.has_newline {
        source.newline = options.compile.newline;
    }
    if options.has_bsr {
        source.bsr = options.compile.bsr;
    }
    source
}

enum Outcome {
    Found(Vec<Option<(usize, usize)>>),
    Failed(MatchError),
    /// The match takes long, and must be done on a dirty scheduler.
    Elsewhere,
}

/// The limits with which stock's library is built.
const DEFAULT_LIMIT: u32 = 10_000_000;
/// Steps of matching that a normal scheduler does at one go (some 10 ns each).
const HERE_LIMIT: u32 = 50_000;

/// Bytes after the offset in which a normal scheduler looks for a match.
const HERE_BYTES: usize = 64 * 1024;

/// Looks for a match. Bytes after the match cost nothing: a normal scheduler searches the first part of a long subject only, with the
/// library's hard partial matching, which finds a match if no byte after that part can change it. If it finds none, a dirty scheduler
/// searches the whole subject.
fn match_once(p: &mut Process, code: &Code, subject: &[u8], options: &RunOptions) -> Outcome {
    // UTF-8 was checked before.
    let bits = options.bits | PCRE2_NO_UTF_CHECK;
    let matches = options.match_limit.unwrap_or(DEFAULT_LIMIT);
    let depth = options.recursion_limit.unwrap_or(DEFAULT_LIMIT);
    let here = if sched::on_dirty_thread() { matches } else { matches.min(long::MATCHING.at_most(HERE_LIMIT as usize) as u32) };
    let limits = Limits { matches: here, depth };
    let rest = subject.len() - options.offset;
    if !sched::on_dirty_thread() && rest > long::MATCHING.at_most(HERE_BYTES) {
        let end = part_end(subject, options.offset + long::MATCHING.at_most(HERE_BYTES));
        return match code.run(&subject[..end], options.offset, bits | PCRE2_PARTIAL_HARD, limits) {
            // A match that ends before the end of the part depends on no byte after the part. One that ends there may.
            Ok(groups) if groups[0].is_some_and(|(from, to)| from.max(to) < end) => {
                count_work(p, &groups, options.offset);
                Outcome::Found(groups)
            }
            Err(MatchError::NoMatch) if code.anchored || options.bits & PCRE2_ANCHORED != 0 => Outcome::Failed(MatchError::NoMatch),
            _ => Outcome::Elsewhere,
        };
    }
    match code.run(subject, options.offset, bits, limits) {
        Ok(groups) => {
            count_work(p, &groups, options.offset);
            Outcome::Found(groups)
        }
        Err(MatchError::MatchLimit) if here < matches => Outcome::Elsewhere,
        Err(error) => {
            long::done(p, rest);
            Outcome::Failed(error)
        }
    }
}

/// Counts the work of a match: as many bytes as there are up to its end.
fn count_work(p: &mut Process, groups: &[Option<(usize, usize)>], offset: usize) {
    long::done(p, groups[0].map_or(0, |(_, to)| to.saturating_sub(offset)));
}

/// True unless a character of UTF-8 goes on at this place.
fn is_character_start(subject: &[u8], at: usize) -> bool {
    subject.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

/// The next place from `at` on that is not within a character, if the subject is UTF-8.
fn part_end(subject: &[u8], at: usize) -> usize {
    // A character has three such bytes at most; other subjects may be cut anywhere.
    (at..at + 4).find(|&at| is_character_start(subject, at)).unwrap_or(at)
}

struct Answer<'a> {
    subject: &'a [u8],
    /// The subject, if it is a binary.
    term: Option<Term>,
    shape: Shape,
    code: &'a Code,
    found: Vec<Option<(usize, usize)>>,
}

impl Answer<'_> {
    fn term(&self, p: &mut Process, capture: &Capture) -> NativeResult {
        let groups: Vec<Option<(usize, usize)>> = match capture {
            Capture::None => return Ok(Atom::new("match").into()),
            Capture::All => self.found.clone(),
            Capture::AllButFirst => self.found[1..].to_vec(),
            Capture::First => self.found[..1].to_vec(),
            Capture::AllNames => {
                let mut names: Vec<Vec<u8>> = self.code.names().into_iter().map(|n| n.0).collect();
                names.dedup();
                if names.is_empty() {
                    return Ok(Atom::new("match").into());
                }
                names.iter().map(|name| self.named(name)).collect()
            }
            Capture::Chosen(ids) => {
                let chosen: Option<Vec<_>> = ids.iter().map(|&id| self.chosen(id)).collect();
                match chosen {
                    Some(groups) => groups,
                    None => return Err(p.badarg()),
                }
            }
        };
        let terms: Vec<Term> = groups.into_iter().map(|group| self.group(p, group)).collect();
        let list = p.heap.list(&terms);
        Ok(p.heap.tuple(&[Atom::new("match").into(), list]))
    }

    /// The first group of this name that took part.
    fn named(&self, name: &[u8]) -> Option<(usize, usize)> {
        self.code.names().iter().filter(|n| n.0 == name).find_map(|n| self.number(n.1))
    }

    fn number(&self, number: usize) -> Option<(usize, usize)> {
        self.found.get(number).copied().flatten()
    }

    /// The group that an element of a capture list names; None if it is no name.
    fn chosen(&self, id: Term) -> Option<Option<(usize, usize)>> {
        if let Some(number) = id.as_small() {
            return Some(self.number(usize::try_from(number).ok()?));
        }
        if let Some(atom) = id.as_atom() {
            return Some(self.named(atom.name().as_bytes()));
        }
        let name = if id.is_cons() { io_bytes(id)? } else { bytes::view(id)?.to_vec() };
        Some(self.named(&name))
    }

    fn group(&self, p: &mut Process, group: Option<(usize, usize)>) -> Term {
        let (start, end) = group.unwrap_or((0, 0));
        match self.shape {
            Shape::Index => {
                let start = if group.is_some() { start as i64 } else { -1 };
                p.heap.tuple(&[Term::small(start), Term::small((end - group.map_or(0, |g| g.0)) as i64)])
            }
            Shape::Binary => match self.term {
                Some(whole) => bytes::slice(&mut p.heap, whole, start as u64 * 8, (end - start) as u64 * 8),
                None => p.heap.binary(&self.subject[start..end]),
            },
            Shape::List => {
                // Text is made of bytes before (`urun`).
                p.heap.byte_list(&self.subject[start..end])
            }
        }
    }
}
