//! `+JPperf`: names of compiled functions for `perf report`, which reads them from `/tmp/perf-PID.map`.

use heddle_abi::settings::{PerfFiles, SETTINGS};
use heddle_jit::Place;
use heddle_runtime::code::Instance;
use std::fmt::Write;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// The file, once it is open. `None` in it: it could not be opened, which was told.
static FILE: Mutex<Option<Option<File>>> = Mutex::new(None);

fn open() -> Option<File> {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    match OpenOptions::new().create(true).append(true).open(&path) {
        Ok(file) => Some(file),
        Err(error) => {
            heddle_runtime::exit::log_message("warning", &format!("perf has no names of compiled functions (+JPperf): {path}: {error}"));
            None
        }
    }
}

/// Writes the names of what was compiled: function, and the line of the source where the segment begins.
pub fn tell(instance: &Instance, places: &[Place]) {
    if !matches!(SETTINGS.perf.get(), PerfFiles::Map | PerfFiles::Both) {
        return;
    }
    let mut lines = String::new();
    for place in places {
        let Some(function) = instance.function_at(place.cell) else { continue };
        let at = instance.line_at(place.cell).map_or(String::new(), |(_, line)| format!("+L{line}"));
        let name = format!("${}:{}/{}{at}", instance.name.name(), function.name.name(), function.arity);
        let _ = writeln!(lines, "{:x} {:x} {name}", place.address, place.bytes);
    }
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = file.get_or_insert_with(open) {
        let _ = file.write_all(lines.as_bytes());
    }
}
