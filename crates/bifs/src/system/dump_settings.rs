//! What the environment, as Erlang programs see and change it, says of crash dumps: whether one is written, where, and how long it may take
//! and become.

use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::ffi::OsStringExt;

#[derive(Debug, PartialEq)]
pub struct DumpSettings {
    pub path: OsString,
    /// After so long the VM ends, though the dump is not complete.
    pub max_seconds: Option<u32>,
    pub max_bytes: Option<u64>,
    /// How much less urgent the dump is than other programs.
    pub nice: i32,
}

impl DumpSettings {
    /// `variable`: the environment. `has_heart`: a program waits to start the VM again, so a dump is only written if it is told how long to
    /// wait. None: no dump is written.
    pub fn of(variable: impl Fn(&str) -> Option<Vec<u8>>, has_heart: bool) -> Option<DumpSettings> {
        let text = |name: &str| variable(name).map(|value| String::from_utf8_lossy(&value).trim().to_owned());
        let seconds = text("ERL_CRASH_DUMP_SECONDS").map(|text| leading_number(&text));
        let max_bytes = text("ERL_CRASH_DUMP_BYTES").and_then(|text| text.parse::<i64>().ok()).and_then(|bytes| u64::try_from(bytes).ok());
        if seconds == Some(0) || max_bytes == Some(0) || has_heart && seconds.is_none() {
            return None;
        }
        Some(DumpSettings {
            path: variable("ERL_CRASH_DUMP").map_or_else(|| "erl_crash.dump".into(), OsString::from_vec),
            max_seconds: seconds.and_then(|seconds| u32::try_from(seconds).ok()),
            max_bytes,
            nice: text("ERL_CRASH_DUMP_NICE").map_or(0, |text| leading_number(&text).clamp(0, 39) as i32),
        })
    }
}

/// The number that a text begins with, as `atoi` in C; 0 if there is none.
pub fn leading_number(text: &str) -> i64 {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number: i64 = digits[..end].parse().unwrap_or(0);
    if text.starts_with('-') { -number } else { number }
}

/// Writes no more than a number of bytes, and then a line that says so. After that each write fails.
pub struct Limited<W> {
    to: W,
    bytes_left: u64,
    has_said: bool,
}

impl<W> Limited<W> {
    pub fn new(to: W, max_bytes: u64) -> Limited<W> {
        Limited { to, bytes_left: max_bytes, has_said: false }
    }
}

const LIMIT_REACHED: &[u8] = b"\n=abort:CRASH DUMP SIZE LIMIT REACHED\n";

/// True if that was why writing failed.
pub fn is_limit(error: &Error) -> bool {
    error.kind() == ErrorKind::FileTooLarge
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let taken = bytes.len().min(usize::try_from(self.bytes_left).unwrap_or(usize::MAX));
        if taken > 0 {
            let written = self.to.write(&bytes[..taken])?;
            self.bytes_left -= written as u64;
            return Ok(written);
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        if !std::mem::replace(&mut self.has_said, true) {
            self.to.write_all(LIMIT_REACHED)?;
        }
        Err(ErrorKind::FileTooLarge.into())
    }

    fn flush(&mut self) -> Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{DumpSettings, Limited, is_limit};
    use std::io::Write;

    fn of(variables: &[(&str, &str)], has_heart: bool) -> Option<DumpSettings> {
        DumpSettings::of(|name| variables.iter().find(|v| v.0 == name).map(|v| v.1.as_bytes().to_vec()), has_heart)
    }

    #[test]
    fn settings() {
        let all = |seconds, bytes| Some(DumpSettings { path: "erl_crash.dump".into(), max_seconds: seconds, max_bytes: bytes, nice: 0 });
        assert_eq!(of(&[], false), all(None, None));
        assert_eq!(of(&[], true), None);
        for (seconds, expected) in
            [("0", None), ("x", None), ("10", all(Some(10), None)), ("5 s", all(Some(5), None)), ("-1", all(None, None))]
        {
            for has_heart in [false, true] {
                assert_eq!(of(&[("ERL_CRASH_DUMP_SECONDS", seconds)], has_heart), expected, "{seconds}");
            }
        }
        for (bytes, expected) in [("0", None), ("1000", all(None, Some(1000))), ("10k", all(None, None)), ("-3", all(None, None))] {
            assert_eq!(of(&[("ERL_CRASH_DUMP_BYTES", bytes)], false), expected, "{bytes}");
        }
        let named = of(&[("ERL_CRASH_DUMP", "/tmp/x"), ("ERL_CRASH_DUMP_NICE", "50")], false).unwrap();
        assert_eq!((named.path.to_str(), named.nice), (Some("/tmp/x"), 39));
    }

    #[test]
    fn no_more_than_the_limit_is_written() {
        let mut out = Limited::new(Vec::new(), 5);
        out.write_all(b"abc").unwrap();
        assert!(is_limit(&out.write_all(b"defg").unwrap_err()));
        assert!(is_limit(&out.write_all(b"h").unwrap_err()));
        assert_eq!(out.to, b"abcde\n=abort:CRASH DUMP SIZE LIMIT REACHED\n");
    }
}
