//! The driver `trace_file_drv` of dbg. Each message goes to a file, after an operation byte (always 0) and its length; either to one
//! file, or to a set of files that are written in turn.

use super::driver::{After, Driver, DriverEntry, DriverName};
use super::port::Port;
use heddle_runtime::task::Context;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Error, Result, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub const ENTRY: DriverEntry = DriverEntry {
    is_meant: |name| matches!(name, DriverName::Command(line) if line.split(|&b| b == b' ').next() == Some(b"trace_file_drv")),
    open: |line, _| {
        let request = Request::parse(line.as_bytes()).ok_or(Error::from_raw_os_error(libc::EINVAL))?;
        Ok(Box::new(request.open()?))
    },
};

const BUFFER_BYTES: usize = 64 << 10;

pub struct TraceFile {
    file: BufWriter<File>,
    wrap: Option<Wrap>,
}

/// A set of files. The next one begins after `size` bytes or, if `time_ms` is not 0, after that time.
struct Wrap {
    names: Names,
    size: usize,
    count: u32,
    time_ms: u64,
    /// The number of the file that is being written.
    current: u32,
    /// Bytes in that file.
    written: usize,
    /// How many files of the set there are.
    files: u32,
    /// The number of the file to be removed next.
    oldest: u32,
}

/// Names of files that differ in a number.
struct Names {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Names {
    fn path(&self, number: u32) -> PathBuf {
        let mut name = self.before.clone();
        name.extend_from_slice(number.to_string().as_bytes());
        name.extend_from_slice(&self.after);
        path(name)
    }
}

fn path(name: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(name).into()
}

fn create(path: PathBuf) -> Result<BufWriter<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o777).open(path)?;
    Ok(BufWriter::with_capacity(BUFFER_BYTES, file))
}

/// What the command line of the port asks for: `["w Size Count Time Tail "] "n " Name`.
struct Request {
    name: Vec<u8>,
    wrap: Option<[u64; 4]>,
}

impl Request {
    fn parse(line: &[u8]) -> Option<Request> {
        let mut rest = line.strip_prefix(b"trace_file_drv")?.trim_ascii_start();
        let mut wrap = None;
        if let Some(numbers) = rest.strip_prefix(b"w ") {
            rest = numbers;
            let mut values = [0; 4];
            for value in &mut values {
                rest = rest.trim_ascii_start();
                let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
                *value = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
                rest = &rest[digits..];
            }
            wrap = Some(values);
            rest = rest.trim_ascii_start();
        }
        let name = rest.strip_prefix(b"n ")?;
        let tail = wrap.map_or(0, |w| w[3] as usize);
        (tail < name.len() || wrap.is_none()).then(|| Request { name: name.to_vec(), wrap })
    }

    fn open(self) -> Result<TraceFile> {
        let Some([size, count, time_ms, tail]) = self.wrap else {
            return Ok(TraceFile { file: create(path(self.name))?, wrap: None });
        };
        let (before, after) = self.name.split_at(tail as usize);
        let names = Names { before: before.to_vec(), after: after.to_vec() };
        let file = create(names.path(0))?;
        let wrap = Wrap { names, size: size as usize, count: count as u32, time_ms, current: 0, written: 0, files: 1, oldest: 0 };
        Ok(TraceFile { file, wrap: Some(wrap) })
    }
}

impl Driver for TraceFile {
    fn start(&mut self, _: &Arc<Port>, context: &mut Context<'_>) -> After {
        self.change_files_by_time(context);
        After::Continue
    }

    fn command(&mut self, port: &Arc<Port>, _: Option<u64>, message: Vec<u8>, _: &mut Context<'_>) -> Option<After> {
        // Relaxed: a figure.
        port.bytes_out.fetch_add(message.len() as u64, Ordering::Relaxed);
        Some(after(self.write(&message)))
    }

    fn control(&mut self, _: &Arc<Port>, _: u64, operation: u32, _: &[u8], _: &mut Context<'_>) -> (Option<Vec<u8>>, After) {
        if operation == u32::from(b'f') { (Some(vec![0]), after(self.file.flush())) } else { (None, After::Continue) }
    }

    fn timeout(&mut self, _: &Arc<Port>, context: &mut Context<'_>) -> After {
        let changed = self.next_file();
        if changed.is_ok() {
            self.change_files_by_time(context);
        }
        after(changed)
    }

    fn close(&mut self, _: &Port, _: bool) {
        let _ = self.file.flush();
    }
}

fn after(result: Result<()>) -> After {
    result.map_or_else(|error| After::failed(&error), |()| After::Continue)
}

impl TraceFile {
    fn write(&mut self, message: &[u8]) -> Result<()> {
        let mut head = [0; 5];
        head[1..].copy_from_slice(&(message.len() as u32).to_be_bytes());
        self.file.write_all(&head)?;
        self.file.write_all(message)?;
        let Some(wrap) = &mut self.wrap else { return Ok(()) };
        wrap.written += head.len() + message.len();
        if wrap.time_ms == 0 && wrap.written >= wrap.size { self.next_file() } else { Ok(()) }
    }

    /// Sets the timer for the next file, if files of the set change by the clock.
    fn change_files_by_time(&self, context: &mut Context<'_>) {
        if let Some(ms) = self.wrap.as_ref().map(|w| w.time_ms).filter(|&ms| ms > 0) {
            context.set_timer(Duration::from_millis(ms));
        }
    }

    /// Begins the next file of the set, and removes the oldest if there are `count` already. Numbers go from 0 to `count`, so one is always free.
    fn next_file(&mut self) -> Result<()> {
        self.file.flush()?;
        let Some(wrap) = &mut self.wrap else { return Ok(()) };
        let following = |n: u32| if n >= wrap.count { 0 } else { n + 1 };
        if wrap.files >= wrap.count {
            let _ = std::fs::remove_file(wrap.names.path(wrap.oldest));
            wrap.oldest = following(wrap.oldest);
        } else {
            wrap.files += 1;
        }
        wrap.current = following(wrap.current);
        wrap.written = 0;
        self.file = create(wrap.names.path(wrap.current))?;
        Ok(())
    }
}
