//! Terms to bytes at once, byte for byte as OTP 27 writes them (but for compressed data, where another deflate may find another
//! encoding, and for the order of large maps).

use super::encoder::Encoder;
use super::writer::WholeAtoms;
use super::{VERSION, tag};
use crate::bits::BitsView;
use crate::term::Term;
use heddle_memory::CHECKED_BYTES;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::sync::OnceLock;

#[derive(Clone, Copy)]
pub struct EncodeOptions {
    /// 0: floats as text; below 2: Latin-1 atoms in the old form.
    pub minor_version: u8,
    /// Deflate level 0 to 9; the result is compressed only if that makes it shorter.
    pub compressed: Option<u32>,
    /// Map keys in term order.
    pub deterministic: bool,
    /// Sealed for this VM alone.
    pub local: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions { minor_version: 2, compressed: None, deterministic: false, local: false }
    }
}

/// `term_to_binary`.
pub fn encode(term: Term, options: &EncodeOptions) -> Vec<u8> {
    try_encode(term, options).unwrap_or_else(|| heddle_memory::out_of_memory(heddle_memory::MemoryKind::Rest, external_size(term, options)))
}

/// The same; None if a length does not fit in its field, or if the computer has not the memory.
pub fn try_encode(term: Term, options: &EncodeOptions) -> Option<Vec<u8>> {
    encode_short(term, options, usize::MAX).ok()
}

/// Why a term is not encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unencoded {
    /// It has more bytes than asked for.
    Long,
    /// A length does not fit in its field, or the computer has not the memory.
    TooLarge,
}

/// As `try_encode`, of a term with about `most_bytes` at most, besides those of bitstrings.
pub fn encode_short(term: Term, options: &EncodeOptions, most_bytes: usize) -> Result<Vec<u8>, Unencoded> {
    // Room for a small term. Grown from one byte on, it would be allocated four times.
    let mut out = Vec::with_capacity(64);
    out.push(VERSION);
    if options.local {
        out.push(tag::LOCAL);
        out.extend_from_slice(&[0; 8]);
    }
    let start = out.len();
    let mut outcome = encode_up_to(&mut out, term, options, CHECKED_BYTES, most_bytes);
    if outcome == Outcome::Full {
        out.truncate(start);
        let size = external_size(term, options);
        // All of it, and at the end a copy.
        if !heddle_memory::fits(2 * size) {
            return Err(Unencoded::TooLarge);
        }
        out.reserve_exact(size);
        outcome = encode_up_to(&mut out, term, options, usize::MAX, most_bytes);
    }
    match outcome {
        Outcome::Done | Outcome::Full => {}
        Outcome::Long => return Err(Unencoded::Long),
        Outcome::TooLarge => return Err(Unencoded::TooLarge),
    }
    if options.local {
        let seal = local_seal(&out[10..]);
        out[2..10].copy_from_slice(&seal.to_be_bytes());
    }
    Ok(match options.compressed {
        Some(level) if !options.local => compress(&out, level).unwrap_or(out),
        _ => out,
    })
}

fn compress(plain: &[u8], level: u32) -> Option<Vec<u8>> {
    let size = u32::try_from(plain.len() - 1).ok()?;
    let mut out = vec![VERSION, tag::COMPRESSED];
    out.extend_from_slice(&size.to_be_bytes());
    let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::new(level.min(9)));
    encoder.write_all(&plain[1..]).ok()?;
    let out = encoder.finish().ok()?;
    // As stock: no longer than the plain bytes.
    (out.len() <= plain.len()).then_some(out)
}

/// Bytes that `encode` writes with default options.
pub fn external_size(term: Term, options: &EncodeOptions) -> usize {
    // The seal of the local form takes a tag and eight bytes.
    let seal = if options.local { 9 } else { 0 };
    let (bytes, cuts, _) = parts(term, options, usize::MAX);
    seal + bytes.len() + cuts.iter().filter_map(|cut| BitsView::of(cut.1)).map(|view| (view.size_bits / 8) as usize).sum::<usize>()
}

/// Checksum that only this VM knows how to make.
pub(super) fn local_seal(bytes: &[u8]) -> u64 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    KEY.get_or_init(RandomState::new).hash_one(bytes)
}

/// Appends a term without version byte.
pub fn encode_body(out: &mut Vec<u8>, term: Term, options: &EncodeOptions) {
    encode_up_to(out, term, options, usize::MAX, usize::MAX);
}

fn encoder<'a>(out: &'a mut Vec<u8>, options: &EncodeOptions) -> Encoder<'a, WholeAtoms, false> {
    let atoms = WholeAtoms { minor_version: options.minor_version };
    Encoder::new(out, atoms, options.minor_version, options.deterministic)
}

#[derive(PartialEq, Eq)]
enum Outcome {
    Done,
    /// A binary would end after the limit.
    Full,
    /// There are more bytes than asked for.
    Long,
    /// A length does not fit in its field.
    TooLarge,
}

/// The same, up to that length, and with that many bytes besides those of bitstrings. Where the outcome is not `Done`, encoding stops.
fn encode_up_to(out: &mut Vec<u8>, term: Term, options: &EncodeOptions, limit_bytes: usize, most_bytes: usize) -> Outcome {
    let mut encoder = encoder(out, options);
    (encoder.limit_bytes, encoder.long_at) = (limit_bytes, most_bytes);
    encoder.run(term);
    outcome(&encoder)
}

fn outcome(encoder: &Encoder<'_, WholeAtoms, false>) -> Outcome {
    match encoder.is_full {
        _ if encoder.is_too_large => Outcome::TooLarge,
        _ if encoder.is_long => Outcome::Long,
        true => Outcome::Full,
        false => Outcome::Done,
    }
}

/// Where the whole bytes of which bitstring belong.
pub type Cuts = Vec<(usize, Term)>;

/// As `encode` (neither compressed nor local), but the bytes of large bitstrings are left out: the second answer says where
/// the whole bytes of which bitstring belong. For a term with about `most_bytes` at most.
pub fn encode_parts(term: Term, options: &EncodeOptions, most_bytes: usize) -> Result<(Vec<u8>, Cuts), Unencoded> {
    match parts(term, options, most_bytes) {
        (_, _, Outcome::TooLarge) => Err(Unencoded::TooLarge),
        (_, _, Outcome::Long) => Err(Unencoded::Long),
        (bytes, cuts, _) => Ok((bytes, cuts)),
    }
}

fn parts(term: Term, options: &EncodeOptions, most_bytes: usize) -> (Vec<u8>, Cuts, Outcome) {
    let mut out = vec![VERSION];
    let mut encoder = encoder(&mut out, options);
    encoder.cuts = Some(Vec::new());
    encoder.long_at = most_bytes;
    encoder.run(term);
    let cuts = encoder.cuts.take().unwrap_or_default();
    let outcome = outcome(&encoder);
    (out, cuts, outcome)
}
