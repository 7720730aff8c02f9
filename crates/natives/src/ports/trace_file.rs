//! The driver `trace_file_drv` of dbg. Each message goes to a file, after an operation byte (always 0) and its length; either to one
//! file, or to a set of files that are written in turn.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Result, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

const BUFFER_BYTES: usize = 64 << 10;

pub struct TraceFile {
    file: BufWriter<File>,
    wrap: Option<Wrap>,
}

/// A set of files: `size` bytes each, or a new one every `time_ms`.
struct Wrap {
    names: Names,
    size: usize,
    count: u32,
    pub time_ms: u64,
    /// The number of the file that is written, and how many there are.
    current: u32,
    written: usize,
    files: u32,
    oldest: u32,
}

/// A name with a number in it.
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
pub struct Request {
    name: Vec<u8>,
    wrap: Option<[u64; 4]>,
}

impl Request {
    pub fn parse(line: &[u8]) -> Option<Request> {
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

    pub fn open(self) -> Result<TraceFile> {
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

impl TraceFile {
    pub fn write(&mut self, message: &[u8]) -> Result<()> {
        let mut head = [0; 5];
        head[1..].copy_from_slice(&(message.len() as u32).to_be_bytes());
        self.file.write_all(&head)?;
        self.file.write_all(message)?;
        let Some(wrap) = &mut self.wrap else { return Ok(()) };
        wrap.written += head.len() + message.len();
        if wrap.time_ms == 0 && wrap.written >= wrap.size { self.next_file() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }

    /// How long a file of the set is written, in ms; None: until it is full.
    pub fn period_ms(&self) -> Option<u64> {
        self.wrap.as_ref().map(|w| w.time_ms).filter(|&ms| ms > 0)
    }

    /// Goes on in the next file of the set; the oldest goes when there would be too many. One number always stays free.
    pub fn next_file(&mut self) -> Result<()> {
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
