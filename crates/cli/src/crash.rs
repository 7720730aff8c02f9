//! When the VM itself is wrong: a report, a file, and the end.

use heddle_bifs::system::crash_dump;
use heddle_term::Atom;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Its SeqCst orders no other memory: only one swap returns false.
static CRASHING: AtomicBool = AtomicBool::new(false);

pub fn install() {
    std::panic::set_hook(Box::new(|info| {
        if heddle_runtime::task::report(info) {
            // It ends a native task, which tells what it said.
            return;
        }
        if CRASHING.swap(true, Ordering::SeqCst) {
            // Another thread reports already, or the report itself went wrong.
            std::thread::sleep(std::time::Duration::from_secs(2));
            std::process::abort();
        }
        heddle_runtime::shutdown::run_at_exit();
        let message = info.payload_as_str().unwrap_or("(no message)");
        let at = info.location().map_or(String::new(), |l| format!("{}:{}", l.file(), l.line()));
        let thread = std::thread::current();
        let mut report =
            format!("heddle: internal error\n  what:    {message}\n  where:   {at}\n  thread:  {}\n", thread.name().unwrap_or("?"));
        if let Some((pid, mfa)) = heddle_runtime::sched::running() {
            let (module, function) = (mfa.module.name(), mfa.function.name());
            let shown = heddle_term::text::display::to_string(heddle_runtime::process::identity::term_of(pid));
            let _ = writeln!(report, "  process: {shown}, started as {module}:{function}/{}", mfa.arity);
        }
        heddle_term::complain!("{report}");
        let path = std::env::var("HEDDLE_CRASH_DUMP").unwrap_or_else(|_| "heddle_crash.dump".into());
        let _ = writeln!(report, "\nbacktrace:\n{}", std::backtrace::Backtrace::force_capture());
        match write(&path, &report) {
            Ok(()) => {
                heddle_term::complain!(
                    "  dump:    {path}\nThis is an error in Heddle, not in the program it runs. Please report it with the dump.\n"
                )
            }
            Err(e) => heddle_term::complain!("  dump:    {path} could not be written: {e}\n"),
        }
        // Last, because the tables may be what broke: a panic in here ends the process at once.
        let mut processes = String::from("processes:\n");
        let mut note = |q: heddle_runtime::ProcRef| {
            let name = q.name.load(Ordering::Acquire);
            let name = if name == 0 { String::new() } else { format!(" {}", Atom::from_index(name - 1).name()) };
            let _ = writeln!(processes, "  <0.{}.{}>{name}", q.pid & 0x0fff_ffff, q.pid >> 28);
        };
        let _ = heddle_runtime::qsbr::look(|| heddle_runtime::proctab::for_each(&mut note));
        let _ = write(&path, &(report + &processes));
        std::process::abort();
    }));
    // The first call loads what it needs, which a handler must not do.
    frames();
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: the handler runs on the stack that std gave the thread for this. It does what a handler may do, and before the process ends it
        // asks tables without waiting for them; if it faults itself, the system ends the process (SA_RESETHAND).
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = fault as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND | libc::SA_NODEFER;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

fn write(path: &str, report: &str) -> std::io::Result<()> {
    crash_dump::create(path)?.write_all(report.as_bytes())
}

/// The addresses that the calling thread's functions were called from, the innermost first.
fn frames() -> Vec<usize> {
    let mut frames = [std::ptr::null_mut(); MAX_FRAMES];
    // SAFETY: there is room for as many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), MAX_FRAMES as libc::c_int) };
    frames[..count.max(0) as usize].iter().map(|&frame| frame as usize).collect()
}

/// A library's function is called by few functions of the emulator, and its own calls are seldom deep.
const MAX_FRAMES: usize = 128;

/// A fault of the machine's code: says so, and dies in the system's way.
extern "C" fn fault(signal: libc::c_int) {
    let what: &[u8] = match signal {
        libc::SIGSEGV | libc::SIGBUS => b"memory fault",
        libc::SIGILL => b"illegal instruction",
        libc::SIGABRT => b"abort",
        _ => b"arithmetic fault",
    };
    // An abort has been explained already, unless it is a library's.
    if signal != libc::SIGABRT {
        say(b"heddle: ");
        say(what);
        say(b"\n");
    }
    // After a panic the abort is Heddle's own, even if a library called the function that panicked.
    let is_reported = signal == libc::SIGABRT && CRASHING.load(Ordering::SeqCst);
    match heddle_runtime::code::foreign::culprit(&frames(), signal != libc::SIGABRT) {
        Some(culprit) if !is_reported => say(report(&culprit, what).as_bytes()),
        _ if signal != libc::SIGABRT => say(b"This is an error in Heddle, not in the program it runs. Please report it.\n"),
        _ => {}
    }
    heddle_io::tty::modes::restore();
    // SAFETY: the system's own handling is back (SA_RESETHAND): this ends the process.
    unsafe {
        libc::raise(signal);
    }
}

fn say(text: &[u8]) {
    // SAFETY: write is allowed in signal handlers.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
    }
}

/// Whose fault it was.
fn report(culprit: &heddle_runtime::code::foreign::Culprit, what: &[u8]) -> String {
    let mut report = format!("heddle: {} in {}\n  library:  {}\n", String::from_utf8_lossy(what), culprit.role, culprit.file);
    if let Some(function) = &culprit.function {
        let _ = writeln!(report, "  function: {function}");
    }
    if let Some(pid) = heddle_runtime::sched::running_pid() {
        let shown = heddle_term::text::display::to_string(heddle_runtime::process::identity::term_of(pid));
        let _ = writeln!(report, "  process:  {shown}");
    }
    report + "The library ends the emulator: native code that a program loads can do that. Please report it to the library's authors.\n"
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    /// Run again as a process of its own by the test below.
    #[test]
    fn child() {
        if std::env::var_os("HEDDLE_CRASH_TEST").is_some() {
            super::install();
            panic!("the invariant broke");
        }
    }

    #[test]
    fn a_panic_is_reported_and_ends_the_machine() {
        let dump = std::env::temp_dir().join(format!("heddle-crash-test-{}", std::process::id()));
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::tests::child", "--nocapture"])
            .envs([("HEDDLE_CRASH_TEST", "1".as_ref()), ("HEDDLE_CRASH_DUMP", dump.as_os_str())])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
        assert!(said.contains("heddle: internal error") && said.contains("the invariant broke"), "{said}");
        let written = std::fs::read_to_string(&dump).unwrap();
        std::fs::remove_file(&dump).unwrap();
        assert!(written.contains("backtrace:") && written.contains("the invariant broke"), "{written}");
    }
}
