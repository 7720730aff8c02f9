//! Modules `atomics` and `counters`: arrays of 64-bit words, which programs hold by magic references.

use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::refs;
use heddle_term::{Atom, Kind, Resource, Term, am, big, map};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "atomics_new"/2 => atomics_new,
        "counters_new"/1 => counters_new,
        "counters_get"/2 => counters_get,
        "counters_add"/3 => counters_add,
        "counters_put"/3 => counters_put,
        "counters_info"/1 => counters_info,
    }
    "atomics" => {
        "put"/3 => put,
        "get"/2 => get,
        "add"/3 => add,
        "add_get"/3 => add_get,
        "exchange"/3 => exchange,
        "compare_exchange"/4 => compare_exchange,
        "info"/1 => info,
    }
}

struct Atomics {
    signed: bool,
    /// All operations are SeqCst: OTP documents the functions of `atomics` as ordered like that, among all processes.
    words: Box<[AtomicU64]>,
}

impl Resource for Atomics {
    fn type_name(&self) -> &'static str {
        "atomics"
    }
}

/// Counters with `write_concurrency`: each thread adds in a lane of its own, and a read sums up the lanes.
struct Counters {
    size: usize,
    lanes: Box<[Lane]>,
}

#[repr(align(128))]
struct Lane(Box<[AtomicU64]>);

impl Resource for Counters {
    fn type_name(&self) -> &'static str {
        "counters"
    }
}

/// Most words of one array (guessed: half a terabyte of address space).
const MAX_WORDS: usize = 1 << 36;

fn words(count: usize) -> Option<Box<[AtomicU64]>> {
    if !heddle_memory::fits(count * 8) {
        return None;
    }
    let mut words: Vec<AtomicU64> = Vec::with_capacity(count);
    words.resize_with(count, || AtomicU64::new(0));
    Some(words.into_boxed_slice())
}

/// A magic reference to a fresh resource.
pub fn magic(p: &mut Process, resource: Arc<dyn Resource>) -> Term {
    let words = refs::fresh().words();
    p.heap.magic_reference(words, resource)
}

/// The number of words that an argument asks for. `system_limit` if it is a positive integer that is too large.
fn size(p: &mut Process, term: Term) -> Result<usize, Thrown> {
    match args::count(term) {
        Some(n) if (1..=MAX_WORDS).contains(&n) => Ok(n),
        Some(0) => Err(p.badarg()),
        Some(_) => Err(p.system_limit()),
        None if term.is_kind(Kind::PosBig) => Err(p.system_limit()),
        None => Err(p.badarg()),
    }
}

/// The second argument is a bit set: 1 for signed.
fn atomics_new(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(flags) = args::count(a[1]) else { return Err(p.badarg()) };
    let size = size(p, a[0])?;
    let Some(words) = words(size) else { return Err(p.system_limit()) };
    Ok(magic(p, Arc::new(Atomics { signed: flags & 1 != 0, words })))
}

impl Atomics {
    /// A value to be stored or compared.
    fn value(&self, term: Term) -> Option<u64> {
        if self.signed { big::to_i64(term).map(|v| v as u64) } else { big::to_u64(term) }
    }

    fn term(&self, p: &mut Process, value: u64) -> Term {
        if self.signed { p.heap.integer(value as i64) } else { p.heap.unsigned(value) }
    }
}

/// A value that may be added: any that fits 64 bits, with or without sign.
fn increment(term: Term) -> Option<u64> {
    big::to_i64(term).map(|v| v as u64).or_else(|| big::to_u64(term))
}

fn index(term: Term, size: usize) -> Option<usize> {
    args::count(term).filter(|n| (1..=size).contains(n)).map(|n| n - 1)
}

fn array(a: &[Term]) -> Option<(Arc<Atomics>, usize)> {
    let array = args::resource::<Atomics>(a[0])?;
    let at = index(a[1], array.words.len())?;
    Some((array, at))
}

fn put(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((array, at)) = array(a) else { return Err(p.badarg()) };
    let Some(value) = array.value(a[2]) else { return Err(p.badarg()) };
    array.words[at].store(value, Ordering::SeqCst);
    Ok(am::OK.into())
}

fn get(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((array, at)) = array(a) else { return Err(p.badarg()) };
    let value = array.words[at].load(Ordering::SeqCst);
    Ok(array.term(p, value))
}

