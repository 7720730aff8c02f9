//! Before the VM halts, all data that was sent to ports is written, and NIFs return whose libraries want that. Processes run no more, the
//! libraries are told, all ports close as they do for an exit signal `killed`, and the thread that drops the last `Unfinished` ends the
//! VM. The port of `heart` stays open: else its program would start the VM again.

use super::port::Port;
use super::port_task::PortTask;
use heddle_abi::settings::{FOREVER_MS, SETTINGS};
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::task::{Context, Owned, TaskNext};
use heddle_runtime::watch::Snapshot;
use heddle_runtime::{proctab, shutdown, task};
use heddle_term::{Atom, Term, am};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The time limit of a halt that has none.
pub const FOREVER: u64 = FOREVER_MS as u64;
/// The exit code of a VM that did not halt in time, as in stock.
const TIMED_OUT: i32 = 255;

/// The exit code of a VM that halts; negative before it halts.
/// SeqCst, with UNFINISHED (see there).
static STATUS: AtomicI32 = AtomicI32::new(-1);
/// How many `Unfinished` there are. SeqCst, with STATUS: the thread that drops the last one sees that the VM halts, or drops it before the
/// halt looks.
static UNFINISHED: AtomicUsize = AtomicUsize::new(0);

/// Held by each port or socket that may still have data to write, and during calls of NIFs that the VM waits for. If the VM halts, the
/// drop of the last one ends it.
pub struct Unfinished(());

impl Unfinished {
    pub fn begin() -> Unfinished {
        UNFINISHED.fetch_add(1, Ordering::SeqCst);
        Unfinished(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let was_last = UNFINISHED.fetch_sub(1, Ordering::SeqCst) == 1;
        let status = STATUS.load(Ordering::SeqCst);
        if was_last && status >= 0 {
            shutdown::exit_now(status);
        }
    }
}

/// True once the VM halts and waits for what is unsent.
pub fn is_halting() -> bool {
    STATUS.load(Ordering::SeqCst) >= 0
}

/// How many ports do not know yet that the VM halts, and one more while they are told. Each port needs a turn on a scheduler to know it.
static UNHEARD: AtomicUsize = AtomicUsize::new(0);
/// How long a scheduler that does not come back from its slice may delay the halt while there are such ports. A port that knows of the
/// halt only waits for its reader, and that needs no particular scheduler.
const STUCK: Duration = Duration::from_secs(5);

struct Unheard(());

impl Unheard {
    fn begin() -> Unheard {
        // Relaxed, here and below: a counter that a thread polls.
        UNHEARD.fetch_add(1, Ordering::Relaxed);
        Unheard(())
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        UNHEARD.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What `kernel`'s module `heart` registers its port as.
pub fn heart_name() -> Atom {
    Atom::new("heart_port")
}

/// Tells NIF libraries that the VM halts. Set at most once.
pub static TELL_LIBRARIES: OnceLock<fn()> = OnceLock::new();

/// Halts the VM when all data is written, or after `max_ms` milliseconds, or those of `+zhft` if these are fewer. The calling process runs no more.
pub fn halt(p: &mut Process, status: i32, max_ms: u64) -> Thrown {
    if shutdown::begin() {
        // Held until all ports were told.
        let _mine = Unfinished::begin();
        STATUS.store(status, Ordering::SeqCst);
        limit(status, max_ms.min(SETTINGS.halt_flush_max_ms.get() as u64));
        if let Some(tell) = TELL_LIBRARIES.get() {
            tell();
        }
        let _unheard = Unheard::begin();
        close_all();
    }
    p.again(&[Term::NIL, Term::NIL]);
    Thrown::WaitAgain
}

/// Enforces the time limit. Runs on a thread of its own, so the end needs no scheduler.
fn limit(status: i32, max_ms: u64) {
    let begin = std::thread::Builder::new().name("halt".into()).stack_size(256 << 10).spawn(move || wait(status, max_ms));
    if begin.is_err() && max_ms != FOREVER {
        shutdown::exit_now(TIMED_OUT);
    }
}

fn wait(status: i32, max_ms: u64) -> ! {
    let began = Instant::now();
    loop {
        let before = Snapshot::take();
        let left = Duration::from_millis(max_ms).saturating_sub(began.elapsed());
        std::thread::sleep(left.min(STUCK));
        if left <= STUCK {
            shutdown::exit_now(TIMED_OUT);
        }
        if UNHEARD.load(Ordering::Relaxed) > 0
            && let Some(stuck) = before.stuck()
        {
            heddle_term::complain::if_taken(&format!(
                "heddle: {stuck}; the machine ends without it, and what ports had to bring out is lost"
            ));
            shutdown::exit_now(status);
        }
    }
}

fn close_all() {
    let mut ports: Vec<Arc<Port>> = Vec::new();
    proctab::for_each_port(|port| ports.extend(super::find(port.pid_term())));
    for port in ports {
        let (unsent, unheard) = (Unfinished::begin(), Unheard::begin());
        let request = move |task: &mut PortTask, context: &mut Context<'_>| {
            drop(unheard);
            task.halt(unsent, context)
        };
        let entered = proctab::lookup(port.identity()).and_then(task::try_now);
        match entered {
            Some(mut entered) => {
                if let Some(task) = entered.process() {
                    task::call(task, request);
                }
            }
            None => port.request(request),
        }
    }
}

impl PortTask {
    fn halt(&mut self, unsent: Unfinished, context: &mut Context<'_>) -> TaskNext {
        if context.registered_name() == Some(heart_name()) {
            return TaskNext::Wait;
        }
        self.unsent = Some(unsent);
        self.close(Owned::atom(am::KILLED), false, context)
    }
}
