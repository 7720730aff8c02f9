//! Compiled patterns: safe functions around the library's code, and the cache of each thread.
//!
//! A pattern that Erlang holds is a binary of its source and options (`Source`). Each thread compiles what it runs and keeps it.

use super::errors::{self, Verdict};
use super::latin1;
use super::predecessor::{self, Translated};
use pcre2_sys::*;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

/// What a pattern is made from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Source {
    /// Compile options of the library.
    pub options: u32,
    pub newline: u32,
    pub bsr: u32,
    pub text: Vec<u8>,
}

const MAGIC: &[u8; 4] = b"HRE1";
const HEADER_BYTES: usize = 4 + 4 + 1 + 1;

impl Source {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES + self.text.len());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.options.to_be_bytes());
        out.extend_from_slice(&[self.newline as u8, self.bsr as u8]);
        out.extend_from_slice(&self.text);
        out
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Source> {
        let [m0, m1, m2, m3, o0, o1, o2, o3, newline, bsr, text @ ..] = bytes else { return None };
        let options = u32::from_be_bytes([*o0, *o1, *o2, *o3]);
        ([*m0, *m1, *m2, *m3] == *MAGIC).then(|| Source { options, newline: *newline as u32, bsr: *bsr as u32, text: text.to_vec() })
    }

    pub fn is_unicode(&self) -> bool {
        self.options & PCRE2_UTF != 0
    }

    /// True where an empty match may stand between CR and LF that belong together.
    pub fn uses_crlf(&self) -> bool {
        matches!(self.newline, PCRE2_NEWLINE_CRLF | PCRE2_NEWLINE_ANY | PCRE2_NEWLINE_ANYCRLF)
    }
}

pub struct CompileError {
    pub text: String,
    pub at: usize,
}

/// Why a match ended without a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchError {
    NoMatch,
    MatchLimit,
    RecursionLimit,
    /// The match looked at the end of the part of the subject, so the bytes after it decide.
    Partial,
    /// The subject or the offset is not valid.
    Bad,
}

pub struct Code {
    code: NonNull<pcre2_code_8>,
    data: NonNull<pcre2_match_data_8>,
    context: NonNull<pcre2_match_context_8>,
    pub captures: usize,
    /// A match may only begin at the offset.
    pub anchored: bool,
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the three were made by the library and are freed once.
        unsafe {
            pcre2_match_context_free_8(self.context.as_ptr());
            pcre2_match_data_free_8(self.data.as_ptr());
            pcre2_code_free_8(self.code.as_ptr());
        }
    }
}

/// The text with the name that PCRE2 has for `(*UTF8)` at the start.
fn modern(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match text.strip_prefix(b"(*UTF8)") {
        Some(rest) => [b"(*UTF)", rest].concat().into(),
        None => text.into(),
    }
}

/// The error, or what the predecessor refused before it.
fn first_of(translated: &Translated, error: CompileError) -> CompileError {
    match translated.refused {
        // The predecessor checks the order of the numbers before it checks what they repeat.
        Some((at, words)) if at < error.at || at == error.at && words != errors::NOTHING_TO_REPEAT => {
            CompileError { text: words.into(), at }
        }
        _ => error,
    }
}

