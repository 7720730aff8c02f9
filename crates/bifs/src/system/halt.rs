//! halt/2 and the end of the VM.

use heddle_io::ports::flush;
use heddle_natives::args;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{shutdown, stop_world};
use heddle_term::{Atom, Term};

heddle_runtime::natives! { TABLE:
    "erlang" => { "halt"/2 => halt_2 }
}

/// (Status, Options): a number, a slogan, or `abort`.
fn halt_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(options) = args::list(a[1]) else { return Err(p.badarg()) };
    let (mut flush, mut max_ms) = (true, flush::FOREVER);
    for option in options {
        match args::option(option) {
            Some((name, value)) if name.name() == "flush" => match args::boolean(value) {
                Some(b) => flush = b,
                None => return Err(p.badarg_cause(Atom::new("badopt"))),
            },
            Some((name, value)) if name.name() == "flush_timeout" => {
                max_ms = match args::count(value).and_then(|ms| u32::try_from(ms).ok()) {
                    Some(ms) => ms.into(),
                    None if value.is_atom_of(heddle_term::am::INFINITY) => flush::FOREVER,
                    None => return Err(p.badarg_cause(Atom::new("badopt"))),
                }
            }
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        }
    }
    if let Some(status) = status(a[0]) {
        if flush {
            return Err(flush::halt(p, status, max_ms));
        }
        shutdown::exit_now(status);
    }
    if a[0].is_atom_of(Atom::new("abort")) {
        shutdown::run_at_exit();
        std::process::abort();
    }
    if a[0].is_list() {
        let Some(text) = heddle_term::list::unicode_string(a[0]) else { return Err(p.badarg()) };
        let text: String = text.chars().take(1023).collect();
        crash(&text);
    }
    Err(p.badarg())
}

/// The exit status: the low byte of an integer that is not negative.
fn status(term: Term) -> Option<i32> {
    if let Some(status) = args::count(term) {
        return Some((status & 0xff) as i32);
    }
    let is_status = term.is_integer() && heddle_term::big::to_i64(term).is_none_or(|n| n >= 0);
    is_status.then(|| heddle_term::big::to_bytes(term, 1, false)[0].into())
}

/// How long other schedulers may take to reach a place where they can stop, in ms.
const STOP_MS: u64 = 1000;

/// Ends the VM with a slogan and a crash dump, as `halt("text")` does.
pub fn crash(slogan: &str) -> ! {
    let stopped = stop_world::stop_others(STOP_MS);
    // The terminal may be in a mode in which a line feed does not return the carriage. Stock writes this everywhere.
    heddle_term::complain!("{slogan}\r\n");
    if let Some(path) = dump_path() {
        heddle_term::complain!("\r\nCrash dump is being written to: {path}...");
        match super::crash_dump::write(&path, slogan, stopped) {
            Ok(()) => heddle_term::complain!("done\r\n"),
            Err(e) => heddle_term::complain!(" {e}\r\n"),
        }
    }
    shutdown::exit_now(1)
}

/// How long the dump of a VM without memory may take, in seconds: the thread that writes it may hold a lock that it wants.
const OUT_OF_MEMORY_SECONDS: u32 = 20;

/// Ends the VM because the system has no memory for a block of that kind and of `bytes` bytes.
pub fn out_of_memory(kind: heddle_memory::MemoryKind, bytes: usize) -> ! {
    // SAFETY: the system's own handling of this signal ends the process.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(OUT_OF_MEMORY_SECONDS);
    }
    crash(&format!("heddle: cannot allocate {bytes} bytes of memory (of type \"{}\")", kind.name()))
}

/// The path of the dump. None if dumps are switched off.
fn dump_path() -> Option<String> {
    if std::env::var("ERL_CRASH_DUMP_SECONDS").is_ok_and(|s| s.trim() == "0") {
        return None;
    }
    Some(std::env::var("ERL_CRASH_DUMP").unwrap_or_else(|_| "erl_crash.dump".into()))
}
