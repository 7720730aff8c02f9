//! Signals of the operating system. Handlers write the signal's number to a pipe. One thread reads the pipe and waits for nothing else, so a
//! signal that ends the VM always ends it. A second thread sends the messages that follow, to erl_signal_server or to the terminal's
//! process; it may have to wait until it may send at all. A third thread is the break menu.

use super::{break_menu, terminate};
use heddle_abi::settings::{Break, SETTINGS};
use heddle_io::tty;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::send::build_message;
use heddle_runtime::{names, shutdown};
use heddle_term::{Atom, Term, am};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

heddle_runtime::natives! { TABLE:
    "os" => { "set_signal"/2 => set_signal }
}

static PIPE_WRITE: AtomicI32 = AtomicI32::new(-1);

/// Signals that programs may choose to handle.
const SETTABLE: [(&str, libc::c_int); 10] = [
    ("sighup", libc::SIGHUP),
    ("sigquit", libc::SIGQUIT),
    ("sigabrt", libc::SIGABRT),
    ("sigalrm", libc::SIGALRM),
    ("sigterm", libc::SIGTERM),
    ("sigusr1", libc::SIGUSR1),
    ("sigusr2", libc::SIGUSR2),
    ("sigchld", libc::SIGCHLD),
    ("sigstop", libc::SIGSTOP),
    ("sigtstp", libc::SIGTSTP),
];

extern "C" fn note(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: write is allowed in signal handlers; errno is put back for the code that was interrupted.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        libc::write(PIPE_WRITE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        *errno = saved;
    }
}

fn handle(signal: libc::c_int, handler: libc::sighandler_t) {
    // SAFETY: the handler is `note`, which is safe in any context, or one of the system's.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

fn note_address() -> libc::sighandler_t {
    note as extern "C" fn(libc::c_int) as libc::sighandler_t
}

/// Makes the pipe and starts the threads, once.
fn start() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        let mut ends = [0; 2];
        // SAFETY: the array has room for two descriptors.
        let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
        assert!(made == 0, "pipe for signals: {}", std::io::Error::last_os_error());
        // A full pipe must not stop a handler.
        heddle_io::ports::port::set_nonblocking(ends[1]);
        PIPE_WRITE.store(ends[1], Ordering::Relaxed);
        let read = ends[0];
        let (tell, told) = channel();
        break_menu::start();
        std::thread::Builder::new().name("signal messages".into()).spawn(move || send_messages(told)).expect("signal thread");
        std::thread::Builder::new().name("signals".into()).spawn(move || run(read, tell)).expect("signal thread");
    });
}

/// Called at the start of the VM.
pub fn install() {
    let _ = tty::WATCH_SIGNALS.set(watch_terminal);
    start();
    shutdown::at_exit(tty::modes::restore);
    handle(libc::SIGPIPE, libc::SIG_IGN);
    for signal in [libc::SIGTERM, libc::SIGUSR1, libc::SIGQUIT] {
        handle(signal, note_address());
    }
    match SETTINGS.on_break.get() {
        Break::Menu => handle(libc::SIGINT, note_address()),
        Break::Default => handle(libc::SIGINT, libc::SIG_DFL),
        Break::Shell | Break::Ignore => handle(libc::SIGINT, libc::SIG_IGN),
    }
}

/// Called when the terminal is in use: from now on it is told when its window changes and when the job continues.
fn watch_terminal() {
    start();
    handle(libc::SIGWINCH, note_address());
    handle(libc::SIGCONT, note_address());
}

/// Signals of which no message is sent yet.
static UNTOLD: AtomicUsize = AtomicUsize::new(0);

fn run(pipe: libc::c_int, messages: Sender<libc::c_int>) {
    loop {
        let mut byte = 0u8;
        // SAFETY: reads one byte into one byte.
        let n = unsafe { libc::read(pipe, (&raw mut byte).cast(), 1) };
        if n != 1 {
            continue;
        }
        let signal = byte as libc::c_int;
        if signal == libc::SIGINT {
            break_menu::interrupt();
            continue;
        }
        if signal == libc::SIGTERM {
            // Relaxed: it is read again and again.
            terminate::came(|| UNTOLD.load(Ordering::Relaxed) > 0);
        }
        UNTOLD.fetch_add(1, Ordering::Relaxed);
        let _ = messages.send(signal);
    }
}

fn send_messages(signals: Receiver<libc::c_int>) {
    for signal in signals {
        match signal {
            libc::SIGWINCH => tty::natives::signal("winch"),
            libc::SIGCONT => tty::natives::signal("cont"),
            signal => notify(signal),
        }
        UNTOLD.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends `{notify, Signal}` to erl_signal_server. The signal is dropped if no process has that name.
fn notify(signal: libc::c_int) {
    let Some((name, _)) = SETTABLE.iter().find(|(_, number)| *number == signal) else { return };
    let Some(server) = names::whereis(Atom::new("erl_signal_server")).filter(|t| t.is_local_pid()) else { return };
    build_message(server.payload(), |heap| heap.tuple(&[Atom::new("notify").into(), Atom::new(name).into()]));
}

/// (Signal, default | ignore | handle)
fn set_signal(p: &mut Process, a: &[Term]) -> NativeResult {
    let handler = match a[1].as_atom().map(|n| n.name()) {
        Some("default") => libc::SIG_DFL,
        Some("ignore") => libc::SIG_IGN,
        Some("handle") => note_address(),
        _ => return Err(p.badarg_cause(Atom::new("badopt"))),
    };
    let named = a[0].as_atom().and_then(|n| SETTABLE.iter().find(|(name, _)| *name == n.name()));
    let Some(&(_, signal)) = named else { return Err(p.badarg()) };
    start();
    // Programs that ports start are waited for by their process id: an ignored SIGCHLD would lose their status.
    if signal == libc::SIGCHLD && handler == libc::SIG_IGN {
        handle(signal, libc::SIG_DFL);
    } else {
        handle(signal, handler);
    }
    Ok(am::OK.into())
}
