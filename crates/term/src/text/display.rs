//! Terms as `erlang:display/1` prints them. Strings come out as their Latin-1 bytes and atoms as UTF-8, as in stock, so the
//! result is bytes.

use crate::atom::Atom;
use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::map::MapIter;
use crate::term::Term;
use std::io::Write;

pub fn display(term: Term) -> Vec<u8> {
    let mut out = Vec::new();
    write_term(&mut out, term, usize::MAX);
    out
}

/// As `display`, for logs and dumps.
pub fn to_string(term: Term) -> String {
    String::from_utf8_lossy(&display(term)).into_owned()
}

/// As `to_string`, cut off with `...` soon after `limit` bytes.
pub fn to_string_limited(term: Term, limit: usize) -> String {
    let mut out = Vec::new();
    write_term(&mut out, term, limit);
    String::from_utf8_lossy(&out).into_owned()
}

/// `<0.N.S>` for pids, `#Port<0.N>`, `#Ref<0.C.B.A>`: as `pid_to_list` and its like. None for other terms.
pub fn identifier(term: Term) -> Option<String> {
    let mut out = Vec::new();
    if term.is_pid() || term.is_port() || term.is_reference() {
        write_identifier(&mut out, term);
        return String::from_utf8(out).ok();
    }
    None
}

/// Text of an atom with quotes where display puts them.
pub fn atom(atom: Atom) -> String {
    let mut out = Vec::new();
    write_atom(&mut out, atom);
    String::from_utf8_lossy(&out).into_owned()
}

