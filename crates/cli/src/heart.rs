//! `heart`: starts the VM again when it ends, or when its process `heart` says nothing for too long. `kernel`'s module `heart` starts it as a
//! port with packets of two bytes; the first byte of a message says what it is. What it does and says is what OTP's C program does and says.
//!
//! Heddle has its own for the same reason as its `epmd`.

use heddle_io::heart::CRASHING;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::{Duration, Instant};

const ACKNOWLEDGED: u8 = 1;
const BEAT: u8 = 2;
const SHUT_DOWN: u8 = 3;
const SET_COMMAND: u8 = 4;
const CLEAR_COMMAND: u8 = 5;
const ASK_COMMAND: u8 = 6;
const COMMAND: u8 = 7;

/// The longest message, with its first byte. Longer ones are read and not heeded.
const MAX_MESSAGE_BYTES: usize = 2048;
/// How often it looks whether the VM has been silent for too long.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Why it stops listening.
#[derive(Debug, PartialEq)]
enum End {
    Silent,
    Closed,
    Failed,
    ShutDown,
    Crashing,
}

struct Heart {
    max_silence: Duration,
    /// The VM's process.
    pid: Option<libc::pid_t>,
    /// What starts the VM again, instead of `HEART_COMMAND`; empty if it was not set.
    command: Vec<u8>,
}

pub fn main(args: &[OsString]) -> ! {
    // SAFETY: a system call. In a session of its own no signal of the VM's terminal reaches this process, as when the terminal goes with the VM.
    unsafe { libc::setsid() };
    let mut heart = Heart::of(args);
    send(ACKNOWLEDGED, &[]);
    let end = heart.listen();
    heart.finish(end);
    std::process::exit(0)
}

/// Writes a line to standard error, with the time.
fn say(text: &str) {
    let mut shown = [0u8; 64];
    // SAFETY: valid destinations; `ctime_r` writes 26 bytes at most.
    let time = unsafe {
        let now = libc::time(std::ptr::null_mut());
        let found = libc::ctime_r(&now, shown.as_mut_ptr().cast());
        if found.is_null() { "" } else { std::str::from_utf8(&shown).unwrap_or("").trim_end_matches(['\0', '\n']) }
    };
    heddle_term::complain!("heart: {time}: {text}\r\n");
}

fn send(kind: u8, body: &[u8]) {
    let length = body.len() + 1;
    if length <= MAX_MESSAGE_BYTES {
        let message = [&(length as u16).to_be_bytes()[..], &[kind], body].concat();
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&message).and_then(|()| out.flush());
    }
}

/// Waits until standard input has something to read, or is closed. False after `limit`.
fn wait_for_input(limit: Option<Duration>) -> std::io::Result<bool> {
    let mut polled = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    let ms = limit.map_or(-1, |limit| libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX));
    // SAFETY: one descriptor, which lives during the call.
    match unsafe { libc::poll(&mut polled, 1, ms) } {
        -1 => Err(std::io::Error::last_os_error()),
        ready => Ok(ready > 0),
    }
}

/// Reads a message. None: the other end is closed.
fn read_message(from: &mut impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = [0u8; 2];
    let mut read = |to: &mut [u8]| match from.read_exact(to) {
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    };
    if !read(&mut length)? {
        return Ok(None);
    }
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    Ok(read(&mut message)?.then_some(message))
}

/// Standard input without a buffer: `wait_for_input` asks the system whether there is more.
struct Input;

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        // SAFETY: the destination is as long as it says.
        let read = unsafe { libc::read(0, to.as_mut_ptr().cast(), to.len()) };
        usize::try_from(read).map_err(|_| std::io::Error::last_os_error())
    }
}

impl Heart {
    fn of(args: &[OsString]) -> Heart {
        let mut heart = Heart { max_silence: Duration::from_secs(60), pid: None, command: Vec::new() };
        for pair in args.windows(2) {
            let number = pair[1].to_str().and_then(|text| text.parse::<u32>().ok());
            match (pair[0].to_str(), number) {
                (Some("-ht"), Some(seconds @ 11..=65535)) => {
                    heart.max_silence = Duration::from_secs(seconds.into());
                    heddle_term::complain!("heart_beat_timeout = {seconds}\n");
                }
                (Some("-pid"), Some(pid)) => {
                    heart.pid = libc::pid_t::try_from(pid).ok().filter(|&pid| pid > 0);
                    heddle_term::complain!("heart_beat_kill_pid = {pid}\n");
                }
                _ => {}
            }
        }
        heart
    }

