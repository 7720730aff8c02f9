//! `erlang:phash2` and `erlang:phash`: the values are the same on every platform and release, so the arithmetic below is
//! fixed. The mixing is Bob Jenkins' 1996 hash.

use crate::atom::Atom;
use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::fun;
use crate::ident::{PidView, PortView, RefView};
use crate::map::MapIter;
use crate::term::Term;
use smallvec::SmallVec;

const GOLDEN: u32 = 0x9e37_79b9;

/// The constant that marks a kind of term: a multiple of the golden ratio.
const fn mark(n: u32) -> u32 {
    GOLDEN.wrapping_mul(n)
}

fn jenkins(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (right, left, last) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> right;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << left;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> last;
    }
    (a, b, c)
}

fn add2(hash: u32, x: u32, y: u32, mark: u32) -> u32 {
    jenkins(mark.wrapping_add(x), mark.wrapping_add(y), hash).2
}

fn add1(hash: u32, x: u32, mark: u32) -> u32 {
    add2(hash, x, 0, mark)
}

/// ELF hash of the name's Latin-1 bytes (characters above U+00FF: of their UTF-8 bytes).
pub fn atom_hash(atom: Atom) -> u32 {
    let bytes = atom.name().as_bytes();
    let mut hash: u32 = 0;
    let mut i = 0;
    while i < bytes.len() {
        let mut byte = bytes[i];
        i += 1;
        if byte & 0xfe == 0xc2 && i < bytes.len() && bytes[i] & 0xc0 == 0x80 {
            byte = byte << 6 | bytes[i] & 0x3f;
            i += 1;
        }
        hash = (hash << 4).wrapping_add(byte as u32);
        let high = hash & 0xf000_0000;
        hash = (hash ^ high >> 24) & !high;
    }
    hash
}

enum Pending {
    One(Term),
    Run(*const Term, usize),
    /// A pair of a map is done.
    Pair,
    /// All pairs of a map are done: hash before the map and xor of the enclosing map.
    MapEnd(u32, u32),
}

/// Most terms are not deep.
type Stack = SmallVec<[Pending; 6]>;

/// 32-bit value; `erlang:phash2/1` keeps 27 bits of it.
pub fn phash2_full(term: Term) -> u32 {
    let mut hash: u32 = 0;
    let mut pairs: u32 = 0;
    let mut stack = Stack::new();
    let mut current = term;
    loop {
        if current.is_cons() {
            let mut packed: u32 = 0;
            let mut count = 0;
            while current.is_cons() {
                let Some(byte) = current.head().as_small().filter(|v| (0..256).contains(v)) else { break };
                packed = packed << 8 | byte as u32;
                count += 1;
                if count == 4 {
                    hash = add1(hash, packed, mark(4));
                    (packed, count) = (0, 0);
                }
                current = current.tail();
            }
            if count > 0 {
                hash = add1(hash, packed, mark(4));
            }
            if current.is_cons() {
                stack.push(Pending::One(current.tail()));
                current = current.head();
            }
            continue;
        }
        hash = match current.kind() {
            None => immediate(current, hash),
            Some(Kind::FlatMap | Kind::HashMap) => {
                let size = crate::map::size(current);
                let hash = add1(hash, size as u32, mark(16));
                if size == 0 {
                    hash
                } else {
                    stack.push(Pending::MapEnd(hash, pairs));
                    for (key, value) in MapIter::new(current) {
                        stack.push(Pending::Pair);
                        stack.push(Pending::One(value));
                        stack.push(Pending::One(key));
                    }
                    pairs = 0;
                    0
                }
            }
            Some(kind) => object(current, kind, hash, &mut stack),
        };
        loop {
            match stack.last_mut() {
                None => return hash,
                Some(Pending::One(next)) => {
                    current = *next;
                    stack.pop();
                    break;
                }
                Some(Pending::Run(_, 0)) => {
                    stack.pop();
                }
                Some(Pending::Run(at, left)) => {
                    // SAFETY: the run has `left` terms.
                    current = unsafe { **at };
                    (*at, *left) = (at.wrapping_add(1), *left - 1);
                    break;
                }
                Some(Pending::Pair) => {
                    pairs ^= hash;
                    hash = 0;
                    stack.pop();
                }
                Some(&mut Pending::MapEnd(before, outer)) => {
                    hash = add1(before, pairs, mark(19));
                    pairs = outer;
                    stack.pop();
                }
            }
        }
    }
}

