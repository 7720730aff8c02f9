//! What `run_erl` does while the program runs: its output goes to the log and to a `to_erl`, if there is one, and what that sends goes to the
//! program.
//!
//! A `to_erl` begins with a form feed and is answered with the versions of the protocol that this side speaks. Version 1 has commands, each
//! between `ESC _` and `ESC \`: `version=N` and `winsize=COLUMNS,ROWS`.

use super::log::Log;
use super::pipes::Pipes;
use super::pty::Terminal;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const VERSIONS: &[u8] = b"[run_erl v1-0]\n";
const COMMAND_BEGINS: &[u8] = b"\x1b_";
const COMMAND_ENDS: &[u8] = b"\x1b\\";
const INTERRUPT: u8 = 3;
const FORM_FEED: u8 = 12;

/// How long the program's output is still read after its end, if another process keeps the terminal open.
const REST: Duration = Duration::from_secs(5);
/// Bytes for a `to_erl` that waits unread: if there are more, it is let go.
const MAX_UNREAD: usize = 1 << 20;
/// Bytes for the program that wait unread: while there are more, nothing is read of a `to_erl`.
const MAX_UNTYPED: usize = 64 << 10;

pub struct Session {
    pipes: Pipes,
    terminal: Terminal,
    log: Log,
    input: File,
    /// Open while there is a `to_erl`.
    output: Option<File>,
    /// False until the present `to_erl` has sent something.
    has_begun: bool,
    /// For the program.
    typed: VecDeque<u8>,
    /// For the `to_erl`.
    shown: VecDeque<u8>,
}

/// A command within what a `to_erl` sends, or bytes for the program.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Bytes(&'a [u8]),
    Size(u16, u16),
    /// A command that means nothing here, or `version`.
    Other,
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn command(text: &[u8]) -> Part<'_> {
    let size = || {
        let (columns, rows) = std::str::from_utf8(text).ok()?.strip_prefix("winsize=")?.split_once(',')?;
        Some(Part::Size(columns.parse().ok()?, rows.parse().ok()?))
    };
    size().unwrap_or(Part::Other)
}

/// Takes a message apart. A command without an end is none.
fn parts(mut bytes: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some(begin) = find(bytes, COMMAND_BEGINS)
        && let Some(length) = find(&bytes[begin + 2..], COMMAND_ENDS)
    {
        if begin > 0 {
            parts.push(Part::Bytes(&bytes[..begin]));
        }
        parts.push(command(&bytes[begin + 2..begin + 2 + length]));
        bytes = &bytes[begin + length + 4..];
    }
    if !bytes.is_empty() {
        parts.push(Part::Bytes(bytes));
    }
    parts
}