impl Code {
    pub fn compile(source: &Source) -> Result<Code, CompileError> {
        let translated =
            predecessor::translate(&source.text, source.options & PCRE2_NO_AUTO_CAPTURE == 0, source.options & PCRE2_EXTENDED != 0);
        let mut text = modern(&translated.text).into_owned();
        // Places of errors lie in the translated pattern.
        let mut shift = translated.text.len() as isize - text.len() as isize;
        let original = |at: usize, shift: isize| translated.original(if at == 0 { 0 } else { at.saturating_add_signed(shift) });
        // The predecessor looks for references without a group last, when it is at the end.
        let mut no_group = None;
        let code = loop {
            let (error, at) = match library_compile(source, &text) {
                Ok(code) => break code,
                Err(error) => error,
            };
            if error < 100 {
                return Err(CompileError { text: "invalid UTF-8 string".into(), at: translated.original(at) });
            }
            match errors::judge(&text, error, at) {
                Verdict::Mend { at, removed, inserted } => {
                    text.splice(at..at + removed, inserted.iter().copied());
                    shift += removed as isize - inserted.len() as isize;
                }
                Verdict::Later { at, removed, inserted, words } => {
                    text.splice(at..at + removed, inserted.iter().copied());
                    shift += removed as isize - inserted.len() as isize;
                    no_group = Some(words);
                }
                Verdict::Error(words, at) => {
                    let text = words.map_or_else(|| message(error), str::to_owned);
                    return Err(first_of(&translated, CompileError { text, at: original(at, shift) }));
                }
            }
        };
        if let Some(words) = no_group {
            // SAFETY: the library made the code, and nothing else refers to it.
            unsafe { pcre2_code_free_8(code.as_ptr()) };
            return Err(first_of(&translated, CompileError { text: words.into(), at: source.text.len() }));
        }
        if let Some((at, words)) = translated.refused {
            // SAFETY: the library made the code, and nothing else refers to it.
            unsafe { pcre2_code_free_8(code.as_ptr()) };
            return Err(CompileError { text: words.into(), at });
        }
        let code = Code::new(code)?;
        match code.names().iter().find(|name| name.0.len() > errors::MAX_NAME_BYTES) {
            Some((name, _)) => {
                let at = memchr::memmem::find(&source.text, name).map_or(0, |start| start + name.len());
                Err(CompileError { text: errors::LONG_NAME.into(), at })
            }
            None => Ok(code),
        }
    }

    fn new(code: NonNull<pcre2_code_8>) -> Result<Code, CompileError> {
        // SAFETY: the code is live; out pointers have the types that the items want.
        unsafe {
            let data = NonNull::new(pcre2_match_data_create_from_pattern_8(code.as_ptr(), null_mut()));
            let context = NonNull::new(pcre2_match_context_create_8(null_mut()));
            let (mut captures, mut options) = (0u32, 0u32);
            pcre2_pattern_info_8(code.as_ptr(), PCRE2_INFO_CAPTURECOUNT, (&raw mut captures).cast());
            pcre2_pattern_info_8(code.as_ptr(), PCRE2_INFO_ALLOPTIONS, (&raw mut options).cast());
            let anchored = options & PCRE2_ANCHORED != 0;
            match (data, context) {
                (Some(data), Some(context)) => Ok(Code { code, data, context, captures: captures as usize, anchored }),
                _ => Err(CompileError { text: "failed to get memory".into(), at: 0 }),
            }
        }
    }

    /// Names in alphabetic order with the numbers of their groups (a name may come more than once).
    pub fn names(&self) -> Vec<(Vec<u8>, usize)> {
        let (mut count, mut entry_bytes, mut table) = (0u32, 0u32, null_mut::<u8>());
        // SAFETY: as above; the table has `count` entries of `entry_bytes`: number (two bytes), name, zero.
        unsafe {
            pcre2_pattern_info_8(self.code.as_ptr(), PCRE2_INFO_NAMECOUNT, (&raw mut count).cast());
            pcre2_pattern_info_8(self.code.as_ptr(), PCRE2_INFO_NAMEENTRYSIZE, (&raw mut entry_bytes).cast());
            pcre2_pattern_info_8(self.code.as_ptr(), PCRE2_INFO_NAMETABLE, (&raw mut table).cast());
            let entry = |i: usize| std::slice::from_raw_parts(table.add(i * entry_bytes as usize), entry_bytes as usize);
            (0..count as usize)
                .map(|i| {
                    let entry = entry(i);
                    let name = entry[2..].iter().take_while(|&&b| b != 0).copied().collect();
                    (name, (entry[0] as usize) << 8 | entry[1] as usize)
                })
                .collect()
        }
    }