fn add(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some((array, at)), Some(value)) = (array(a), increment(a[2])) else { return Err(p.badarg()) };
    array.words[at].fetch_add(value, Ordering::SeqCst);
    Ok(am::OK.into())
}

fn add_get(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some((array, at)), Some(value)) = (array(a), increment(a[2])) else { return Err(p.badarg()) };
    let old = array.words[at].fetch_add(value, Ordering::SeqCst);
    Ok(array.term(p, old.wrapping_add(value)))
}

fn exchange(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((array, at)) = array(a) else { return Err(p.badarg()) };
    let Some(value) = array.value(a[2]) else { return Err(p.badarg()) };
    let old = array.words[at].swap(value, Ordering::SeqCst);
    Ok(array.term(p, old))
}

fn compare_exchange(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((array, at)) = array(a) else { return Err(p.badarg()) };
    let (Some(expected), Some(desired)) = (array.value(a[2]), array.value(a[3])) else { return Err(p.badarg()) };
    match array.words[at].compare_exchange(expected, desired, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => Ok(am::OK.into()),
        Err(actual) => Ok(array.term(p, actual)),
    }
}

fn info_map(p: &mut Process, entries: &[(&str, Term)]) -> Term {
    let pairs: Vec<(Term, Term)> = entries.iter().map(|&(key, value)| (Atom::new(key).into(), value)).collect();
    map::from_pairs(&mut p.heap, &pairs)
}

/// Bytes that stock adds for the array's own header.
const HEADER_BYTES: usize = 40;
const LANES_HEADER_BYTES: usize = 32;

fn info(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(array) = args::resource::<Atomics>(a[0]) else { return Err(p.badarg()) };
    let size = array.words.len();
    let (min, max) = if array.signed { (i64::MIN as u64, i64::MAX as u64) } else { (0, u64::MAX) };
    let (min, max) = (array.term(p, min), array.term(p, max));
    let memory = Term::small((HEADER_BYTES + 8 * size) as i64);
    Ok(info_map(p, &[("size", Term::small(size as i64)), ("max", max), ("min", min), ("memory", memory)]))
}

fn counters_new(p: &mut Process, a: &[Term]) -> NativeResult {
    let size = size(p, a[0])?;
    let lanes = std::thread::available_parallelism().map_or(1, |n| n.get()) + 1;
    let mut all = Vec::new();
    for _ in 0..lanes {
        let Some(words) = words(size) else { return Err(p.system_limit()) };
        all.push(Lane(words));
    }
    Ok(magic(p, Arc::new(Counters { size, lanes: all.into() })))
}

impl Counters {
    /// The lane of the calling thread.
    fn lane(&self) -> &[AtomicU64] {
        &self.lanes[heddle_runtime::sched::current_id() % self.lanes.len()].0
    }
}

fn counter(a: &[Term]) -> Option<(Arc<Counters>, usize)> {
    let counters = args::resource::<Counters>(a[0])?;
    let at = index(a[1], counters.size)?;
    Some((counters, at))
}

fn counters_get(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some((counters, at)) = counter(a) else { return Err(p.badarg()) };
    // Relaxed: such counters promise no order.
    let sum = counters.lanes.iter().fold(0u64, |sum, lane| sum.wrapping_add(lane.0[at].load(Ordering::Relaxed)));
    Ok(p.heap.integer(sum as i64))
}

fn counters_add(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some((counters, at)), Some(value)) = (counter(a), increment(a[2])) else { return Err(p.badarg()) };
    counters.lane()[at].fetch_add(value, Ordering::Relaxed);
    Ok(am::OK.into())
}

fn counters_put(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some((counters, at)), Some(value)) = (counter(a), big::to_i64(a[2])) else { return Err(p.badarg()) };
    for (i, lane) in counters.lanes.iter().enumerate() {
        lane.0[at].store(if i == 0 { value as u64 } else { 0 }, Ordering::Relaxed);
    }
    Ok(am::OK.into())
}

fn counters_info(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(counters) = args::resource::<Counters>(a[0]) else { return Err(p.badarg()) };
    let memory = LANES_HEADER_BYTES + counters.lanes.len() * counters.size.next_multiple_of(8) * 8;
    Ok(info_map(p, &[("size", Term::small(counters.size as i64)), ("memory", Term::small(memory as i64))]))
}
