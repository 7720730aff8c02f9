//! Throws bytes at the decoder of the external term format: `fuzz_etf [--count N] [--seed S]`.
//!
//! Inputs are encodings of random terms with some bytes changed, cut, doubled or spliced, and plain random bytes. The decoder
//! must not panic, must not take more memory than a constant times the input, and what it accepts must survive encoding and
//! decoding. The first failure is printed with its input, and the exit status is 1.

use heddle_term::code_hooks;
use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::{Atom, Heap, Mfa, Term, big, hash, ident, map, order};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts live bytes and their peak.
struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: by contract of the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: by contract of the caller.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 33) as usize % limit
    }
}

fn random_term(heap: &mut Heap, random: &mut Random, depth: usize) -> Term {
    let kind = if depth == 0 { random.below(10) } else { random.below(16) };
    match kind {
        0 => Term::small(random.below(300) as i64 - 20),
        1 => heap.integer(random.word() as i64 >> random.below(64)),
        2 => {
            let len = random.below(40);
            let bytes: Vec<u8> = (0..len).map(|_| random.word() as u8).collect();
            big::from_bytes(heap, &bytes, true, true)
        }
        3 => {
            let value = f64::from_bits(random.word());
            heap.float(if value.is_finite() { value } else { 0.5 })
        }
        4 => Term::atom(Atom::new(["a", "ok", "été", "\u{400}", ""][random.below(5)])),
        5 => Term::NIL,
        6 => {
            let bits = random.below(700) as u64;
            let mut bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| random.word() as u8).collect();
            if let (Some(last), true) = (bytes.last_mut(), !bits.is_multiple_of(8)) {
                *last &= !(0xff >> (bits % 8));
            }
            heap.bits(&bytes, bits)
        }
        7 => identifier(heap, random),
        8 => {
            let bytes: Vec<u8> = (0..random.below(30)).map(|_| random.word() as u8).collect();
            heap.byte_list(&bytes)
        }
        9 => {
            let export = (code_hooks::ONE_FOR_ALL.find_export)(Mfa { module: Atom::new("ok"), function: Atom::new("a"), arity: 0 });
            heddle_term::fun::make_export(heap, export)
        }
        10 | 11 => {
            let parts: Vec<Term> = (0..random.below(6)).map(|_| random_term(heap, random, depth - 1)).collect();
            heap.tuple(&parts)
        }
        12 | 13 => {
            let parts: Vec<Term> = (0..random.below(6)).map(|_| random_term(heap, random, depth - 1)).collect();
            let tail = if random.below(4) == 0 { random_term(heap, random, depth - 1) } else { Term::NIL };
            heap.list_with_tail(&parts, tail)
        }
        _ => {
            let count = if random.below(8) == 0 { 60 } else { random.below(6) };
            let pairs: Vec<(Term, Term)> =
                (0..count).map(|_| (random_term(heap, random, depth - 1), random_term(heap, random, depth.saturating_sub(2)))).collect();
            map::from_pairs(heap, &pairs)
        }
    }
}

fn identifier(heap: &mut Heap, random: &mut Random) -> Term {
    let (node, creation) = if random.below(2) == 0 { heddle_term::node::current() } else { (Atom::new("a"), 7) };
    match random.below(3) {
        0 => ident::PidView { node, creation, number: random.word() as u32 >> 4, serial: random.below(9) as u32 }.to_term(heap),
        1 => ident::PortView { node, creation, number: random.word() >> random.below(64) }.to_term(heap),
        _ => {
            let count = 1 + random.below(5);
            let mut words = [0; 5];
            words[..count].iter_mut().for_each(|w| *w = random.word() as u32);
            ident::RefView { node, creation, count, words }.to_term(heap)
        }
    }
}