    fn listen(&mut self) -> End {
        let mut heard = Instant::now();
        loop {
            let is_ready = match wait_for_input(Some(LOOK_EVERY)) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    say("error in select.");
                    return End::Failed;
                }
                Ok(is_ready) => is_ready,
            };
            let silence = heard.elapsed();
            if silence.as_secs() > self.max_silence.as_secs() {
                say(&format!("heart-beat time-out, no activity for {} seconds", silence.as_secs()));
                return End::Silent;
            }
            if !is_ready {
                continue;
            }
            match read_message(&mut Input) {
                Ok(Some(message)) => {
                    if message.first() == Some(&BEAT) {
                        heard = Instant::now();
                    }
                    if let Some(end) = self.take(&message) {
                        return end;
                    }
                }
                Ok(None) => {
                    say("Erlang has closed.");
                    return End::Closed;
                }
                Err(_) => {
                    say("error in read_message.");
                    return End::Failed;
                }
            }
        }
    }

    /// Does what a message asks for.
    fn take(&mut self, message: &[u8]) -> Option<End> {
        let (&kind, body) = message.split_first().filter(|_| message.len() <= MAX_MESSAGE_BYTES)?;
        match kind {
            SHUT_DOWN => return Some(End::ShutDown),
            SET_COMMAND => {
                self.command = body.to_vec();
                send(ACKNOWLEDGED, &[]);
            }
            CLEAR_COMMAND => {
                self.command.clear();
                send(ACKNOWLEDGED, &[]);
            }
            ASK_COMMAND => send(COMMAND, &self.command().unwrap_or_default()),
            CRASHING => {
                say("Erlang is crashing .. (waiting for crash dump file)");
                return Some(End::Crashing);
            }
            _ => {}
        }
        None
    }

    fn command(&self) -> Option<Vec<u8>> {
        let set = Some(self.command.clone()).filter(|command| !command.is_empty());
        set.or_else(|| std::env::var_os("HEART_COMMAND").map(|command| command.as_bytes().to_vec()))
    }

    fn finish(&self, end: End) {
        if end == End::ShutDown {
            return;
        }
        if end == End::Crashing
            && let Ok(text) = std::env::var("ERL_CRASH_DUMP_SECONDS")
        {
            let seconds = heddle_bifs::system::dump_settings::leading_number(&text);
            say(&format!("Waiting for dump - timeout set to {seconds} seconds."));
            let _ = wait_for_input(u64::try_from(seconds).ok().map(Duration::from_secs));
        }
        let Some(command) = self.command() else {
            return say("Would reboot. Terminating.");
        };
        self.kill(end);
        let code = match Command::new("/bin/sh").arg("-c").arg(OsStr::from_bytes(&command)).status() {
            Ok(status) => std::os::unix::process::ExitStatusExt::into_raw(status),
            Err(_) => -1,
        };
        say(&format!("Executed \"{}\" -> {code}. Terminating.", String::from_utf8_lossy(&command)));
    }

    /// Ends the VM's process, so that there are not two.
    fn kill(&self, end: End) {
        let is_on = |name: &str, value: &str| std::env::var_os(name).is_some_and(|set| set == value);
        let Some(pid) = self.pid.filter(|_| !is_on("HEART_NO_KILL", "TRUE")) else { return };
        let second = || std::thread::sleep(Duration::from_secs(1));
        // SAFETY: a system call that takes numbers.
        let signal = |signal: libc::c_int| unsafe { libc::kill(pid, signal) == 0 };
        let is_gone = || std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
        if end == End::Closed {
            say("Wait 5 seconds for Erlang to terminate nicely");
            for _ in 0..5 {
                if !signal(0) && is_gone() {
                    return;
                }
                second();
            }
            say("Erlang still alive, kill it");
        }
        let kind = if is_on("HEART_KILL_SIGNAL", "SIGABRT") {
            say("kill signal SIGABRT requested");
            libc::SIGABRT
        } else {
            libc::SIGKILL
        };
        for _ in 0..6 {
            if !signal(kind) {
                if !is_gone() {
                    break;
                }
                return;
            }
            second();
        }
        say("Unable to kill old process, kill failed (tried multiple times).");
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Heart, read_message};
    use std::time::Duration;

    #[test]
    fn arguments() {
        let of = |words: &str| Heart::of(&words.split(' ').map(std::ffi::OsString::from).collect::<Vec<_>>());
        let heart = of("-pid 4711 -ht 33");
        assert_eq!((heart.pid, heart.max_silence), (Some(4711), Duration::from_secs(33)));
        let heart = of("-ht 10 -pid x");
        assert_eq!((heart.pid, heart.max_silence), (None, Duration::from_secs(60)));
    }

    #[test]
    fn messages() {
        let mut from: &[u8] = &[0, 1, 2, 0, 3, 4, b'l', b's', 0, 0, 0, 9, 4];
        assert_eq!(read_message(&mut from).unwrap(), Some(vec![2]));
        let set = read_message(&mut from).unwrap().unwrap();
        assert_eq!(set, b"\x04ls");
        assert_eq!(read_message(&mut from).unwrap(), Some(vec![]));
        assert_eq!(read_message(&mut from).unwrap(), None);
        let mut heart = Heart::of(&[]);
        for (message, end) in
            [(&b"\x02"[..], None), (b"", None), (b"\x03", Some(End::ShutDown)), (b"\x63", None), (b"\x08", Some(End::Crashing))]
        {
            assert_eq!(heart.take(message), end);
        }
        assert_eq!(heart.take(&[&[8u8][..], &[0; 2048]].concat()), None);
    }
}
