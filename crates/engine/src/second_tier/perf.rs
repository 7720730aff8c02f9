//! `+JPperf`: what `perf` has to know of compiled functions. `/tmp/perf-PID.map` has their names, with the line where each segment begins.
//! `/tmp/jit-PID.dump` (`jitdump`) also has their code, and a line for each of its parts.

use super::jitdump::{self, Code};
use heddle_abi::settings::{PerfFiles, SETTINGS};
use heddle_jit::Place;
use heddle_runtime::code::Instance;
use std::fmt::Write;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// A file that is opened with the first function. `None` in it: it could not be opened, which was told.
struct Output(Mutex<Option<Option<File>>>);

static MAP: Output = Output(Mutex::new(None));
static DUMP: Output = Output(Mutex::new(None));

impl Output {
    /// Appends what `bytes` gives, to a file that begins with what `begin` writes.
    fn append(&self, path: &str, begin: impl FnOnce(&mut File) -> std::io::Result<()>, bytes: impl FnOnce() -> Vec<u8>) {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.get_or_insert_with(|| {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
            opened.and_then(|mut file| begin(&mut file).map(|()| file)).map_err(|error| complain(path, &error)).ok()
        });
        if let Some(file) = file {
            let _ = file.write_all(&bytes());
        }
    }
}

fn complain(path: &str, error: &std::io::Error) {
    heddle_runtime::exit::log_message("warning", &format!("perf gets nothing about compiled functions (+JPperf): {path}: {error}"));
}

/// True if anything is written.
pub fn is_on() -> bool {
    !SETTINGS.perf.is(PerfFiles::None)
}

/// Writes what was compiled.
pub fn tell(instance: &Instance, places: &[Place]) {
    let (map, dump) = match SETTINGS.perf.get() {
        PerfFiles::None => return,
        PerfFiles::Map => (true, false),
        PerfFiles::Dump => (false, true),
        PerfFiles::Both => (true, true),
    };
    if places.is_empty() {
        return;
    }
    let pid = std::process::id();
    if map {
        MAP.append(&format!("/tmp/perf-{pid}.map"), |_| Ok(()), || names(instance, places).into_bytes());
    }
    if dump {
        DUMP.append(&format!("/tmp/jit-{pid}.dump"), jitdump::begin, || {
            places.iter().filter_map(|place| code(instance, place)).flat_map(|code| code.records()).collect()
        });
    }
}

/// Function, and the line of the source where the segment begins.
fn names(instance: &Instance, places: &[Place]) -> String {
    let mut lines = String::new();
    for place in places {
        let Some(name) = name(instance, place) else { continue };
        let at = instance.line_at(place.cell).map_or(String::new(), |(_, line)| format!("+L{line}"));
        let _ = writeln!(lines, "{:x} {:x} ${name}{at}", place.address, place.bytes);
    }
    lines
}

fn name(instance: &Instance, place: &Place) -> Option<String> {
    let function = instance.function_at(place.cell)?;
    Some(format!("{}:{}/{}", instance.name.name(), function.name.name(), function.arity))
}

fn code<'a>(instance: &'a Instance, place: &Place) -> Option<Code<'a>> {
    // SAFETY: the machine code lies there, and stays while it is told: the caller has the module, and has not put the code in place yet or loads it.
    let bytes = unsafe { std::slice::from_raw_parts(place.address as *const u8, place.bytes) };
    let line = |&(offset, cell): &(usize, u32)| instance.line_at(cell).map(|(file, line)| (place.address + offset, file, line));
    let mut lines: Vec<(usize, &str, u32)> = place.lines.iter().filter_map(line).collect();
    lines.dedup_by_key(|&mut (_, file, line)| (file, line));
    Some(Code { name: name(instance, place)?, address: place.address, bytes: bytes.to_vec(), lines })
}
