//! halt/2 and the end of the VM.

use super::crash_dump;
use super::dump_settings::{self, DumpSettings, Limited};
use heddle_io::heart;
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
    if let Some(before) = shutdown::AT_CRASH.get() {
        before();
    }
    let has_heart = heart::tell_crash();
    let variable = |name: &str| heddle_io::os::variable(name.as_bytes());
    if let Some(settings) = DumpSettings::of(variable, has_heart) {
        heddle_term::complain!("\r\nCrash dump is being written to: {}...", settings.path.display());
        match dump(&settings, slogan, stopped) {
            Ok(()) => heddle_term::complain!("done\r\n"),
            Err(e) if dump_settings::is_limit(&e) => {}
            Err(e) => heddle_term::complain!(" {e}\r\n"),
        }
    }
    shutdown::exit_now(1)
}

fn dump(settings: &DumpSettings, slogan: &str, stopped: bool) -> std::io::Result<()> {
    if let Some(seconds) = settings.max_seconds {
        // SAFETY: the system's own handling of this signal ends the process; an earlier alarm that comes sooner stays.
        unsafe {
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
            let earlier = libc::alarm(seconds);
            if (1..seconds).contains(&earlier) {
                libc::alarm(earlier);
            }
        }
    }
    if settings.nice > 0 {
        // SAFETY: a system call that takes a number.
        unsafe { libc::nice(settings.nice) };
    }
    let file = crash_dump::create(&settings.path)?;
    match settings.max_bytes {
        Some(bytes) => crash_dump::write(Limited::new(file, bytes), slogan, stopped),
        None => crash_dump::write(file, slogan, stopped),
    }
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
