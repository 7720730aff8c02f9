//! Options of `re:compile` and `re:run`.

use heddle_natives::args;
use heddle_term::{Atom, Term, list};
use pcre2_sys::*;

#[derive(Clone, Copy)]
pub struct CompileOptions {
    pub bits: u32,
    pub newline: u32,
    pub bsr: u32,
    /// Options that exclude each other were given.
    pub inconsistent: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    Index,
    List,
    Binary,
}

#[derive(Clone, Copy)]
pub struct RunOptions {
    pub compile: CompileOptions,
    /// A compile option was given that has no meaning for a run.
    pub has_compile: bool,
    /// `newline` or `bsr_*` were given.
    pub has_newline: bool,
    pub has_bsr: bool,
    pub bits: u32,
    pub global: bool,
    pub report_errors: bool,
    pub offset: usize,
    pub match_limit: Option<u32>,
    pub recursion_limit: Option<u32>,
    /// The value of `{capture, Value}`; None for all.
    pub capture: Option<Term>,
    pub shape: Shape,
    /// The third element of `{capture, _, _}` is none of the three.
    pub bad_shape: bool,
}

fn newline(value: Term) -> Option<u32> {
    Some(match value.as_atom()?.name() {
        "cr" => PCRE2_NEWLINE_CR,
        "lf" => PCRE2_NEWLINE_LF,
        "crlf" => PCRE2_NEWLINE_CRLF,
        "any" => PCRE2_NEWLINE_ANY,
        "anycrlf" => PCRE2_NEWLINE_ANYCRLF,
        _ => return None,
    })
}

/// The bit of an option that only `re:compile` has.
fn compile_bit(name: &str) -> Option<u32> {
    Some(match name {
        "unicode" => PCRE2_UTF,
        "caseless" => PCRE2_CASELESS,
        "dollar_endonly" => PCRE2_DOLLAR_ENDONLY,
        "dotall" => PCRE2_DOTALL,
        "extended" => PCRE2_EXTENDED,
        "firstline" => PCRE2_FIRSTLINE,
        "multiline" => PCRE2_MULTILINE,
        "no_auto_capture" => PCRE2_NO_AUTO_CAPTURE,
        "dupnames" => PCRE2_DUPNAMES,
        "ungreedy" => PCRE2_UNGREEDY,
        "no_start_optimize" => PCRE2_NO_START_OPTIMIZE,
        "ucp" => PCRE2_UCP,
        "never_utf" => PCRE2_NEVER_UTF,
        _ => return None,
    })
}

fn run_bit(name: &str) -> Option<u32> {
    Some(match name {
        "notbol" => PCRE2_NOTBOL,
        "noteol" => PCRE2_NOTEOL,
        "notempty" => PCRE2_NOTEMPTY,
        "notempty_atstart" => PCRE2_NOTEMPTY_ATSTART,
        _ => return None,
    })
}

impl RunOptions {
    fn new() -> RunOptions {
        RunOptions {
            compile: CompileOptions { bits: 0, newline: PCRE2_NEWLINE_LF, bsr: PCRE2_BSR_UNICODE, inconsistent: false },
            has_compile: false,
            has_newline: false,
            has_bsr: false,
            bits: 0,
            global: false,
            report_errors: false,
            offset: 0,
            match_limit: None,
            recursion_limit: None,
            capture: None,
            shape: Shape::Index,
            bad_shape: false,
        }
    }

    fn atom(&mut self, name: &str) -> Option<()> {
        if let Some(bit) = compile_bit(name) {
            self.compile.bits |= bit;
            self.has_compile = true;
        } else if let Some(bit) = run_bit(name) {
            self.bits |= bit;
        } else {
            match name {
                "anchored" => {
                    self.compile.bits |= PCRE2_ANCHORED;
                    self.bits |= PCRE2_ANCHORED;
                }
                "bsr_anycrlf" | "bsr_unicode" => {
                    let bsr = if name == "bsr_unicode" { PCRE2_BSR_UNICODE } else { PCRE2_BSR_ANYCRLF };
                    self.compile.inconsistent |= self.has_bsr && self.compile.bsr != bsr;
                    self.compile.bsr = bsr;
                    self.has_bsr = true;
                }
                "global" => self.global = true,
                "report_errors" => self.report_errors = true,
                _ => return None,
            }
        }
        Some(())
    }

    fn pair(&mut self, name: Atom, value: Term) -> Option<()> {
        let limit = |value: Term| args::count(value).map(|n| n.min(u32::MAX as usize) as u32);
        match name.name() {
            "newline" => {
                // Several of them add up, to another one or to none.
                self.compile.newline = newline(value)? | if self.has_newline { self.compile.newline } else { 0 };
                self.compile.inconsistent |= self.compile.newline > PCRE2_NEWLINE_ANYCRLF;
                self.has_newline = true;
            }
            "offset" => self.offset = args::count(value)?,
            "match_limit" => self.match_limit = Some(limit(value)?),
            "match_limit_recursion" => self.recursion_limit = Some(limit(value)?),
            // Only the last option counts, also for the shape.
            "capture" => (self.capture, self.shape) = (Some(value), Shape::Index),
            _ => return None,
        }
        Some(())
    }
}

/// Options of a run with a pattern that may still have to be compiled; None for anything unknown.
pub fn run_options(term: Term) -> Option<RunOptions> {
    let mut options = RunOptions::new();
    for option in list::to_vec(term)? {
        if let Some(name) = option.as_atom() {
            options.atom(name.name())?;
        } else if let Some((name, value)) = args::option(option) {
            options.pair(name, value)?;
        } else if let Some(&[name, value, shape]) = option.as_tuple() {
            if !name.is_atom_of(Atom::new("capture")) {
                return None;
            }
            options.capture = Some(value);
            match shape.as_atom().map(Atom::name) {
                Some("index") => options.shape = Shape::Index,
                Some("list") => options.shape = Shape::List,
                Some("binary") => options.shape = Shape::Binary,
                _ => options.bad_shape = true,
            }
        } else {
            return None;
        }
    }
    Some(options)
}

/// Options of `re:compile/2`.
pub fn compile_options(term: Term) -> Option<CompileOptions> {
    let mut options = RunOptions::new();
    for option in list::to_vec(term)? {
        match option.as_atom() {
            Some(name) => {
                if run_bit(name.name()).is_some() || matches!(name.name(), "global" | "report_errors") {
                    return None;
                }
                options.atom(name.name())?;
            }
            None => {
                let (name, value) = args::option(option)?;
                if name.name() != "newline" {
                    return None;
                }
                options.pair(name, value)?;
            }
        }
    }
    Some(options.compile)
}

/// What `{capture, Value}` asks for.
pub enum Capture {
    All,
    AllButFirst,
    First,
    AllNames,
    None,
    Chosen(Vec<Term>),
}

pub fn capture(value: Option<Term>) -> Option<Capture> {
    let Some(value) = value else { return Some(Capture::All) };
    if value.is_nil() {
        return Some(Capture::None);
    }
    if value.is_cons() {
        return list::to_vec(value).map(Capture::Chosen);
    }
    Some(match value.as_atom()?.name() {
        "all" => Capture::All,
        "all_but_first" => Capture::AllButFirst,
        "first" => Capture::First,
        "all_names" => Capture::AllNames,
        "none" => Capture::None,
        _ => return None,
    })
}
