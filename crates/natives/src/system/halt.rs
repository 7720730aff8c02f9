//! halt/2 and the end of the machine.

use crate::args;
use crate::ports::flush;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{standstill, task, way_out};
use heddle_term::{Atom, Term};

heddle_runtime::natives! { TABLE:
    "erlang" => { "halt"/2 => halt_2 }
}

/// (Status, Options): a number, a slogan, or `abort`.
fn halt_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(flushed) = task::answer(p, a) {
        return flushed.and_then(|_| end(p, a[1]));
    }
    let Some(options) = args::list(a[1]) else { return Err(p.badarg()) };
    let mut flush = true;
    for option in options {
        match args::option(option) {
            Some((name, value)) if name.name() == "flush" => match args::boolean(value) {
                Some(b) => flush = b,
                None => return Err(p.badarg_cause(Atom::new("badopt"))),
            },
            Some((name, value)) if name.name() == "flush_timeout" => {
                if args::count(value).is_none() && !value.is_atom_of(heddle_term::am::INFINITY) {
                    return Err(p.badarg_cause(Atom::new("badopt")));
                }
            }
            _ => return Err(p.badarg_cause(Atom::new("badopt"))),
        }
    }
    let flushes = a[0].is_list() || flush && args::count(a[0]).is_some();
    if flushes && let Some(wait) = flush::wait(p, a[0]) {
        return Err(wait);
    }
    end(p, a[0])
}

/// What was to go out is out.
fn end(p: &mut Process, status: Term) -> NativeResult {
    let a = [status];
    if let Some(status) = args::count(a[0]) {
        way_out::exit_now((status & 0xff) as i32);
    }
    if a[0].is_integer() && heddle_term::big::to_i64(a[0]).is_none_or(|n| n >= 0) {
        let low = heddle_term::big::to_bytes(a[0], 1, false)[0];
        way_out::exit_now(low as i32);
    }
    if a[0].is_atom_of(Atom::new("abort")) {
        way_out::run_at_exit();
        std::process::abort();
    }
    if a[0].is_list() {
        let Some(text) = heddle_term::list::unicode_string(a[0]) else { return Err(p.badarg()) };
        let text: String = text.chars().take(1023).collect();
        crash(&text);
    }
    Err(p.badarg())
}

/// How long others may take to come to a place where they can stop.
const STOP_MS: u64 = 1000;

/// Ends the machine with a slogan and a crash dump, as `halt("text")` does.
pub fn crash(slogan: &str) -> ! {
    let stopped = standstill::stop_others(STOP_MS);
    // The terminal may be in a mode where a line feed does not return the carriage; stock writes this everywhere.
    eprint!("{slogan}\r\n");
    if let Some(path) = dump_path() {
        eprint!("\r\nCrash dump is being written to: {path}...");
        match super::crash_dump::write(&path, slogan, stopped) {
            Ok(()) => eprint!("done\r\n"),
            Err(e) => eprint!(" {e}\r\n"),
        }
    }
    way_out::exit_now(1)
}

/// None when dumps are switched off.
fn dump_path() -> Option<String> {
    if std::env::var("ERL_CRASH_DUMP_SECONDS").is_ok_and(|s| s.trim() == "0") {
        return None;
    }
    Some(std::env::var("ERL_CRASH_DUMP").unwrap_or_else(|_| "erl_crash.dump".into()))
}
