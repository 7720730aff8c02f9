//! Random atoms, terms and control messages.

use heddle_dist::wire::{Control, Spawned, Target};
use heddle_model::Random;
use heddle_term::ident::{PidView, PortView, RefView};
use heddle_term::{Atom, Heap, Mfa, Term, big, code_hooks, fun, map, node};
use std::sync::OnceLock;

/// More than a cache has entries.
const ATOMS: usize = 3000;

/// Any of a fixed set of atoms, some of them often.
pub fn atom(random: &mut Random) -> Atom {
    static ALL: OnceLock<Vec<Atom>> = OnceLock::new();
    let all = ALL.get_or_init(|| (0..ATOMS).map(|n| Atom::new(&name(n))).collect());
    let below = random.one(&[4, 4, 40, ATOMS as u64]);
    all[random.below(below) as usize]
}

/// Some names are longer than one byte can say.
fn name(n: usize) -> String {
    match n {
        0 => String::new(),
        n if n % 100 == 99 => format!("{n}{}", "\u{10348}".repeat(200)),
        n => format!("atom_{n}_é"),
    }
}

/// Nodes of which identifiers are: this one, and some others.
fn node(random: &mut Random) -> (Atom, u32) {
    match random.below(4) {
        0 => node::current(),
        1 => (Atom::new("a@host"), 1 << 31),
        _ => (Atom::new("b@host"), random.below(3) as u32),
    }
}

pub fn pid(random: &mut Random) -> PidView {
    let (node, creation) = node(random);
    PidView { node, creation, number: random.below(1 << 28) as u32, serial: random.below(9) as u32 }
}

pub fn reference(random: &mut Random) -> RefView {
    let (node, creation) = node(random);
    let count = random.one(&[3, 5]);
    let mut words = [0; 5];
    words[..count].iter_mut().for_each(|word| *word = random.bits() as u32 >> 14);
    RefView { node, creation, count, words }
}

fn target(random: &mut Random) -> Target {
    if random.chance(50) { Target::Pid(pid(random)) } else { Target::Name(atom(random)) }
}

pub fn term(heap: &mut Heap, random: &mut Random, depth: u64) -> Term {
    let parts =
        |heap: &mut Heap, random: &mut Random| -> Vec<Term> { (0..random.below(6)).map(|_| term(heap, random, depth - 1)).collect() };
    match random.below(if depth == 0 { 12 } else { 18 }) {
        0 => Term::small(random.below(300) as i64 - 20),
        1 => {
            let shift = random.below(64);
            heap.integer(random.bits() as i64 >> shift)
        }
        2 => {
            let bytes: Vec<u8> = (0..random.below(300)).map(|_| random.bits() as u8).collect();
            big::from_bytes(heap, &bytes, true, true)
        }
        3 => heap.float(random.below(1000) as f64 / 8.0),
        4 | 5 => Term::atom(atom(random)),
        6 => Term::NIL,
        7 => bits(heap, random),
        8 => pid(random).to_term(heap),
        9 => reference(random).to_term(heap),
        10 => {
            let (node, creation) = node(random);
            PortView { node, creation, number: random.below(1 << 40) }.to_term(heap)
        }
        11 => {
            let (module, function, arity) = (Atom::new("a_module"), Atom::new("a_function"), random.below(256) as u8);
            let export = (code_hooks::hooks().find_export)(Mfa { module, function, arity });
            fun::make_export(heap, export)
        }
        12 | 13 => {
            let parts = parts(heap, random);
            heap.tuple(&parts)
        }
        14 | 15 => {
            let parts = parts(heap, random);
            let tail = if random.chance(20) { Term::small(1) } else { Term::NIL };
            heap.list_with_tail(&parts, tail)
        }
        16 => {
            // Long enough to be counted while it is written; or a string.
            let count = random.one(&[10, 1023, 1024, 1025, 3000]);
            let values: Vec<Term> = (0..count).map(|n| Term::small(n & if count == 1025 { 0xff } else { 0xfff })).collect();
            let tail = if random.chance(20) { term(heap, random, depth - 1) } else { Term::NIL };
            heap.list_with_tail(&values, tail)
        }
        _ => {
            let count = if random.chance(10) { 60 } else { random.below(6) };
            let pairs: Vec<(Term, Term)> =
                (0..count).map(|_| (term(heap, random, depth - 1), term(heap, random, depth.saturating_sub(2)))).collect();
            map::from_pairs(heap, &pairs)
        }
    }
}

/// A bitstring, or a part of one: short or long, on a byte or not.
fn bits(heap: &mut Heap, random: &mut Random) -> Term {
    let size: u64 = random.one(&[0, 5, 64, 512, 520, 700, 4000, 40_000]);
    let mut bytes: Vec<u8> = (0..(size as usize).div_ceil(8)).map(|n| n as u8 ^ size as u8).collect();
    if let (Some(last), false) = (bytes.last_mut(), size.is_multiple_of(8)) {
        *last &= !(0xff >> (size % 8));
    }
    let whole = heap.bits(&bytes, size);
    match random.below(3) {
        0 if size > 16 => {
            let from = random.one(&[3, 8, 16]);
            let less = random.one(&[0, 1, 5]).min(size - from);
            heap.sub_bits(whole, from, size - from - less)
        }
        _ => whole,
    }
}

pub fn control(heap: &mut Heap, random: &mut Random) -> Control {
    let some = |heap: &mut Heap, random: &mut Random| random.chance(30).then(|| term(heap, random, 2));
    let (from, to) = (pid(random), pid(random));
    match random.below(14) {
        0 => Control::Send { from: random.chance(50).then_some(from), to, token: some(heap, random) },
        1 => Control::SendName { from, to: atom(random), token: some(heap, random) },
        2 => Control::SendAlias { from, alias: reference(random), token: some(heap, random) },
        3 => Control::Link { from, to },
        4 => {
            let shift = random.below(64);
            Control::Unlink { id: (random.bits() >> shift).max(1), from, to }
        }
        5 => {
            let shift = random.below(64);
            Control::UnlinkAck { id: random.bits() >> shift, from, to }
        }
        6 => Control::Exit { from, to, token: some(heap, random), reason: some(heap, random) },
        7 => Control::Exit2 { from, to, token: some(heap, random), reason: some(heap, random) },
        8 => Control::GroupLeader { leader: from, to },
        9 => Control::Monitor { from, to: target(random), reference: reference(random) },
        10 => Control::Demonitor { from, to: target(random), reference: reference(random) },
        11 => Control::MonitorExit { from: target(random), to, reference: reference(random), reason: some(heap, random) },
        12 => Control::SpawnRequest {
            reference: reference(random),
            from,
            group_leader: to,
            module: atom(random),
            function: atom(random),
            arity: random.below(300) as i64,
            options: term(heap, random, 2),
            token: some(heap, random),
        },
        _ => Control::SpawnReply {
            reference: reference(random),
            to,
            flags: random.below(4) as u32,
            result: match target(random) {
                Target::Pid(pid) => Spawned::Pid(pid),
                Target::Name(name) => Spawned::Error(name),
            },
            token: some(heap, random),
        },
    }
}
