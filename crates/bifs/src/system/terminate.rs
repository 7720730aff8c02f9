//! SIGTERM. The first one asks the VM to stop in order (`init:stop`), which takes processes that run. A later one ends the VM at once, as if
//! the VM did not handle the signal, if a scheduler has not come back since the one before, or if no message could be sent.

use heddle_runtime::shutdown;
use heddle_runtime::watch::Snapshot;
use std::sync::Mutex;
use std::time::Duration;

/// How long after a SIGTERM a slice or native may still run that ran then. After that the next SIGTERM ends the VM at once.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The state of the schedulers when the last one came.
static LAST: Mutex<Option<Snapshot>> = Mutex::new(None);

/// Called for each SIGTERM. `untold`: true if the message for an earlier signal is not sent yet.
pub fn came(untold: impl Fn() -> bool) {
    let mut last = LAST.lock().unwrap();
    if let Some(before) = &*last {
        while let Some(why) = before.stuck().or_else(|| untold().then(|| "no message can be sent".to_owned())) {
            if before.age() >= PATIENCE {
                end(&why);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
    *last = Some(Snapshot::take());
}

fn end(why: &str) -> ! {
    heddle_term::complain::if_taken(&format!("heddle: SIGTERM came again, and {why}; the machine ends at once"));
    shutdown::run_at_exit();
    // SAFETY: the system's own handling of the signal, which is not blocked, ends the process.
    unsafe {
        libc::signal(libc::SIGTERM, libc::SIG_DFL);
        libc::kill(libc::getpid(), libc::SIGTERM);
    }
    std::thread::sleep(PATIENCE);
    shutdown::exit_now(128 + libc::SIGTERM)
}