fn small(value: i64, hash: u32) -> u32 {
    if !(-(1 << 27)..1 << 27).contains(&value) {
        let magnitude = value.unsigned_abs();
        return add2(hash, magnitude as u32, (magnitude >> 32) as u32, mark(if value < 0 { 10 } else { 11 }));
    }
    let value = value as i32;
    let hash = if value < 0 { add1(hash, value.unsigned_abs(), GOLDEN) } else { hash };
    add1(hash, value as u32, GOLDEN)
}

fn immediate(term: Term, hash: u32) -> u32 {
    if let Some(value) = term.as_small() {
        small(value, hash)
    } else if let Some(atom) = term.as_atom() {
        if hash == 0 { atom_hash(atom) } else { add1(hash, atom_hash(atom), mark(3)) }
    } else if let Some(pid) = PidView::of(term) {
        add1(hash, pid.number, mark(5))
    } else if let Some(port) = PortView::of(term) {
        add2(hash, port.number as u32, (port.number >> 32) as u32, mark(6))
    } else if hash == 0 {
        3_468_870_702
    } else {
        // 2 is the empty list's type code of old.
        add1(hash, 2, mark(2))
    }
}

fn positive_zero(float: f64) -> u64 {
    if float == 0.0 { 0 } else { float.to_bits() }
}

fn object(term: Term, kind: Kind, hash: u32, stack: &mut Stack) -> u32 {
    let arity = term.header().arity();
    let slot_address = |n: usize| term.ptr().wrapping_add(1 + n) as *const Term;
    match kind {
        Kind::Tuple => {
            stack.push(Pending::Run(slot_address(0), arity));
            add1(hash, arity as u32, mark(9))
        }
        Kind::PosBig | Kind::NegBig => {
            let mark = mark(if kind == Kind::NegBig { 10 } else { 11 });
            (0..arity).map(|i| term.word(i)).fold(hash, |h, d| add2(h, d as u32, (d >> 32) as u32, mark))
        }
        Kind::Float => {
            let bits = positive_zero(f64::from_bits(term.word(0)));
            add2(hash, (bits >> 32) as u32, bits as u32, mark(12))
        }
        Kind::HeapBits | Kind::BinRef | Kind::SubBits => binary(term, hash),
        Kind::Fun => {
            let entry = fun::entry(term);
            let hash = add2(hash, arity as u32 - 2, atom_hash(entry.module), GOLDEN);
            stack.push(Pending::Run(slot_address(2), arity - 2));
            add2(hash, entry.index, entry.old_uniq, GOLDEN)
        }
        Kind::ExportFun => {
            let mfa = fun::export(term).mfa;
            let hash = add2(hash, mfa.arity as u32, atom_hash(mfa.module), GOLDEN);
            add1(hash, atom_hash(mfa.function), mark(14))
        }
        Kind::Ref | Kind::MagicRef | Kind::ExtRef => add1(hash, RefView::of(term).map_or(0, |r| r.words[0]), mark(7)),
        Kind::ExtPid => add1(hash, PidView::of(term).map_or(0, |p| p.number), mark(5)),
        Kind::ExtPort => {
            let number = PortView::of(term).map_or(0, |p| p.number);
            add2(hash, number as u32, (number >> 32) as u32, mark(6))
        }
        Kind::FlatMap | Kind::HashMap | Kind::HashNode | Kind::MatchCtx | Kind::RegionRef | Kind::Filler => hash,
    }
}

