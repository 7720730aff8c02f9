//! The log files erlang.log.1, erlang.log.2, ...: as many generations as are kept, in turn. The file after the current one does not exist, so
//! the next run finds the place.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const STEM: &str = "erlang.log.";
const DEFAULT_FORMAT: &str = "%a %b %e %T %Z %Y";

/// What the environment sets.
pub struct Limits {
    /// How many files there may be.
    generations: u32,
    max_bytes: u64,
    /// Minutes without output after which a line says that the program is alive.
    pub alive_minutes: u64,
    /// Minutes without output after which output begins with the time.
    pub activity_minutes: u64,
    format: String,
    in_utc: bool,
}

fn number(name: &str, default: u64, least: u64, most: u64) -> Result<u64, String> {
    let Ok(text) = std::env::var(name) else { return Ok(default) };
    match text.trim().parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ if most == u64::MAX => Err(format!("{name}={text}: it must be {least} or more")),
        _ => Err(format!("{name}={text}: it must be between {least} and {most}")),
    }
}

impl Limits {
    pub fn of_environment() -> Result<Limits, String> {
        let alive_minutes = number("RUN_ERL_LOG_ALIVE_MINUTES", 15, 1, u64::MAX / 60_000)?;
        let is_set = std::env::var_os("RUN_ERL_LOG_ALIVE_MINUTES").is_some();
        let activity_minutes = if is_set { (alive_minutes / 3).max(1) } else { 5 };
        Ok(Limits {
            generations: number("RUN_ERL_LOG_GENERATIONS", 5, 2, 1000)? as u32,
            max_bytes: number("RUN_ERL_LOG_MAXSIZE", 100_000, 1000, u64::MAX)?,
            alive_minutes,
            activity_minutes: number("RUN_ERL_LOG_ACTIVITY_MINUTES", activity_minutes, 1, u64::MAX / 60_000)?,
            format: std::env::var("RUN_ERL_LOG_ALIVE_FORMAT").unwrap_or_else(|_| DEFAULT_FORMAT.into()),
            in_utc: std::env::var("RUN_ERL_LOG_ALIVE_IN_UTC").is_ok_and(|value| value != "0"),
        })
    }

    fn after(&self, generation: u32) -> u32 {
        if generation >= self.generations { 1 } else { generation + 1 }
    }

    /// The time, in the format that is set.
    fn time(&self) -> String {
        let Ok(format) = std::ffi::CString::new(self.format.as_str()) else { return String::new() };
        let mut shown = [0u8; 256];
        // SAFETY: valid destinations of the sizes that are given; the format ends with zero.
        let length = unsafe {
            let now = libc::time(std::ptr::null_mut());
            let mut parts: libc::tm = std::mem::zeroed();
            if self.in_utc {
                libc::gmtime_r(&now, &mut parts);
            } else {
                libc::localtime_r(&now, &mut parts);
            }
            libc::strftime(shown.as_mut_ptr().cast(), shown.len(), format.as_ptr(), &parts)
        };
        match length {
            0 => "(the time in this format has more than 255 bytes)".into(),
            length => String::from_utf8_lossy(&shown[..length]).into_owned(),
        }
    }
}

pub struct Log {
    directory: PathBuf,
    pub limits: Limits,
    generation: u32,
    file: File,
}

impl Log {
    /// Goes on with the file that the last run wrote.
    pub fn open(directory: &Path, limits: Limits) -> Result<Log, String> {
        let generation = current(directory, &limits)?;
        let file = begin(directory, &limits, generation, false)?;
        Ok(Log { directory: directory.to_owned(), limits, generation, file })
    }

    /// Writes output of the program. A disk that is full does not end the program: what cannot be written is missing in the log.
    pub fn write(&mut self, bytes: &[u8]) {
        let size = self.file.seek(SeekFrom::End(0)).unwrap_or(0);
        if size + bytes.len() as u64 > self.limits.max_bytes {
            let next = self.limits.after(self.generation);
            match begin(&self.directory, &self.limits, next, true) {
                Ok(file) => (self.file, self.generation) = (file, next),
                Err(problem) => eprintln!("run_erl: {problem}"),
            }
        }
        if let Err(error) = self.file.write_all(bytes) {
            eprintln!("run_erl: the log in {}: {error}", self.directory.display());
        }
    }

    /// Writes the time: of output after a long silence, or of the silence.
    pub fn write_time(&mut self, is_silent: bool) {
        let line = format!("\n===== {}{}\n", if is_silent { "ALIVE " } else { "" }, self.limits.time());
        self.write(line.as_bytes());
    }
}

fn path(directory: &Path, generation: u32) -> PathBuf {
    directory.join(format!("{STEM}{generation}"))
}

/// The generation before the first that is missing after one that is there; 1 if there is none.
fn current(directory: &Path, limits: &Limits) -> Result<u32, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("the directory of logs {}: {error}", directory.display()))?;
    let there: Vec<u32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.strip_prefix(STEM)?.parse().ok()).collect();
    let last = |generation: &u32| there.contains(generation) && !there.contains(&limits.after(*generation));
    Ok((1..=limits.generations).rev().find(last).unwrap_or(1))
}

/// Opens a file, at its end or anew, removes the one after it, and writes that logging starts.
fn begin(directory: &Path, limits: &Limits, generation: u32, anew: bool) -> Result<File, String> {
    let _ = std::fs::remove_file(path(directory, limits.after(generation)));
    let name = path(directory, generation);
    let mut options = OpenOptions::new();
    options.create(true).mode(0o664);
    let opened = if anew { options.write(true).truncate(true) } else { options.append(true) }.open(&name);
    let mut file = opened.map_err(|error| format!("the log {}: {error}", name.display()))?;
    let written = write!(file, "\n=====\n===== LOGGING STARTED {}\n=====\n", limits.time());
    written.map_err(|error| format!("the log {}: {error}", name.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_in_turn_and_the_next_run_goes_on_with_the_last_one() {
        let directory = std::env::temp_dir().join(format!("run_erl_log_{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        let limits = || Limits { generations: 3, max_bytes: 1000, ..Limits::of_environment().unwrap() };
        let mut log = Log::open(&directory, limits()).unwrap();
        let there = || (1..=4).filter(|&generation| path(&directory, generation).exists()).collect::<Vec<_>>();
        assert_eq!((log.generation, there()), (1, vec![1]));
        log.write(&[b'a'; 800]);
        assert_eq!((log.generation, there()), (1, vec![1]));
        log.write(&[b'b'; 800]);
        assert_eq!((log.generation, there()), (2, vec![1, 2]));
        log.write(&[b'c'; 800]);
        assert_eq!((log.generation, there()), (3, vec![2, 3]), "the file after the current one does not exist");
        log.write(&[b'd'; 800]);
        assert_eq!((log.generation, there()), (1, vec![1, 3]));
        log.write_time(true);
        drop(log);
        let log = Log::open(&directory, limits()).unwrap();
        assert_eq!(log.generation, 1);
        let text = std::fs::read_to_string(path(&directory, 1)).unwrap();
        assert_eq!(text.matches("LOGGING STARTED").count(), 2, "it was begun, and gone on with");
        assert_eq!(text.matches("===== ALIVE ").count(), 1);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
