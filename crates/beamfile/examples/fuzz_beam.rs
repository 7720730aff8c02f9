//! Feeds mutated files to the parser, the verifier and the message analysis. None may panic, hang, or take much memory, whatever the
//! bytes.
//!
//! `cargo run --release -p heddle-beamfile --example fuzz_beam -- --dir OTP --count N --seed S`
//!
//! A file that does harm is saved as `fuzz-SEED-NUMBER.beam` in the current directory; the seed replays the run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, process};

use flate2::read::ZlibDecoder;
use heddle_beamfile::{BeamFile, Verified, container, messages};

/// Larger files only slow us down; they hold nothing that small ones do not.
const FILE_BYTES_MAX: usize = 24 << 10;
/// Nothing of that size may take longer. Generous, for a busy computer.
const TIME_MAX: Duration = Duration::from_millis(500);

fn main() {
    start(|file| {
        let beam = BeamFile::parse(file).map_err(|error| (false, error.to_string()))?;
        let beam = Verified::new(beam).map_err(|error| (true, error.to_string()))?;
        messages::analyse(&beam);
        Ok(())
    });
}

/// What becomes of a file: fine, refused before (false) or after (true) it was parsed.
pub type Judgement = Result<(), (bool, String)>;

/// Reads the options and runs `check` on mutated files. Also used by the engine's fuzzer, which loads what verifies.
pub fn start(check: impl Fn(&[u8]) -> Judgement) {
    let mut options = Options { dir: PathBuf::from("/opt/otp27/usr/lib/erlang"), count: 100_000, seed: 1 };
    let arguments: Vec<String> = env::args().skip(1).collect();
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--dir" => options.dir = value.into(),
            [name, value] if name == "--count" => options.count = number(name, value),
            [name, value] if name == "--seed" => options.seed = number(name, value),
            _ => stop(&format!("unknown option {pair:?}; options are --dir, --count and --seed, each with a value")),
        }
    }
    run(&options, check);
}

struct Options {
    dir: PathBuf,
    count: u64,
    seed: u64,
}

fn number(name: &str, value: &str) -> u64 {
    value.parse().unwrap_or_else(|_| stop(&format!("{name} takes a number, not {value}")))
}

fn stop(problem: &str) -> ! {
    eprintln!("fuzz_beam: {problem}");
    process::exit(2);
}

/// A file's chunks, with the literal table unpacked.
type Chunks = Vec<([u8; 4], Vec<u8>)>;

struct Sample {
    chunks: Chunks,
    /// Where instructions start in the data of `Code`, and where the last one ends.
    instrs: Vec<usize>,
}

fn run(options: &Options, check: impl Fn(&[u8]) -> Judgement) {
    let mut corpus = Vec::new();
    collect(&options.dir, &mut corpus);
    if corpus.is_empty() {
        stop(&format!("no .beam files under {}; pass --dir with the root of an OTP tree", options.dir.display()));
    }
    std::panic::set_hook(Box::new(|_| {}));
    let mut random = Random(options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut parsed, mut accepted, mut harmful, mut slowest) = (0u64, 0u64, 0u64, Duration::ZERO);
    let started = Instant::now();
    for round in 0..options.count {
        let file = mutate(&corpus[random.below(corpus.len())], &mut random);
        let timed = || {
            let began = Instant::now();
            (catch_unwind(AssertUnwindSafe(|| check(&file))), began.elapsed())
        };
        let (outcome, mut took) = timed();
        // On a busy computer a thread may wait that long: only what is slow again and again is slow.
        for _ in 0..5 {
            if took <= TIME_MAX {
                break;
            }
            took = took.min(timed().1);
        }
        slowest = slowest.max(took);
        match &outcome {
            Ok(Ok(())) => accepted += 1,
            Ok(Err((true, _))) => parsed += 1,
            _ => {}
        }
        if outcome.is_err() || took > TIME_MAX {
            harmful += 1;
            let name = format!("fuzz-{}-{round}.beam", options.seed);
            let what = if outcome.is_err() { "panics" } else { "takes too long" };
            println!("{name} {what} ({took:?}); saved: {:?}", fs::write(&name, &file));
        }
        if (round + 1) % 100_000 == 0 {
            println!("{} files, {accepted} accepted, {parsed} parsed but refused, slowest {slowest:?}, {:?}", round + 1, started.elapsed());
        }
    }
    println!("{} files, {accepted} accepted, {parsed} parsed but refused, {harmful} harmful, slowest {slowest:?}", options.count);
    // The most memory the process ever had, corpus included.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    process::exit(i32::from(harmful > 0));
}

fn collect(directory: &Path, corpus: &mut Vec<Sample>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, corpus);
        } else if path.extension().is_some_and(|extension| extension == "beam")
            && let Some(sample) = fs::read(&path).ok().and_then(|bytes| split(&bytes))
        {
            corpus.push(sample);
        }
    }
}

