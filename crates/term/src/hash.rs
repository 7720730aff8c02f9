//! The hash for the VM's own tables (large maps, ETS): 64 bits, equal for exactly equal terms, different from one
//! salt to the next for all others. Its values mean nothing outside this VM. `erlang:phash2` is in `phash`.

use crate::bits::BitsView;
use crate::boxed::Kind;
use crate::fun;
use crate::ident::RefView;
use crate::term::{TAG_HEADER, Term};
use smallvec::SmallVec;

pub use crate::phash::{phash, phash2};

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    let wide = ((hash ^ word) as u128).wrapping_mul(FACTOR as u128);
    (wide as u64) ^ (wide >> 64) as u64
}

#[inline(always)]
fn start(salt: u64) -> u64 {
    SEED.wrapping_mul(salt * 2 + 1)
}

#[inline(always)]
fn finish(hash: u64) -> u64 {
    let h = (hash ^ hash >> 32).wrapping_mul(SEED);
    h ^ h >> 29
}

#[inline(always)]
pub fn internal_hash(term: Term) -> u64 {
    salted_hash(term, 0)
}

#[inline(always)]
pub fn salted_hash(term: Term, salt: u64) -> u64 {
    let hash = if term.is_immediate() { finish(mix(start(salt), term.raw())) } else { compound(term, start(salt)) };
    #[cfg(any(test, feature = "narrow-hash"))]
    let hash = narrow::narrowed(hash, salt);
    hash
}

/// For tests: hashes of which few bits differ, so that keys collide.
#[cfg(any(test, feature = "narrow-hash"))]
pub mod narrow {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Of names of atoms, for all threads.
    static NAMES: AtomicU64 = AtomicU64::new(u64::MAX);

    /// Before the first atom is made: hashes of names keep the bits of `mask` alone.
    pub fn set_names(mask: u64) {
        NAMES.store(mask, Ordering::Relaxed);
    }

    pub(crate) fn of_name(hash: u64) -> u64 {
        hash & NAMES.load(Ordering::Relaxed)
    }

    /// Tries need a hash that differs for one salt or another: hashes with larger salts stay as they are.
    const MAX_SALT: u64 = 1;

    thread_local!(static MASK: Cell<u64> = const { Cell::new(u64::MAX) });

    /// From now on, hashes that this thread computes keep the bits of `mask` alone. What was hashed before is not found again.
    pub fn set(mask: u64) {
        MASK.with(|m| m.set(mask));
    }

    pub(super) fn narrowed(hash: u64, salt: u64) -> u64 {
        if salt <= MAX_SALT { hash & MASK.with(Cell::get) } else { hash }
    }
}

/// Most terms are not deep.
type Stack = SmallVec<[Pending; 6]>;

/// What is still to be hashed, in order from the top.
enum Pending {
    One(Term),
    Run(*const Term, usize),
}

#[inline(never)]
fn compound(term: Term, start: u64) -> u64 {
    let mut hash = start;
    let mut stack = Stack::new();
    let mut current = term;
    loop {
        if current.is_cons() {
            // A cons is a mark, the head, then the tail.
            hash = mix(hash, 0x0001_c0de);
            let head = current.head();
            if head.is_immediate() {
                hash = mix(hash, head.raw());
                current = current.tail();
            } else {
                stack.push(Pending::One(current.tail()));
                current = head;
            }
            continue;
        }
        hash = match current.kind() {
            None => mix(hash, current.raw()),
            Some(kind) => object(current, kind, hash, &mut stack),
        };
        loop {
            match stack.last_mut() {
                None => return finish(hash),
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
            }
        }
    }
}

/// A word that begins no other kind of term: without it, `{<<>>, 0}` and `{0, <<>>}` would have the same hash for every salt.
#[inline(always)]
fn mark(kind: Kind) -> u64 {
    0xffff << 48 | (kind as u64) << 3 | TAG_HEADER
}

fn object(term: Term, kind: Kind, hash: u64, stack: &mut Stack) -> u64 {
    let header = term.header();
    let slot_address = |n: usize| term.ptr().wrapping_add(1 + n) as *const Term;
    match kind {
        // Maps come in their stored order, which is the same for equal maps.
        Kind::Tuple | Kind::FlatMap | Kind::HashMap | Kind::HashNode => {
            let (mut hash, mut at) = (mix(hash, header.raw()), 0);
            while at < header.arity() && term.slot(at).is_immediate() {
                hash = mix(hash, term.slot(at).raw());
                at += 1;
            }
            if at < header.arity() {
                stack.push(Pending::Run(slot_address(at), header.arity() - at));
            }
            hash
        }
        Kind::Fun => {
            let entry = fun::entry(term);
            stack.push(Pending::Run(slot_address(2), header.arity() - 2));
            let hash = mix(mix(hash, mark(Kind::Fun)), entry.module.index() as u64 | (entry.old_uniq as u64) << 32);
            mix(hash, entry.index as u64 | (header.arity() as u64) << 32)
        }
        Kind::ExportFun => {
            let mfa = fun::export(term).mfa;
            let hash = mix(hash, mark(Kind::ExportFun));
            mix(mix(hash, mfa.module.index() as u64 | (mfa.arity as u64) << 32), mfa.function.index() as u64)
        }
        Kind::PosBig | Kind::NegBig | Kind::Float | Kind::ExtPid | Kind::ExtPort => {
            (0..header.arity()).fold(mix(hash, header.raw()), |h, i| mix(h, term.word(i)))
        }
        Kind::Ref | Kind::MagicRef | Kind::ExtRef => match RefView::of(term) {
            Some(view) => {
                let hash = mix(mix(hash, mark(Kind::Ref)), view.words.len() as u64);
                // Without the node: a table and a map keep the references of this node when the node gets another name.
                view.words.iter().fold(hash, |h, &w| mix(h, w as u64))
            }
            None => hash,
        },
        Kind::HeapBits | Kind::BinRef | Kind::SubBits => match BitsView::of(term) {
            Some(view) => bits(&view, mix(mix(hash, mark(Kind::HeapBits)), view.size_bits)),
            None => hash,
        },
        Kind::MatchCtx | Kind::RegionRef | Kind::Filler => hash,
    }
}

fn bits(view: &BitsView, hash: u64) -> u64 {
    match view.as_bytes() {
        Some(bytes) => hash_bytes(bytes, hash),
        None => hash_bytes(&view.to_vec(), hash),
    }
}

fn hash_bytes(bytes: &[u8], mut hash: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0u8; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}
