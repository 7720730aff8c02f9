//! The menu that Ctrl-C brings. It has a thread of its own, which waits for a key, or until standard output takes what the menu shows.
//! Another thread reads signals meanwhile, so a second Ctrl-C ends the VM whatever the menu's thread waits for. The rest of the VM goes on,
//! without the keyboard. As in stock each choice but a wrong one leaves the menu.

use super::{areas, crash_dump, halt, info, known_nodes};
use heddle_io::tty::{modes, natives::KEYBOARD};
use heddle_runtime::send::deliver;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::{Package, shutdown, stop_world};
use heddle_runtime::{proctab, qsbr};
use heddle_term::{Atom, Term, am, text};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

const CHOICES: &str =
    "BREAK: (a)bort (A)bort with dump (c)ontinue (p)roc info (i)nfo\n       (l)oaded (v)ersion (k)ill (D)b-tables (d)istribution\n";

/// How long other schedulers may take to stop, in ms, before their processes are shown.
const STOP_MS: u64 = 500;

static THREAD: OnceLock<Thread> = OnceLock::new();
/// True while the menu is shown or about to be. The thread that reads signals sets it and then wakes the menu's thread.
/// AcqRel in `interrupt`, Release where the menu ends: the next menu sees what the one before did.
static IS_UP: AtomicBool = AtomicBool::new(false);

/// Starts the thread early: when the menu is needed there may be no memory for a thread.
pub fn start() {
    let thread = std::thread::Builder::new().name("break menu".into()).spawn(|| {
        loop {
            // Acquire, Release: what the menu did is seen by the thread that brings the next one, and the other way round.
            while !IS_UP.load(Ordering::Acquire) {
                std::thread::park();
            }
            run();
            IS_UP.store(false, Ordering::Release);
        }
    });
    let _ = THREAD.set(thread.expect("thread of the break menu").thread().clone());
}

/// Called for Ctrl-C: brings the menu, or ends the VM if the menu is shown already.
pub fn interrupt() {
    if IS_UP.swap(true, Ordering::AcqRel) {
        shutdown::exit_now(0);
    }
    if let Some(thread) = THREAD.get() {
        thread.unpark();
    }
}

/// The first letter of the next line. The VM ends if there is no more input.
fn next_key() -> u8 {
    loop {
        let mut line = [0u8; 64];
        // SAFETY: reads into a buffer of that size.
        let n = unsafe { libc::read(0, line.as_mut_ptr().cast(), line.len()) };
        if n > 0 {
            return line[0];
        }
        match std::io::Error::last_os_error().kind() {
            std::io::ErrorKind::Interrupted if n < 0 => {}
            // Another reader of standard input may have made it non-blocking.
            std::io::ErrorKind::WouldBlock if n < 0 => wait_for_key(),
            _ => shutdown::exit_now(0),
        }
    }
}

fn wait_for_key() {
    let mut key = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which is there.
    unsafe { libc::poll(&mut key, 1, -1) };
}

fn run() {
    let _mine = KEYBOARD.lock().unwrap();
    // Lines, with echo, while the menu is up.
    let before = modes::current();
    if let Some(mut modes) = before {
        modes.c_lflag |= libc::ICANON | libc::ECHO;
        modes.c_iflag |= libc::ICRNL;
        modes.c_oflag |= libc::OPOST;
        modes::set_current(&modes);
    }
    // SAFETY: plain system calls.
    let is_terminal = unsafe { libc::isatty(0) == 1 && libc::isatty(1) == 1 };
    // Clears what the shell showed below its line.
    say(&format!("\n{}{CHOICES}", if is_terminal { "\x1b[J" } else { "" }));
    while !choose() {}
    if let Some(modes) = before {
        modes::set_current(&modes);
    }
}

/// Reads and runs a choice. False if the menu must ask again.
fn choose() -> bool {
    match next_key() {
        b'a' | b'q' | b'*' | 3 => shutdown::exit_now(0),
        b'A' => halt::crash("Crash dump requested by user"),
        b'c' | b'm' => {}
        b'v' => say(&format!("{}\n", info::system_version().trim_end())),
        b'p' => show(|out| {
            let stopped = stop_world::stop_others(STOP_MS);
            let written = crash_dump::in_window(|| crash_dump::processes(out, stopped, None));
            stop_world::release_others();
            written
        }),
        b'o' => show(|out| crash_dump::in_window(|| crash_dump::ports(out, false))),
        b'i' => show(|out| out.write_all(&areas::areas())),
        b'l' => show(|out| out.write_all(&crash_dump::loaded())),
        b'D' => show(crash_dump::tables),
        b'd' => show(|out| out.write_all(known_nodes::sections().as_bytes())),
        b'k' => kill(),
        b'\n' | b'\r' => return false,
        other => {
            say(&format!("Invalid option '{}'. Please enter one of the following:\n{CHOICES}", char::from(other)));
            return false;
        }
    }
    true
}

fn say(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

fn show(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) {
    let mut out = Vec::new();
    let _ = write(&mut out);
    say(&String::from_utf8_lossy(&out));
}

/// Shows one process after the other, newest first, and kills those that the user wants.
fn kill() {
    say("\n\nProcess Information\n\n--------------------------------------------------\n");
    let mut all = Vec::new();
    crash_dump::in_window(|| proctab::for_each(|q| all.push(q.pid)));
    for pid in all.into_iter().rev() {
        let mut out = Vec::new();
        let stopped = stop_world::stop_others(STOP_MS);
        let shown = crash_dump::in_window(|| proctab::lookup(pid).map(|q| crash_dump::process(&mut out, q, stopped, None)));
        stop_world::release_others();
        if shown.is_none() {
            continue;
        }
        say(&format!("{}(k)ill (n)ext (r)eturn:\n", String::from_utf8_lossy(&out)));
        match next_key() {
            b'k' => {
                let reason = Package::immediate(am::KILL.into());
                let from = heddle_runtime::names::whereis(Atom::new("init")).unwrap_or(Term::NIL);
                let _guard = qsbr::guard();
                if let Some(to) = proctab::lookup(pid) {
                    let _ = deliver(to, Signal::new(SignalBody::Exit { from, reason, linked: false, kill: true, token: None }));
                }
                say(&format!("killed {}\n", text::display::to_string(heddle_runtime::process::identity::term_of(pid))));
            }
            b'n' => {}
            _ => return,
        }
    }
}