fn binary(term: Term, hash: u32) -> u32 {
    let Some(view) = BitsView::of(term) else { return hash };
    let start = mark(13).wrapping_add(hash);
    if view.size_bits == 0 {
        return start;
    }
    let owned;
    let bytes = match view.as_bytes() {
        Some(bytes) => bytes,
        None => {
            owned = view.to_vec();
            &owned
        }
    };
    // Only the low 32 bits of the size count, as ever.
    let whole = (view.size_bits / 8) as u32 as usize;
    let mut hash = block(&bytes[..whole], start);
    let rest = (view.size_bits % 8) as u32;
    if rest > 0 {
        hash = add2(hash, rest, bytes[whole] as u32 >> (8 - rest), mark(15));
    }
    hash
}

fn block(bytes: &[u8], initial: u32) -> u32 {
    let word = |b: &[u8]| b.iter().rev().fold(0u32, |w, &x| w << 8 | x as u32);
    let (mut a, mut b, mut c) = (GOLDEN, GOLDEN, initial);
    let (blocks, rest) = bytes.as_chunks::<12>();
    for k in blocks {
        (a, b, c) = jenkins(a.wrapping_add(word(&k[0..4])), b.wrapping_add(word(&k[4..8])), c.wrapping_add(word(&k[8..12])));
    }
    let part = |from: usize| word(&rest[from.min(rest.len())..(from + 4).min(rest.len())]);
    // The low byte of the last word belongs to the length.
    let last = word(&rest[8.min(rest.len())..]) << 8;
    jenkins(a.wrapping_add(part(0)), b.wrapping_add(part(4)), c.wrapping_add(bytes.len() as u32).wrapping_add(last)).2
}

/// `erlang:phash2(Term, Range)`; `range` is 1 to 2^32.
pub fn phash2(term: Term, range: u64) -> u32 {
    (phash2_full(term) as u64 % range) as u32
}

const PRIME1: u32 = 268_440_163;
const PRIME2: u32 = 268_439_161;
const PRIME3: u32 = 268_435_459;
const PRIME4: u32 = 268_436_141;
const PRIME5: u32 = 268_438_633;
const PRIME6: u32 = 268_437_017;
const PRIME8: u32 = 268_437_511;
const PRIME9: u32 = 268_439_627;
const PRIME10: u32 = 268_440_479;
const PRIME11: u32 = 268_440_577;
const PRIME12: u32 = 268_440_581;
const PRIME13: u32 = 268_440_593;
const PRIME14: u32 = 268_440_611;

fn times(hash: u32, prime: u32, plus: u32) -> u32 {
    hash.wrapping_mul(prime).wrapping_add(plus)
}

fn bytes_of(word: u32, hash: u32, prime: u32) -> u32 {
    word.to_le_bytes().iter().fold(hash, |h, &b| times(h, prime, b as u32))
}

enum OldPending {
    One(Term),
    /// What follows a list element.
    Tail(Term),
    Run(*const Term, usize),
    TupleEnd(u32),
    ListEnd,
}

fn old_hash(term: Term) -> u32 {
    let mut hash: u32 = 0;
    let mut stack = vec![OldPending::One(term)];
    while let Some(pending) = stack.pop() {
        let current = match pending {
            OldPending::One(term) => term,
            OldPending::Tail(tail) => {
                if !tail.is_cons() {
                    stack.push(OldPending::ListEnd);
                }
                tail
            }
            OldPending::Run(_, 0) => continue,
            OldPending::Run(at, left) => {
                stack.push(OldPending::Run(at.wrapping_add(1), left - 1));
                // SAFETY: the run has `left` terms.
                unsafe { *at }
            }
            OldPending::TupleEnd(arity) => {
                hash = times(hash, PRIME9, arity);
                continue;
            }
            OldPending::ListEnd => {
                hash = hash.wrapping_mul(PRIME8);
                continue;
            }
        };
        hash = old_step(current, hash, &mut stack);
    }
    hash
}