/// Changes an encoding a little, or much.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    const TAGS: &[u8] = &[
        70, 77, 80, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117,
        118, 119, 120, 121,
    ];
    for _ in 0..random.below(5) {
        if bytes.len() < 2 {
            return;
        }
        let at = 1 + random.below(bytes.len() - 1);
        match random.below(7) {
            0 => bytes[at] = random.word() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = TAGS[random.below(TAGS.len())],
            3 => bytes.truncate(at),
            4 => {
                let end = (at + random.below(12)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let end = (at + random.below(6)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => bytes[at] = 0xff,
        }
    }
}

fn random_bytes(random: &mut Random) -> Vec<u8> {
    let len = random.below(64);
    let mut bytes = vec![131];
    bytes.extend((0..len).map(|_| if random.below(3) == 0 { random.word() as u8 } else { (random.below(54) + 68) as u8 & 0x7f }));
    if random.below(20) == 0 {
        bytes[0] = random.word() as u8;
    }
    bytes
}

/// Bytes of memory that an input of this length may take.
fn bound(input: &[u8]) -> usize {
    let unpacked = match input {
        [131, 80, a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]) as usize,
        _ => 0,
    };
    // The inflater's own state.
    let inflater = if input.get(1) == Some(&80) { 128 << 10 } else { 0 };
    inflater + (64 << 10) + 200 * input.len() + 200 * unpacked.min(1032 * (input.len() + 1))
}

fn check(input: &[u8], options: &DecodeOptions) -> Result<bool, String> {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let mut heap = Heap::new();
    let decoded = etf::decode(&mut heap, input, options);
    let taken = PEAK.load(Ordering::Relaxed) - before;
    if taken > bound(input) {
        return Err(format!("{taken} bytes of memory for {} bytes of input", input.len()));
    }
    let accepted = decoded.is_ok();
    if let Ok(decoded) = decoded {
        if decoded.used > input.len() || (decoded.used < input.len() && !options.allow_trailing) {
            return Err(format!("used {} of {}", decoded.used, input.len()));
        }
        round_trip(&mut heap, decoded.term)?;
    }
    heap.clear();
    Ok(accepted)
}

fn round_trip(heap: &mut Heap, term: Term) -> Result<(), String> {
    let bytes = etf::encode(term, &EncodeOptions::default());
    let again = etf::decode(heap, &bytes, &DecodeOptions::default()).map_err(|e| format!("own encoding refused: {e:?}"))?.term;
    if !order::exact_eq(term, again) || order::cmp(term, again).is_ne() {
        return Err(format!("{term:?} came back as {again:?}"));
    }
    if hash::internal_hash(term) != hash::internal_hash(again) || hash::phash2(term, 1 << 32) != hash::phash2(again, 1 << 32) {
        return Err(format!("hash of {term:?} changed"));
    }
    let copied = heap.copy(term);
    if !order::exact_eq(term, copied) {
        return Err(format!("copy of {term:?} differs: {copied:?}"));
    }
    Ok(())
}

fn option(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    let value = args.iter().position(|a| a == name).and_then(|at| args.get(at + 1));
    value.and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn main() -> ExitCode {
    let (count, seed) = (option("--count", 1_000_000), option("--seed", 1));
    code_hooks::install(code_hooks::ONE_FOR_ALL);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut accepted, mut previous) = (0u64, vec![131, 106]);
    for n in 0..count {
        let input = match random.below(10) {
            0 | 1 => random_bytes(&mut random),
            2..7 => {
                let mut heap = Heap::new();
                let term = random_term(&mut heap, &mut random, 3);
                let compressed = (random.below(20) == 0).then_some(6);
                let options =
                    EncodeOptions { minor_version: random.below(3) as u8, compressed, local: random.below(50) == 0, ..Default::default() };
                let mut bytes = etf::encode(term, &options);
                heap.clear();
                previous.clone_from(&bytes);
                mutate(&mut bytes, &mut random);
                bytes
            }
            _ => {
                let mut bytes = previous.clone();
                mutate(&mut bytes, &mut random);
                bytes
            }
        };
        // New atoms are never freed, so only some inputs may make them.
        let options = DecodeOptions { safe: n % 256 != 0, allow_trailing: n % 3 == 0, ..Default::default() };
        match catch_unwind(AssertUnwindSafe(|| check(&input, &options))) {
            Ok(Ok(ok)) => accepted += ok as u64,
            Ok(Err(what)) => return failed(n, seed, &input, &what),
            Err(_) => return failed(n, seed, &input, "panic"),
        }
    }
    println!("{count} inputs, {accepted} accepted, seed {seed}: ok");
    ExitCode::SUCCESS
}

fn failed(n: u64, seed: u64, input: &[u8], what: &str) -> ExitCode {
    let hex: String = input.iter().map(|b| format!("{b:02x}")).collect();
    println!("input {n} of seed {seed}: {what}\n{hex}");
    ExitCode::FAILURE
}
