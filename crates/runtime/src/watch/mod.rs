//! The watch (`+hwatch`): a thread that reports a scheduler which does not come back from a slice or a native, so a node that stops working
//! says so.
//!
//! It costs the other threads nothing: it reads what schedulers write anyway (entries taken, switches, whether one is in hand), a few times
//! in the limit, and sleeps in between. A thread that has had the same entry in hand for all of the limit is reported once: in a sentence
//! on standard error, which needs no process, and in a message to the process that asked for it (`system_monitor`).
//!
//! It watches schedulers and dirty threads for CPU: nothing there should block. Dirty threads for I/O may block (a device, a pipe without a
//! writer, a file system that is gone), which delays no other process as long as one of them is free. So these are reported only if none is
//! free and processes wait for one; then the one that has been away longest is named. Private threads belong to their process, which may
//! block as long as it likes.
//!
//! A node that was stopped (SIGSTOP, a computer that slept), or has no core for the watch itself, may have had none for the schedulers
//! either. So when the watch wakes up late it starts its measurements anew.

mod place;
mod progress;
mod snapshot;

use crate::base::stop_requests;
use crate::sched;
use crate::sched::AtWork;
use crate::sched::{blocking, dirty};
use crate::trace::{frames, system_monitor};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Heap, Term, am};
use place::StuckPlace;
use progress::Progress;
pub use snapshot::Snapshot;
use std::time::{Duration, Instant};

/// Number of looks within the limit.
const LOOKS: u32 = 4;
const STACK_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThreadKind {
    Normal,
    DirtyCpu,
    DirtyIo,
}

impl ThreadKind {
    /// As `erlang:system_info` and microstate accounting name them.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ThreadKind::Normal => "scheduler",
            ThreadKind::DirtyCpu => "dirty_cpu_scheduler",
            ThreadKind::DirtyIo => "dirty_io_scheduler",
        }
    }
}

/// A thread that has not come back from its work.
pub(crate) struct Stuck {
    pub kind: ThreadKind,
    /// Its number among those of its kind, from 1.
    pub id: usize,
    pub ms: u64,
    /// None: the thread does something between two slices.
    pub pid: Option<u64>,
    pub place: Option<StuckPlace>,
}

impl Stuck {
    /// Tells the process that asked for it (`system_monitor`), with `[{Key, Value}]`.
    #[cold]
    fn tell(&self) {
        let Some(pid) = self.pid else { return };
        let mfa = |heap: &mut Heap, mfa: Option<Mfa>| mfa.map_or(am::UNDEFINED.into(), |mfa| frames::mfa_term(heap, mfa));
        system_monitor::is_stuck(pid, |heap| {
            let place = self.place.as_ref();
            let rows = [
                ("timeout", Term::small(self.ms as i64)),
                ("type", Atom::new(self.kind.name()).into()),
                ("scheduler", Term::small(self.id as i64)),
                ("native", mfa(heap, place.and_then(|place| place.native))),
                ("function", mfa(heap, place.and_then(|place| place.function))),
                ("initial_call", mfa(heap, place.map(|place| place.initial_call))),
            ];
            let rows = rows.map(|(name, value)| heap.tuple(&[Atom::new(name).into(), value]));
            heap.list(&rows)
        });
    }

    /// Returns the report as a part of a sentence.
    fn text(&self) -> String {
        let thread = match self.kind {
            ThreadKind::Normal => format!("scheduler {}", self.id),
            ThreadKind::DirtyCpu => format!("dirty CPU scheduler {}", self.id),
            ThreadKind::DirtyIo => format!("dirty I/O scheduler {} (no other is left, and processes wait for one)", self.id),
        };
        let seconds = self.ms as f64 / 1000.0;
        let Some(pid) = self.pid else {
            return format!("{thread} has been at the signals or the end of a process for {seconds:.1} s");
        };
        let mut text = format!("{thread} has not come back from {} for {seconds:.1} s", place::name_of(pid));
        if let Some(place) = &self.place {
            text.push_str(", ");
            text.push_str(&place.text());
        }
        text
    }
}

struct Watch {
    limit: Duration,
    normal: Vec<Progress>,
    dirty: [Vec<Progress>; 2],
}

impl Watch {
    fn new(limit: Duration) -> Watch {
        let options = sched::options();
        let progress = |count: usize| (0..count).map(|_| Progress::default()).collect::<Vec<_>>();
        Watch { limit, normal: progress(options.schedulers), dirty: [progress(options.dirty_cpu), progress(options.dirty_io)] }
    }

    fn start_anew(&mut self, now: Instant) {
        self.normal.iter_mut().chain(self.dirty.iter_mut().flatten()).for_each(|progress| progress.start_anew(now));
    }

    /// Returns the threads that have had the same work for the limit, and were not reported for it yet.
    fn look(&mut self, now: Instant) -> Vec<Stuck> {
        let mut all = Vec::new();
        let limit = self.limit;
        for (index, progress) in self.normal.iter_mut().enumerate() {
            let at_work = sched::at_work(index);
            // A scheduler may wait for its turn, which another thread does not give back: that other thread is reported.
            let at_work = at_work.filter(|work| work.pid.is_some() || !blocking::is_on());
            if let Some(ms) = progress.look(now, limit, at_work) {
                all.push(stuck(ThreadKind::Normal, index + 1, ms, at_work));
            }
        }
        let [cpu, io] = &mut self.dirty;
        let first = self.normal.len();
        for (index, progress) in cpu.iter_mut().enumerate() {
            let at_work = dirty::at_work(first + index);
            if let Some(ms) = progress.look(now, limit, at_work) {
                all.push(stuck(ThreadKind::DirtyCpu, index + 1, ms, at_work));
            }
        }
        let first = first + cpu.len();
        let works: Vec<_> = (0..io.len()).map(|index| dirty::at_work(first + index)).collect();
        let times: Vec<Duration> = io.iter_mut().zip(&works).map(|(progress, &at_work)| progress.since(now, at_work)).collect();
        let longest = (0..io.len()).max_by_key(|&index| times[index]);
        if let Some(index) = longest.filter(|_| times.iter().all(|&time| time >= limit) && sched::dirty_queue_lengths()[1] > 0)
            && let Some(ms) = io[index].look(now, limit, works[index])
        {
            all.push(stuck(ThreadKind::DirtyIo, index + 1, ms, works[index]));
        }
        all
    }
}

fn stuck(kind: ThreadKind, id: usize, ms: u64, at_work: Option<AtWork>) -> Stuck {
    let pid = at_work.and_then(|work| work.pid);
    Stuck { kind, id, ms, pid, place: pid.and_then(place::of) }
}

/// Starts the watch. To be called once the schedulers are there.
pub fn start(limit: Duration) {
    let run = move || run(limit);
    if let Err(error) = std::thread::Builder::new().name("watch".into()).stack_size(STACK_BYTES).spawn(run) {
        heddle_term::complain!("heddle: cannot start the thread of +hwatch: {error}\n");
    }
}

fn run(limit: Duration) {
    let every = limit / LOOKS;
    let mut watch = Watch::new(limit);
    let mut before = Instant::now();
    loop {
        std::thread::sleep(every);
        let now = Instant::now();
        // A thread that stops all others, for a crash dump or the break menu, may keep them as long as it likes.
        if now - before > every + every / 2 || stop_requests::is_stop_wanted() {
            watch.start_anew(now);
        }
        before = now;
        for stuck in watch.look(now) {
            heddle_term::complain::if_taken(&format!("heddle: {}", stuck.text()));
            stuck.tell();
        }
    }
}