enum Work {
    Term(Term),
    Text(&'static str),
    /// The rest of a list after its first element.
    Tail(Term),
    /// Elements of a tuple still to come.
    Run(*const Term, usize),
    Pairs(MapIter<'static>, bool),
}

fn write_term(out: &mut Vec<u8>, term: Term, limit: usize) {
    let mut stack = vec![Work::Term(term)];
    while let Some(work) = stack.pop() {
        if out.len() > limit {
            out.extend_from_slice(b"...");
            return;
        }
        match work {
            Work::Text(text) => out.extend_from_slice(text.as_bytes()),
            Work::Tail(rest) => {
                if rest.is_nil() {
                    out.push(b']');
                } else if rest.is_cons() {
                    out.push(b',');
                    stack.push(Work::Tail(rest.tail()));
                    stack.push(Work::Term(rest.head()));
                } else {
                    out.push(b'|');
                    stack.push(Work::Text("]"));
                    stack.push(Work::Term(rest));
                }
            }
            Work::Run(_, 0) => out.push(b'}'),
            Work::Run(at, left) => {
                out.push(b',');
                stack.push(Work::Run(at.wrapping_add(1), left - 1));
                // SAFETY: the run has `left` terms.
                stack.push(Work::Term(unsafe { *at }));
            }
            Work::Pairs(mut pairs, first) => match pairs.next() {
                None => out.push(b'}'),
                Some((key, value)) => {
                    if !first {
                        out.push(b',');
                    }
                    stack.push(Work::Pairs(pairs, false));
                    stack.push(Work::Term(value));
                    stack.push(Work::Text("=>"));
                    stack.push(Work::Term(key));
                }
            },
            Work::Term(term) => one(out, term, &mut stack),
        }
    }
}

fn one(out: &mut Vec<u8>, term: Term, stack: &mut Vec<Work>) {
    if term.is_cons() {
        if is_string(term) {
            return write_string(out, term);
        }
        out.push(b'[');
        stack.push(Work::Tail(term.tail()));
        stack.push(Work::Term(term.head()));
        return;
    }
    let Some(kind) = term.kind() else { return immediate(out, term) };
    match kind {
        Kind::Tuple => {
            out.push(b'{');
            match term.as_tuple() {
                Some([first, rest @ ..]) => {
                    stack.push(Work::Run(rest.as_ptr(), rest.len()));
                    stack.push(Work::Term(*first));
                }
                _ => out.push(b'}'),
            }
        }
        Kind::FlatMap | Kind::HashMap => {
            out.extend_from_slice(b"#{");
            stack.push(Work::Pairs(MapIter::new(term), true));
        }
        _ => boxed_leaf(out, term, kind),
    }
}

fn immediate(out: &mut Vec<u8>, term: Term) {
    if let Some(value) = term.as_small() {
        put(out, format_args!("{value}"));
    } else if let Some(atom) = term.as_atom() {
        write_atom(out, atom);
    } else if term.is_nil() {
        out.extend_from_slice(b"[]");
    } else if term.is_pid() || term.is_port() {
        write_identifier(out, term);
    } else if term.is_none() {
        out.extend_from_slice(b"<none>");
    } else {
        put(out, format_args!("<word {:#x}>", term.raw()));
    }
}

fn boxed_leaf(out: &mut Vec<u8>, term: Term, kind: Kind) {
    match kind {
        Kind::PosBig | Kind::NegBig => out.extend_from_slice(crate::big::to_text(term, 10).as_bytes()),
        Kind::Float => out.extend_from_slice(super::float::scientific(f64::from_bits(term.word(0)), 6).as_bytes()),
        Kind::HeapBits | Kind::BinRef | Kind::SubBits => write_bits(out, term),
        Kind::Fun => {
            let entry = fun::entry(term);
            out.extend_from_slice(b"#Fun<");
            write_atom(out, entry.module);
            put(out, format_args!(".{}.{}>", entry.index, entry.old_uniq));
        }
        Kind::ExportFun => {
            let mfa = fun::export(term).mfa;
            out.extend_from_slice(b"fun ");
            write_atom(out, mfa.module);
            out.push(b':');
            write_atom(out, mfa.function);
            put(out, format_args!("/{}", mfa.arity));
        }
        Kind::Ref | Kind::MagicRef | Kind::ExtRef | Kind::ExtPid | Kind::ExtPort => write_identifier(out, term),
        other => put(out, format_args!("<{other:?} {:#x}>", term.raw())),
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}

/// 0 for this node, else a number that stands for the other one.
fn channel(node: Atom, creation: u32) -> u32 {
    if (node, creation) == crate::node::current() { 0 } else { node.index() }
}

fn write_identifier(out: &mut Vec<u8>, term: Term) {
    if let Some(pid) = PidView::of(term) {
        put(out, format_args!("<{}.{}.{}>", channel(pid.node, pid.creation), pid.number, pid.serial));
    } else if let Some(port) = PortView::of(term) {
        put(out, format_args!("#Port<{}.{}>", channel(port.node, port.creation), port.number));
    } else if let Some(reference) = RefView::of(term) {
        put(out, format_args!("#Ref<{}", channel(reference.node, reference.creation)));
        for word in reference.words[..reference.count].iter().rev() {
            put(out, format_args!(".{word}"));
        }
        out.push(b'>');
    }
}

fn printable(c: i64) -> bool {
    matches!(c, 9 | 10 | 13 | 32..=126 | 160..=255)
}

/// A proper list of printable Latin-1 characters.
fn is_string(list: Term) -> bool {
    let mut rest = list;
    while rest.is_cons() {
        if !rest.head().as_small().is_some_and(printable) {
            return false;
        }
        rest = rest.tail();
    }
    rest.is_nil()
}

fn write_string(out: &mut Vec<u8>, list: Term) {
    out.push(b'"');
    let mut rest = list;
    while rest.is_cons() {
        match rest.head().small_value() as u8 {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'"' => out.extend_from_slice(b"\\\""),
            byte => out.push(byte),
        }
        rest = rest.tail();
    }
    out.push(b'"');
}

fn write_bits(out: &mut Vec<u8>, term: Term) {
    let Some(view) = BitsView::of(term) else { return };
    let bytes = view.to_vec();
    out.extend_from_slice(b"<<");
    if !bytes.is_empty() && view.is_binary() && bytes.iter().all(|b| (32..127).contains(b)) {
        out.push(b'"');
        for &byte in &bytes {
            if byte == b'"' {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.push(b'"');
    } else {
        let last = (view.size_bits % 8) as u32;
        for (i, &byte) in bytes.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            if last != 0 && i + 1 == bytes.len() {
                put(out, format_args!("{}:{last}", byte >> (8 - last)));
            } else {
                put(out, format_args!("{byte}"));
            }
        }
    }
    out.extend_from_slice(b">>");
}

fn write_atom(out: &mut Vec<u8>, atom: Atom) {
    let name = atom.name();
    let lower = |c: char| c.is_ascii_lowercase() || ('\u{df}'..='\u{ff}').contains(&c) && c != '\u{f7}';
    let word = |c: char| lower(c) || c.is_ascii_alphanumeric() || c == '_' || (('\u{c0}'..='\u{de}').contains(&c) && c != '\u{d7}');
    if name.chars().next().is_some_and(lower) && name.chars().all(word) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    out.push(b'\'');
    for c in name.chars() {
        match c {
            '\'' => out.extend_from_slice(b"\\'"),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '\u{b}' => out.extend_from_slice(b"\\v"),
            c if (c as u32) < 32 => put(out, format_args!("\\{:03o}", c as u32)),
            c => {
                let mut buffer = [0; 4];
                out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            }
        }
    }
    out.push(b'\'');
}

impl std::fmt::Debug for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&to_string_limited(*self, 2000))
    }
}
