//! The external term format.

use super::bytes::{self, slice};
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::sched;
use heddle_term::bits::BitsView;
use heddle_term::etf::{self, DecodeError, DecodeOptions, EncodeOptions, Unencoded};
use heddle_term::{Atom, Term, list};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "binary_to_term"/1 => binary_to_term,
        "binary_to_term"/2 => binary_to_term_2,
        "term_to_binary"/1 => term_to_binary,
        "term_to_binary"/2 => term_to_binary,
        "term_to_iovec"/1 => term_to_iovec,
        "term_to_iovec"/2 => term_to_iovec,
        "external_size"/1 => external_size,
        "external_size"/2 => external_size,
    }
    "erts_debug" => { "dist_ext_to_term"/2 => dist_ext_to_term }
}

/// Bytes of a term that a normal scheduler decodes at one go. They take half a millisecond (measured with lists, tuples and maps of small terms).
const DECODED_HERE_BYTES: usize = 192 * 1024;
/// Bytes of a term that are decoded to see whether it is as long as what there is.
const TRIED_BYTES: usize = 8 * 1024;
/// Bytes of a term, besides those of its bitstrings, that a normal scheduler encodes at one go, which takes as long.
const ENCODED_HERE_BYTES: usize = 256 * 1024;
/// Encoded bytes per reduction (guessed).
const ENCODED_BYTES_PER_REDUCTION: usize = 50;

fn decode(p: &mut Process, binary: Term, safe: bool, used: bool) -> NativeResult {
    let mut copy = Vec::new();
    let Some(bytes) = bytes::bytes(binary, &mut copy) else { return Err(p.badarg()) };
    // Bytes after the term cost no work, so only decoding shows how long the term is. Mostly there are none, unless the program asks how many were
    // used: then of a long term little is decoded in vain.
    let limit_bytes = match bytes.len() {
        _ if sched::on_dirty_thread() => usize::MAX,
        0..=DECODED_HERE_BYTES => DECODED_HERE_BYTES,
        _ if used => DECODED_HERE_BYTES,
        _ => TRIED_BYTES,
    };
    let options = DecodeOptions { safe, allow_trailing: true, limit_bytes, ..Default::default() };
    let decoded = etf::decode(&mut p.heap, bytes, &options);
    long::done(p, decoded.as_ref().map_or(0, |decoded| decoded.used * 4));
    match decoded {
        Ok(decoded) if used => Ok(p.heap.tuple(&[decoded.term, Term::small(decoded.used as i64)])),
        Ok(decoded) => Ok(decoded.term),
        Err(DecodeError::Long) => Err(Thrown::DirtyCpu),
        Err(DecodeError::AtomTableFull) => heddle_term::atom::table_full(),
        Err(_) => Err(p.badarg()),
    }
}

fn binary_to_term(p: &mut Process, a: &[Term]) -> NativeResult {
    decode(p, a[0], false, false)
}

fn binary_to_term_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let (mut safe, mut used) = (false, false);
    for option in list::to_vec(a[1]).unwrap_or(vec![Term::NIL]) {
        match option.as_atom().map(Atom::name) {
            Some("safe") => safe = true,
            Some("used") => used = true,
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        }
    }
    decode(p, a[0], safe, used)
}

/// Decodes a term that refers to atoms by their place in a tuple, as terms do to the atoms of a distribution header.
fn dist_ext_to_term(p: &mut Process, a: &[Term]) -> NativeResult {
    let atoms: Option<Vec<Atom>> = a[0].as_tuple().and_then(|atoms| atoms.iter().map(|t| t.as_atom()).collect());
    let (Some(atoms), Some(view)) = (atoms, BitsView::of(a[1]).filter(BitsView::is_binary)) else { return Err(p.badarg()) };
    let options = DecodeOptions { allow_trailing: true, atom_cache: &atoms, ..Default::default() };
    match etf::decode(&mut p.heap, &view.to_vec(), &options) {
        Ok(decoded) => Ok(decoded.term),
        Err(DecodeError::AtomTableFull) => heddle_term::atom::table_full(),
        Err(_) => Err(p.badarg()),
    }
}

/// Options of `term_to_binary` and `term_to_iovec`.
fn encode_options(term: Option<&Term>) -> Option<EncodeOptions> {
    let mut options = EncodeOptions::default();
    for option in list::to_vec(term.copied().unwrap_or(Term::NIL))? {
        match option.as_atom().map(Atom::name) {
            Some("compressed") => options.compressed = Some(6),
            Some("deterministic") => options.deterministic = true,
            Some("local") => options.local = true,
            Some(_) => return None,
            None => {
                let (name, value) = heddle_natives::args::option(option)?;
                let value = value.as_small()?;
                match (name.name(), value) {
                    ("compressed", 0..=9) => options.compressed = (value > 0).then_some(value as u32),
                    ("minor_version", 0..=2) => options.minor_version = value as u8,
                    _ => return None,
                }
            }
        }
    }
    // A local form is for this node alone, and means nothing to others.
    (!(options.local && options.deterministic)).then_some(options)
}

/// Bytes of a term that are encoded at one go. A term that will be compressed, which takes longer, is looked at first.
fn most_bytes(p: &mut Process, term: Term, options: &EncodeOptions) -> Result<usize, Thrown> {
    if options.compressed.is_some() {
        long::work_on(p, term)?;
        return Ok(usize::MAX);
    }
    Ok(if sched::on_dirty_thread() { usize::MAX } else { ENCODED_HERE_BYTES })
}

/// What was encoded, whose `bytes` are counted as work. A long term is encoded again from its beginning on a dirty scheduler.
fn encoded<T>(p: &mut Process, result: Result<T, Unencoded>, bytes: impl Fn(&T) -> usize) -> Result<T, Thrown> {
    match result {
        Ok(done) => {
            p.bump(bytes(&done) / ENCODED_BYTES_PER_REDUCTION);
            Ok(done)
        }
        Err(Unencoded::Long) => Err(Thrown::DirtyCpu),
        Err(Unencoded::TooLarge) => Err(p.system_limit()),
    }
}

fn term_to_binary(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = encode_options(a.get(1)) else { return Err(p.badarg()) };
    let most = most_bytes(p, a[0], &options)?;
    let bytes = encoded(p, etf::encode_short(a[0], &options, most), Vec::len)?;
    Ok(p.heap.binary(&bytes))
}

/// In the result large binaries are elements of their own.
fn term_to_iovec(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = encode_options(a.get(1)) else { return Err(p.badarg()) };
    if options.local || options.compressed.is_some() {
        let binary = term_to_binary(p, a)?;
        return Ok(p.heap.list(&[binary]));
    }
    let most = most_bytes(p, a[0], &options)?;
    let (bytes, cuts) = encoded(p, etf::encode_parts(a[0], &options, most), |(bytes, _)| bytes.len())?;
    let mut vector = Vec::with_capacity(2 * cuts.len() + 1);
    let mut from = 0;
    for (at, bits) in cuts {
        if from < at {
            vector.push(p.heap.binary(&bytes[from..at]));
        }
        let size = BitsView::of(bits).map_or(0, |view| view.size_bits);
        vector.push(if size.is_multiple_of(8) { bits } else { slice(&mut p.heap, bits, 0, size / 8 * 8) });
        from = at;
    }
    if from < bytes.len() {
        vector.push(p.heap.binary(&bytes[from..]));
    }
    Ok(p.heap.list(&vector))
}

fn external_size(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = encode_options(a.get(1)) else { return Err(p.badarg()) };
    long::work_on(p, a[0])?;
    Ok(Term::small(etf::external_size(a[0], &options) as i64))
}