fn split(file: &[u8]) -> Option<Sample> {
    let mut chunks = Chunks::new();
    for chunk in container::chunks(file).ok()? {
        let mut data = file[chunk.range].to_vec();
        match &chunk.id.0 {
            b"Dbgi" | b"Docs" => continue,
            // Stored as OTP 28 does, so that mutations reach the terms' sizes; in some files still packed.
            b"LitT" if data.len() > 4 && !file.len().is_multiple_of(8) => {
                let mut unpacked = vec![0; 4];
                std::io::Read::read_to_end(&mut ZlibDecoder::new(&data[4..]), &mut unpacked).ok()?;
                data = unpacked;
            }
            _ => {}
        }
        chunks.push((chunk.id.0, data));
    }
    if chunks.iter().map(|chunk| chunk.1.len()).sum::<usize>() > FILE_BYTES_MAX {
        return None;
    }
    let code_header = 20;
    let instrs = BeamFile::parse(file).ok()?.code.instrs.iter().map(|instr| code_header + instr.offset as usize).collect();
    Some(Sample { chunks, instrs })
}

fn mutate(sample: &Sample, random: &mut Random) -> Vec<u8> {
    let mut chunks = sample.chunks.clone();
    let code = chunks.iter().position(|chunk| chunk.0 == *b"Code");
    // Half of all files get a change that leaves instructions whole, so that most of them reach the verifier.
    let whole = random.below(2) == 0;
    if let Some(code) = code.filter(|_| whole) {
        instructions(&mut chunks[code].1, &sample.instrs, random);
    }
    let more = if whole { random.below(8) / 6 } else { 1 + random.below(6) / 3 };
    for _ in 0..more {
        let index = code.filter(|&code| code < chunks.len() && random.below(2) == 0).unwrap_or_else(|| random.below(chunks.len()));
        let other = random.below(chunks.len());
        match random.below(40) {
            0 => chunks.swap(index, other),
            1 if chunks.len() > 1 => drop(chunks.remove(index)),
            2 => chunks[index].0 = chunks[other].0,
            3 => chunks.push(chunks[index].clone()),
            _ => bytes(&mut chunks[index].1, random),
        }
    }
    let mut file = join(&chunks);
    match random.below(50) {
        0 => file.truncate(random.below(file.len() + 1)),
        1 => bytes(&mut file, random),
        _ => {}
    }
    file
}

/// Removes, repeats, moves or changes whole instructions.
fn instructions(code: &mut Vec<u8>, starts: &[usize], random: &mut Random) {
    let count = starts.len() - 1;
    let (one, other) = (random.below(count), random.below(count));
    let (one, other) = (starts[one]..starts[one + 1], starts[other]..starts[other + 1]);
    match random.below(8) {
        0 => drop(code.drain(one)),
        1 => {
            let copy = code[other].to_vec();
            code.splice(one, copy);
        }
        2 | 3 => {
            let copy = code[other].to_vec();
            code.splice(one.start..one.start, copy);
        }
        // An operand with the same tag and another small number, or the other way round.
        _ => {
            let at = one.start + random.below(one.len());
            let change = if random.below(4) == 0 { random.byte() & 0xf7 } else { random.byte() & 0x70 };
            code[at] ^= change;
        }
    }
}

fn bytes(data: &mut Vec<u8>, random: &mut Random) {
    if data.is_empty() {
        return data.push(random.byte());
    }
    let at = random.below(data.len());
    match random.below(16) {
        0..4 => data[at] ^= 1 << random.below(8),
        4 | 5 => data[at] = random.byte(),
        // The number of a compact term, its tag as it was: another register, label, atom.
        6..9 => data[at] = data[at] & 0x0f | random.byte() & 0xf0,
        // An instruction of some other kind.
        9 => data[at] = (1 + random.below(191)) as u8,
        10 => data.truncate(at),
        11 => {
            let (from, size) = (random.below(data.len()), 1 + random.below(16));
            let piece: Vec<u8> = data[from..].iter().take(size).copied().collect();
            data.splice(at..at, piece);
        }
        12 => drop(data.drain(at..(at + 1 + random.below(16)).min(data.len()))),
        13 => {
            let with = random.below(data.len());
            data.swap(at, with);
        }
        // Large counts.
        14 => {
            let large = [0xffff_ffff_u32, 0x7fff_ffff, 0x8000_0000, 0x0100_0000, 0x0001_0000][random.below(5)].to_be_bytes();
            let at = at & !3;
            data.iter_mut().skip(at).zip(large).for_each(|(byte, new)| *byte = new);
        }
        _ => {
            let tag = random.byte() & 7;
            let wide: &[u8] =
                [&[0x38u8, 0x7f, 0xff, 0xff][..], &[0x18, 0xff, 0xff], &[0xf8, 0x00, 1, 2, 3, 4, 5, 6, 7, 8, 9]][random.below(3)];
            let mut piece = wide.to_vec();
            piece[0] |= tag;
            let end = (at + 1).min(data.len());
            data.splice(at..end, piece);
        }
    }
}

fn join(chunks: &Chunks) -> Vec<u8> {
    let mut file = b"FOR1\0\0\0\0BEAM".to_vec();
    for (id, data) in chunks {
        file.extend_from_slice(id);
        file.extend_from_slice(&(data.len() as u32).to_be_bytes());
        file.extend_from_slice(data);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    let size = (file.len() as u32 - 8).to_be_bytes();
    file[4..8].copy_from_slice(&size);
    file
}

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 32) as usize) % limit.max(1)
    }

    fn byte(&mut self) -> u8 {
        (self.next() >> 40) as u8
    }
}
