//! The two named pipes between `run_erl` and `to_erl`: NAME.w, which `to_erl` writes to, and NAME.r, which it reads.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const STEM: &str = "erlang.pipe";

pub struct Pipes {
    /// `run_erl` reads it, and `to_erl` writes it.
    input: PathBuf,
    /// `run_erl` writes it, and `to_erl` reads it.
    output: PathBuf,
}

/// Opens a pipe for writing: an error if no other process reads it.
fn open_for_writing(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Opens a pipe for reading, whether or not another process writes it.
fn open_for_reading(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

fn make_fifo(path: &Path) -> Result<(), String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "a name of a pipe has a zero byte".to_owned())?;
    // SAFETY: a name that ends with zero.
    if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        error => Err(format!("cannot make the pipe {}: {error}", path.display())),
    }
}

fn with_ending(name: &OsStr, ending: &str) -> PathBuf {
    let mut name = name.to_owned();
    name.push(ending);
    name.into()
}

/// The highest N of the pipes erlang.pipe.N in a directory.
fn highest(directory: &OsStr) -> Result<Option<u32>, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("the directory of pipes {}: {error}", directory.display()))?;
    let number = |name: OsString| name.to_str()?.strip_prefix(STEM)?.strip_prefix('.')?.split('.').next()?.parse().ok();
    Ok(entries.flatten().filter_map(|entry| number(entry.file_name())).max())
}

fn numbered(directory: &OsStr, number: u32) -> OsString {
    let mut name = directory.to_owned();
    name.push(format!("{STEM}.{number}"));
    name
}

impl Pipes {
    fn named(name: &OsStr) -> Pipes {
        Pipes { input: with_ending(name, ".w"), output: with_ending(name, ".r") }
    }

    /// Makes the pipes. `place` is what their names begin with, or a directory with a slash at its end.
    pub fn make(place: &OsStr) -> Result<Pipes, String> {
        let is_directory = place.as_bytes().last() == Some(&b'/');
        let mut number = if is_directory { highest(place)?.unwrap_or(0) } else { 0 };
        loop {
            number += 1;
            let pipes = Pipes::named(&if is_directory { numbered(place, number) } else { place.to_owned() });
            // A pipe that can be written is read by another `run_erl`.
            if open_for_writing(&pipes.input).is_ok() {
                if is_directory {
                    continue;
                }
                return Err(format!("Erlang already running on pipe {}.", place.display()));
            }
            make_fifo(&pipes.output)?;
            make_fifo(&pipes.input)?;
            return Ok(pipes);
        }
    }

    /// The pipes that a `run_erl` made, and the name of both without its ending.
    pub fn find(place: &OsStr) -> Result<(Pipes, OsString), String> {
        let name = match place.as_bytes().last() {
            Some(b'/') => match highest(place)? {
                Some(number) => numbered(place, number),
                None => {
                    let mut name = place.to_owned();
                    name.push(STEM);
                    name
                }
            },
            _ => place.to_owned(),
        };
        Ok((Pipes::named(&name), name))
    }

    pub fn remove(&self) {
        let _ = std::fs::remove_file(&self.input);
        let _ = std::fs::remove_file(&self.output);
    }

    /// For `run_erl`: what a `to_erl` writes.
    pub fn open_input(&self) -> Result<File, String> {
        open_for_reading(&self.input).map_err(|error| format!("cannot read the pipe {}: {error}", self.input.display()))
    }

    /// For `run_erl`: what a `to_erl` reads. An error if there is none.
    pub fn open_output(&self) -> io::Result<File> {
        open_for_writing(&self.output)
    }

    /// For `to_erl`: true if another one has the pipes.
    pub fn is_in_use(&self) -> bool {
        open_for_writing(&self.output).is_ok()
    }

    /// For `to_erl`: what it reads, and what it writes. An error if no `run_erl` has the pipes.
    pub fn attach(&self) -> io::Result<(File, File)> {
        let reads = open_for_reading(&self.output)?;
        Ok((reads, open_for_writing(&self.input)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_gets_the_next_number_and_a_name_that_is_in_use_is_refused() {
        let directory = std::env::temp_dir().join(format!("run_erl_pipes_{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let place = with_ending(directory.as_os_str(), "/");
        let first = Pipes::make(place.as_os_str()).unwrap();
        assert!(first.input.ends_with("erlang.pipe.1.w"));
        assert!(Pipes::make(place.as_os_str()).unwrap().input.ends_with("erlang.pipe.2.w"));
        assert!(Pipes::find(place.as_os_str()).unwrap().1.to_str().unwrap().ends_with("erlang.pipe.2"));
        let name = directory.join("erlang.pipe.1");
        let reads = first.open_input().unwrap();
        assert!(Pipes::make(name.as_os_str()).is_err_and(|problem| problem.starts_with("Erlang already running on pipe ")));
        drop(reads);
        assert!(Pipes::make(name.as_os_str()).is_ok(), "pipes that a run_erl left behind are taken over");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