    /// The groups up to the last that took part: start and end, or None for one that did not.
    pub fn run(&self, subject: &[u8], offset: usize, options: u32, limits: Limits) -> Result<Vec<Option<(usize, usize)>>, MatchError> {
        // SAFETY: all pointers are live; the subject is a slice of that length. Codes are used by one thread only.
        let result = unsafe {
            pcre2_set_match_limit_8(self.context.as_ptr(), limits.matches);
            pcre2_set_depth_limit_8(self.context.as_ptr(), limits.depth);
            pcre2_match_8(self.code.as_ptr(), subject.as_ptr(), subject.len(), offset, options, self.data.as_ptr(), self.context.as_ptr())
        };
        match result {
            PCRE2_ERROR_NOMATCH => Err(MatchError::NoMatch),
            PCRE2_ERROR_PARTIAL => Err(MatchError::Partial),
            PCRE2_ERROR_MATCHLIMIT => Err(MatchError::MatchLimit),
            PCRE2_ERROR_DEPTHLIMIT | PCRE2_ERROR_HEAPLIMIT => Err(MatchError::RecursionLimit),
            count if count > 0 => {
                // SAFETY: the vector holds that many pairs.
                let pairs = unsafe { std::slice::from_raw_parts(pcre2_get_ovector_pointer_8(self.data.as_ptr()), 2 * count as usize) };
                Ok(pairs.chunks_exact(2).map(|p| (p[0] != PCRE2_UNSET).then_some((p[0], p[1].max(p[0])))).collect())
            }
            _ => Err(MatchError::Bad),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Limits {
    pub matches: u32,
    pub depth: u32,
}

/// The bytes that the library lets a match of `\w` start with, in UTF mode, leave out what our tables call letters above 127.
fn misses_start(options: u32, text: &[u8]) -> bool {
    options & (PCRE2_UTF | PCRE2_UCP) == PCRE2_UTF && memchr::memmem::find(text, b"\\w").is_some()
}

/// Groups within groups that stock's library has room for.
const MAX_NESTED: u32 = 798;

/// The library's code, or its error and the place.
fn library_compile(source: &Source, text: &[u8]) -> Result<NonNull<pcre2_code_8>, (i32, usize)> {
    let (mut error, mut at) = (0, 0);
    // SAFETY: the pattern is a slice of that length; the context lives over the call.
    let code = unsafe {
        let context = pcre2_compile_context_create_8(null_mut());
        pcre2_set_newline_8(context, source.newline);
        pcre2_set_bsr_8(context, source.bsr);
        // As in the predecessor, \K may be in an assertion, and a lookbehind has a fixed length.
        pcre2_set_compile_extra_options_8(context, PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK);
        pcre2_set_max_varlookbehind_8(context, 0);
        pcre2_set_character_tables_8(context, latin1::tables());
        pcre2_set_parens_nest_limit_8(context, MAX_NESTED);
        let options = source.options | if misses_start(source.options, text) { PCRE2_NO_START_OPTIMIZE } else { 0 };
        let code = pcre2_compile_8(text.as_ptr(), text.len(), options, &mut error, &mut at, context);
        pcre2_compile_context_free_8(context);
        code
    };
    NonNull::new(code).ok_or((error, at))
}

/// The library's own text for an error.
fn message(code: i32) -> String {
    let mut buffer = [0u8; 256];
    // SAFETY: the buffer has that size.
    let len = unsafe { pcre2_get_error_message_8(code, buffer.as_mut_ptr(), buffer.len()) };
    String::from_utf8_lossy(&buffer[..len.max(0) as usize]).into_owned()
}

/// Most patterns that a thread keeps.
const CACHE_SIZE: usize = 256;

thread_local! {
    static CACHE: RefCell<HashMap<Source, Rc<Code>, foldhash::fast::FixedState>> = RefCell::default();
}

/// The code of a source, from the cache if it is there.
pub fn get(source: &Source) -> Result<Rc<Code>, CompileError> {
    if let Some(code) = CACHE.with_borrow(|cache| cache.get(source).cloned()) {
        return Ok(code);
    }
    let code = Rc::new(Code::compile(source)?);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= CACHE_SIZE {
            cache.clear();
        }
        cache.insert(source.clone(), code.clone());
    });
    Ok(code)
}