fn old_step(term: Term, mut hash: u32, stack: &mut Vec<OldPending>) -> u32 {
    if term.is_cons() {
        if let Some(byte) = term.head().as_small().filter(|v| (0..256).contains(v)) {
            stack.push(OldPending::Tail(term.tail()));
            return times(hash, PRIME2, byte as u32);
        }
        stack.push(OldPending::Tail(term.tail()));
        stack.push(OldPending::One(term.head()));
        return hash;
    }
    if let Some(value) = term.as_small() {
        let magnitude = value.unsigned_abs();
        hash = bytes_of(magnitude as u32, hash, PRIME2);
        if magnitude >> 32 != 0 {
            hash = bytes_of((magnitude >> 32) as u32, hash, PRIME2);
        }
        return hash.wrapping_mul(if value < 0 { PRIME4 } else { PRIME3 });
    }
    if let Some(atom) = term.as_atom() {
        return times(hash, PRIME1, atom_hash(atom));
    }
    if term.is_nil() {
        return times(hash, PRIME3, 1);
    }
    if let Some(pid) = PidView::of(term) {
        return bytes_of(pid.number, hash, PRIME5).wrapping_mul(PRIME6);
    }
    if let Some(port) = PortView::of(term) {
        if port.number >> 32 != 0 {
            hash = bytes_of((port.number >> 32) as u32, hash, PRIME11);
        }
        return bytes_of(port.number as u32, hash, PRIME9).wrapping_mul(PRIME10);
    }
    let arity = term.header().arity();
    let slot_address = |n: usize| term.ptr().wrapping_add(1 + n) as *const Term;
    match term.header().kind() {
        Kind::Tuple => {
            stack.push(OldPending::TupleEnd(arity as u32));
            stack.push(OldPending::Run(slot_address(0), arity));
            hash
        }
        Kind::PosBig | Kind::NegBig => {
            for i in 0..arity {
                let digit = term.word(i);
                hash = bytes_of(digit as u32, hash, PRIME2);
                if i + 1 < arity || digit >> 32 != 0 {
                    hash = bytes_of((digit >> 32) as u32, hash, PRIME2);
                }
            }
            hash.wrapping_mul(if term.is_kind(Kind::NegBig) { PRIME4 } else { PRIME3 })
        }
        Kind::Float => {
            let bits = positive_zero(f64::from_bits(term.word(0)));
            times(hash, PRIME6, bits as u32 ^ (bits >> 32) as u32)
        }
        Kind::HeapBits | Kind::BinRef | Kind::SubBits => {
            let Some(view) = BitsView::of(term) else { return hash };
            let bytes = view.to_vec();
            let whole = (view.size_bits / 8) as usize;
            hash = bytes[..whole].iter().fold(hash, |h, &b| times(h, PRIME1, b as u32));
            let rest = (view.size_bits % 8) as u32;
            if rest > 0 {
                hash = times(times(hash, PRIME1, bytes[whole] as u32 >> (8 - rest)), PRIME12, rest);
            }
            times(hash, PRIME4, whole as u32)
        }
        Kind::Fun => {
            let entry = fun::entry(term);
            hash = times(hash, PRIME10, arity as u32 - 2);
            hash = times(hash, PRIME1, atom_hash(entry.module));
            hash = times(times(hash, PRIME2, entry.index), PRIME2, entry.old_uniq);
            stack.push(OldPending::Run(slot_address(2), arity - 2));
            hash
        }
        Kind::ExportFun => {
            let mfa = fun::export(term).mfa;
            hash = times(hash, PRIME11, mfa.arity as u32);
            times(times(hash, PRIME1, atom_hash(mfa.module)), PRIME1, atom_hash(mfa.function))
        }
        Kind::Ref | Kind::MagicRef | Kind::ExtRef => {
            let word = RefView::of(term).map_or(0, |r| r.words[0]);
            bytes_of(word, hash, PRIME9).wrapping_mul(PRIME10)
        }
        Kind::FlatMap | Kind::HashMap => times(hash, PRIME13, PRIME14.wrapping_add(phash2_full(term))),
        Kind::ExtPid | Kind::ExtPort | Kind::HashNode | Kind::MatchCtx | Kind::RegionRef | Kind::Filler => hash,
    }
}

/// `erlang:phash(Term, Range)`: 1 to `range`, which is 1 to 2^32.
pub fn phash(term: Term, range: u64) -> u64 {
    1 + old_hash(term) as u64 % range
}