/// Writes the front of a queue, as much as the file takes. False if it takes nothing more for good.
fn drain(queue: &mut VecDeque<u8>, mut file: &File) -> bool {
    while !queue.is_empty() {
        match file.write(queue.as_slices().0) {
            Ok(0) => return false,
            Ok(n) => drop(queue.drain(..n)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
    true
}

impl Session {
    /// `input`: of `pipes`.
    pub fn new(pipes: Pipes, terminal: Terminal, log: Log, input: File) -> Session {
        let (typed, shown) = (VecDeque::new(), VecDeque::new());
        Session { pipes, terminal, log, input, output: None, has_begun: false, typed, shown }
    }

    /// Returns when the program has ended, or left the terminal.
    pub fn run(mut self) -> Result<(), String> {
        let result = self.pass_on();
        self.pipes.remove();
        result
    }

    fn pass_on(&mut self) -> Result<(), String> {
        let alive = Duration::from_secs(60 * self.log.limits.alive_minutes);
        let activity = Duration::from_secs(60 * self.log.limits.activity_minutes);
        let mut last = Instant::now();
        // Set when the program has ended.
        let mut until: Option<Instant> = None;
        loop {
            let limit = until.map_or(alive, |until| until.saturating_duration_since(Instant::now()));
            if limit.is_zero() {
                return Ok(());
            }
            let [input, master, output, end] = self.wait(limit, until.is_some())?;
            let is_silent = !(input || master || output || end);
            if until.is_none() && (is_silent || last.elapsed() > activity) {
                self.log.write_time(is_silent);
            }
            last = Instant::now();
            if end {
                until = Some(last + REST);
            }
            if output && self.output.as_ref().is_some_and(|file| !drain(&mut self.shown, file)) {
                self.let_go();
            }
            if master && !self.read_program()? {
                return Ok(());
            }
            if input {
                self.read_user()?;
            }
            if !drain(&mut self.typed, &self.terminal.master) {
                self.typed.clear();
            }
        }
    }

    /// Waits until something can be read of the `to_erl`, or of the program, or be written to the `to_erl`, or the program has ended.
    fn wait(&self, limit: Duration, has_ended: bool) -> Result<[bool; 4], String> {
        let master = libc::POLLIN | if self.typed.is_empty() { 0 } else { libc::POLLOUT };
        let output = self.output.as_ref().filter(|_| !self.shown.is_empty());
        let fds = [
            (self.typed.len() < MAX_UNTYPED && !has_ended).then(|| self.input.as_raw_fd()),
            Some(self.terminal.master.as_raw_fd()),
            output.map(|file| file.as_raw_fd()),
            self.terminal.end.as_ref().filter(|_| !has_ended).map(|fd| fd.as_raw_fd()),
        ];
        let events = [libc::POLLIN, master, libc::POLLOUT, libc::POLLIN];
        let mut polled: [libc::pollfd; 4] =
            std::array::from_fn(|n| libc::pollfd { fd: fds[n].unwrap_or(-1), events: events[n], revents: 0 });
        loop {
            let ms = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
            // SAFETY: four valid entries; those with a negative descriptor are skipped.
            if unsafe { libc::poll(polled.as_mut_ptr(), 4, ms) } >= 0 {
                return Ok(std::array::from_fn(|n| polled[n].revents != 0));
            }
            let error = std::io::Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(format!("waiting for the terminal: {error}"));
            }
        }
    }

    /// False if the program has closed the terminal.
    fn read_program(&mut self) -> Result<bool, String> {
        let mut bytes = [0; 8192];
        match self.terminal.master.read(&mut bytes) {
            Ok(0) => Ok(false),
            Ok(n) => {
                self.log.write(&bytes[..n]);
                if self.output.is_some() {
                    self.shown.extend(&bytes[..n]);
                    if self.shown.len() > MAX_UNREAD {
                        self.let_go();
                    }
                }
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(true),
            // From Linux: no process has the terminal open any more.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            Err(error) => Err(format!("reading from the terminal: {error}")),
        }
    }

    fn read_user(&mut self) -> Result<(), String> {
        let mut bytes = [0; 8192];
        let n = match self.input.read(&mut bytes) {
            // The `to_erl` has gone. The pipe would be readable from now on.
            Ok(0) => {
                self.let_go();
                self.input = self.pipes.open_input()?;
                return Ok(());
            }
            Ok(n) => n,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(()),
            Err(error) => return Err(format!("reading from the pipe: {error}")),
        };
        if self.output.is_none() {
            // The `to_erl` reads by now. If it does not, it has gone already.
            self.output = self.pipes.open_output().ok();
        }
        if !self.has_begun && bytes[0] == FORM_FEED && self.output.is_some() {
            self.shown.extend(VERSIONS);
        }
        self.has_begun = true;
        for part in parts(&bytes[..n]) {
            match part {
                Part::Bytes([INTERRUPT]) => self.terminal.interrupt(),
                Part::Bytes(typed) => self.typed.extend(typed),
                Part::Size(columns, rows) => self.terminal.set_size(columns, rows),
                Part::Other => {}
            }
        }
        Ok(())
    }

    /// Forgets the `to_erl`.
    fn let_go(&mut self) {
        self.output = None;
        self.shown.clear();
        self.has_begun = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_out_of_what_is_typed() {
        let sent = b"ab\x1b_winsize=80,24\x1b\\c\x1b_version=1\x1b\\";
        assert_eq!(parts(sent), [Part::Bytes(b"ab"), Part::Size(80, 24), Part::Bytes(b"c"), Part::Other]);
        assert_eq!(parts(b"\x1b_winsize=1"), [Part::Bytes(b"\x1b_winsize=1")], "a command without an end is typed");
        assert_eq!(parts(b"\x1b_winsize=x,1\x1b\\"), [Part::Other]);
        assert_eq!(parts(b""), []);
    }
}
