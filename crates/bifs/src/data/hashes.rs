//! Hashes and checksums.

use super::bytes::{self, io_bytes};
use super::md5::Md5;
use heddle_natives::long;
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::hash::{phash, phash2};
use heddle_term::{Term, big};

heddle_runtime::natives! { TABLE:
    "erlang" => {
        "phash"/2 => phash_2,
        "phash2"/1 => phash2_1,
        "phash2"/2 => phash2_2,
        "md5"/1 => md5,
        "md5_init"/0 => md5_init,
        "md5_update"/2 => md5_update,
        "md5_final"/1 => md5_final,
        "crc32"/1 => crc32_1,
        "crc32"/2 => crc32_2,
        "crc32_combine"/3 => crc32_combine,
        "adler32"/1 => adler32_1,
        "adler32"/2 => adler32_2,
        "adler32_combine"/3 => adler32_combine,
    }
}

fn range(term: Term) -> Option<u64> {
    big::to_u64(term).filter(|n| (1..=1 << 32).contains(n))
}

fn phash_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(range) = range(a[1]) else { return Err(p.badarg()) };
    long::work_on(p, a[0])?;
    Ok(Term::small(phash(a[0], range) as i64))
}

/// Values of phash2/1 are below this.
const PHASH2_RANGE: u64 = 1 << 27;

fn phash2_of(p: &mut Process, term: Term, range: u64) -> NativeResult {
    if term.is_pointer() {
        long::work_on(p, term)?;
    }
    Ok(Term::small(phash2(term, range) as i64))
}

fn phash2_1(p: &mut Process, a: &[Term]) -> NativeResult {
    phash2_of(p, a[0], PHASH2_RANGE)
}

fn phash2_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(range) = range(a[1]) else { return Err(p.badarg()) };
    phash2_of(p, a[0], range)
}

fn md5(p: &mut Process, a: &[Term]) -> NativeResult {
    let bytes = io_bytes(p, a[0])?;
    p.bump(bytes.len() / 256);
    let mut md5 = Md5::new();
    md5.update(&bytes);
    Ok(p.heap.binary(&md5.finish()))
}

fn md5_init(p: &mut Process, _: &[Term]) -> NativeResult {
    Ok(p.heap.binary(&Md5::new().to_bytes()))
}

fn context(term: Term) -> Option<Md5> {
    let mut copy = Vec::new();
    Md5::from_bytes(bytes::bytes(term, &mut copy)?)
}

fn md5_update(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(mut md5) = context(a[0]) else { return Err(p.badarg()) };
    let bytes = io_bytes(p, a[1])?;
    p.bump(bytes.len() / 256);
    md5.update(&bytes);
    Ok(p.heap.binary(&md5.to_bytes()))
}

fn md5_final(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(md5) = context(a[0]) else { return Err(p.badarg()) };
    Ok(p.heap.binary(&md5.finish()))
}

fn checksum(term: Term) -> Option<u32> {
    big::to_u64(term).and_then(|n| u32::try_from(n).ok())
}

fn unsigned(value: u32) -> NativeResult {
    Ok(Term::small(value as i64))
}

fn crc32(p: &mut Process, start: u32, data: Term) -> NativeResult {
    let bytes = io_bytes(p, data)?;
    let mut hasher = crc32fast::Hasher::new_with_initial(start);
    hasher.update(&bytes);
    unsigned(hasher.finalize())
}

fn crc32_1(p: &mut Process, a: &[Term]) -> NativeResult {
    crc32(p, 0, a[0])
}

fn crc32_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(start) = checksum(a[0]) else { return Err(p.badarg()) };
    crc32(p, start, a[1])
}

fn crc32_combine(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(first), Some(second), Some(len)) = (checksum(a[0]), checksum(a[1]), checksum(a[2])) else { return Err(p.badarg()) };
    if len == 0 {
        // The sum of no bytes should be 0, which zlib does not check.
        return unsigned(first ^ second);
    }
    let mut hasher = crc32fast::Hasher::new_with_initial(first);
    hasher.combine(&crc32fast::Hasher::new_with_initial_len(second, len as u64));
    unsigned(hasher.finalize())
}

const ADLER_BASE: u64 = 65521;
/// As many bytes as can be summed up in 64 bits without a reduction.
const ADLER_CHUNK: usize = 1 << 20;

/// True if a deep list has a binary anywhere.
fn has_binary(data: Term) -> bool {
    let mut stack = vec![data];
    while let Some(term) = stack.pop() {
        if term.is_cons() {
            stack.extend([term.tail(), term.head()]);
        } else if term.is_bitstring() {
            return true;
        }
    }
    false
}

fn adler32(p: &mut Process, start: u32, data: Term) -> NativeResult {
    let bytes = io_bytes(p, data)?;
    if bytes.is_empty() && !has_binary(data) {
        return unsigned(start);
    }
    // An empty binary reduces the sums too, as in stock.
    let (mut low, mut high) = ((start & 0xffff) as u64 % ADLER_BASE, (start >> 16) as u64 % ADLER_BASE);
    for chunk in bytes.chunks(ADLER_CHUNK) {
        for &byte in chunk {
            low += byte as u64;
            high += low;
        }
        low %= ADLER_BASE;
        high %= ADLER_BASE;
    }
    unsigned((high << 16 | low) as u32)
}

fn adler32_1(p: &mut Process, a: &[Term]) -> NativeResult {
    adler32(p, 1, a[0])
}

fn adler32_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(start) = checksum(a[0]) else { return Err(p.badarg()) };
    adler32(p, start, a[1])
}

fn adler32_combine(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(first), Some(second), Some(len)) = (checksum(a[0]), checksum(a[1]), checksum(a[2])) else { return Err(p.badarg()) };
    if len == 0 {
        return unsigned(first);
    }
    let (low1, high1) = ((first & 0xffff) as u64, (first >> 16) as u64);
    let (low2, high2) = ((second & 0xffff) as u64, (second >> 16) as u64);
    let rest = len as u64 % ADLER_BASE;
    let low = low1 + low2 + ADLER_BASE - 1;
    let high = rest * low1 % ADLER_BASE + high1 + high2 + ADLER_BASE - rest;
    // A number that is no Adler-32 sum may have halves above the base. zlib subtracts only what a sum can have too much.
    let less = |n: u64, by: u64| if n >= by { n - by } else { n };
    let low = less(less(low, ADLER_BASE), ADLER_BASE);
    let high = less(less(high, 2 * ADLER_BASE), ADLER_BASE);
    unsigned((high << 16 | low) as u32)
}
