//! How terms are stored: sizes, sharing, kinds.

use heddle_abi::opcodes::{MAX_OPCODE, opcode};
use heddle_natives::args;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::sched;
use heddle_term::copy::Keep;
use heddle_term::ident::RefView;
use heddle_term::literal::is_literal;
use heddle_term::{Atom, Kind, Term};
use std::collections::HashSet;

heddle_runtime::natives! { TABLE:
    "erts_debug" => {
        "flat_size"/1 => flat_size,
        "size_shared"/1 => size_shared,
        "copy_shared"/1 => copy_shared_1,
        "copy_shared"/2 => copy_shared_2,
        "same"/2 => same,
        "instructions"/0 => instructions,
    }
    "erts_internal" => { "term_type"/1 => term_type }
}

/// Words of one object as stock counts them (some of its objects are larger than ours).
fn stock_words(term: Term) -> usize {
    if term.is_cons() {
        return 2;
    }
    let header = term.header();
    match header.kind() {
        Kind::BinRef | Kind::SubBits => 8,
        // The empty tuple is one literal for all.
        Kind::Tuple if header.arity() == 0 => 0,
        Kind::FlatMap => header.words() + 1,
        Kind::Fun => header.words() + 3,
        Kind::MagicRef => 3,
        // Three words, then the numbers and their count, two to a word.
        Kind::ExtRef => 3 + (RefView::of(term).map_or(0, |view| view.count) + 1).div_ceil(2),
        _ => header.words(),
    }
}

/// Calls `f` for the terms inside an object.
fn for_children(term: Term, mut f: impl FnMut(Term)) {
    if term.is_cons() {
        f(term.head());
        f(term.tail());
        return;
    }
    let header = term.header();
    if header.kind() == Kind::SubBits || header.kind().raw_words() == usize::MAX {
        return;
    }
    for i in header.raw_words()..header.arity() {
        f(term.slot(i));
    }
}

/// Sum of the words of all objects that `enter` lets in.
fn sum(root: Term, mut enter: impl FnMut(Term) -> bool) -> usize {
    let mut stack = vec![root];
    let mut words = 0;
    while let Some(term) = stack.pop() {
        if term.is_immediate() || !enter(term) {
            continue;
        }
        words += stock_words(term);
        for_children(term, |child| {
            if child.is_pointer() {
                stack.push(child);
            }
        });
    }
    words
}

fn flat_size(p: &mut Process, a: &[Term]) -> NativeResult {
    long::work_on(p, a[0])?;
    let words = sum(a[0], |_| true);
    Ok(Term::small(words as i64))
}

/// Objects that a normal scheduler looks at: about a millisecond with the set of those seen.
const OBJECTS_HERE: usize = 10_000;

/// Words of the objects in a term, each counted once; `entered` leaves out what does not count. Shared objects make only the walk
/// itself tell how long it takes: large ones begin again on a dirty scheduler.
fn once(p: &mut Process, root: Term, entered: impl Fn(Term) -> bool) -> Result<usize, Thrown> {
    let here = !sched::on_dirty_thread();
    let mut seen = HashSet::new();
    let mut many = false;
    let words = sum(root, |term| {
        many |= here && seen.len() > OBJECTS_HERE;
        !many && entered(term) && seen.insert(term.raw())
    });
    if many {
        return Err(Thrown::DirtyCpu);
    }
    p.bump(words / 16);
    Ok(words)
}

fn size_shared(p: &mut Process, a: &[Term]) -> NativeResult {
    let words = once(p, a[0], |term| !is_literal(term))?;
    Ok(Term::small(words as i64))
}

fn copy_shared_1(p: &mut Process, a: &[Term]) -> NativeResult {
    once(p, a[0], |_| true)?;
    Ok(p.heap.copy_shared(a[0], Keep::NOTHING))
}

/// (Term, true if literals are copied too)
fn copy_shared_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(literals) = args::boolean(a[1]) else { return Err(p.badarg()) };
    once(p, a[0], |term| literals || !is_literal(term))?;
    Ok(p.heap.copy_shared(a[0], if literals { Keep::NOTHING } else { Keep::live() }))
}

fn same(_: &mut Process, a: &[Term]) -> NativeResult {
    Ok(Term::bool(a[0] == a[1]))
}

/// The names of all instructions that can be loaded.
fn instructions(p: &mut Process, _: &[Term]) -> NativeResult {
    let names: Vec<Term> = (1..=MAX_OPCODE).filter_map(opcode).map(|info| p.heap.string(info.name)).collect();
    Ok(p.heap.list(&names))
}

fn term_type(_: &mut Process, a: &[Term]) -> NativeResult {
    let term = a[0];
    let name = match term.kind() {
        None if term.is_small() => "fixnum",
        None if term.is_atom() => "atom",
        None if term.is_nil() => "nil",
        None if term.is_cons() => "list",
        None if term.is_local_pid() => "pid",
        None => "port",
        Some(kind) => match kind {
            Kind::Tuple => "tuple",
            Kind::FlatMap => "flatmap",
            Kind::HashMap => "hashmap",
            Kind::HashNode => "hashmap_node",
            Kind::PosBig | Kind::NegBig => "bignum",
            Kind::Float => "hfloat",
            Kind::HeapBits => "heap_binary",
            Kind::BinRef | Kind::SubBits => "sub_binary",
            Kind::Fun => "fun",
            Kind::ExportFun => "export",
            Kind::Ref | Kind::MagicRef => "reference",
            Kind::ExtPid => "external_pid",
            Kind::ExtPort => "external_port",
            Kind::ExtRef => "external_reference",
            Kind::MatchCtx | Kind::RegionRef | Kind::Filler => "unknown",
        },
    };
    Ok(Atom::new(name).into())
}
