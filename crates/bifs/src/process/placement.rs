//! `heddle_sched`: where processes run. All functions of that module are natives.
//!
//! - `pin(Pid, N)`: the process runs on scheduler N alone. `unpin(Pid)`: it runs wherever there is room. `move(Pid, N)`: it goes to the queue
//!   of N, and from there on wherever there is room; if it was pinned, it is pinned to N.
//! - `private(Pid)`: the process gets a thread of its own. `shared(Pid)`: it comes back to the schedulers.
//! - `isolate(N, Pids)`: these processes are pinned to scheduler N, which runs only processes that are. `release(N)`: N runs all processes
//!   again; those that were pinned stay so. `isolated()`: the schedulers that are isolated.
//! - `place(Pid)`, `list()`: `any`, `{pinned, N}`, `{next, N}` (on its way), or `{private, Id}`; with the scheduler it ran on last.
//!
//! A process changes its place itself, when it handles the signal that asks for it. The caller waits until then.

use super::spawn::scheduler;
use heddle_natives::args;
use heddle_natives::causes::{self, wrong};
use heddle_runtime::place::Place;
use heddle_runtime::placement;
use heddle_runtime::private_threads::{self, Refused};
use heddle_runtime::process::{NativeResult, ProcShared, Process, Thrown};
use heddle_runtime::{ProcRef, proctab, refs, sched, send, zeal};
use heddle_term::{Atom, Heap, Resource, Term, am, map};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

heddle_runtime::natives! { TABLE:
    "heddle_sched" => {
        "pin"/2 => pin,
        "unpin"/1 => unpin,
        "move"/2 => move_to,
        "private"/1 => private,
        "shared"/1 => shared,
        "isolate"/2 => isolate,
        "release"/1 => release,
        "isolated"/0 => isolated,
        "place"/1 => place_1,
        "list"/0 => list,
        "format_error"/2 => format_error,
    }
}

fn pin(p: &mut Process, a: &[Term]) -> NativeResult {
    at_scheduler(p, a, |_, index| Place::Pinned(index))
}

fn move_to(p: &mut Process, a: &[Term]) -> NativeResult {
    at_scheduler(p, a, |now, index| if matches!(now, Place::Pinned(_)) { Place::Pinned(index) } else { Place::Next(index) })
}

/// (Pid, N)
fn at_scheduler(p: &mut Process, a: &[Term], place: fn(Place, usize) -> Place) -> NativeResult {
    if let Some(answer) = again_one(p, a) {
        return answer;
    }
    let target = target(p, a[0], 1)?;
    let index = number(p, a[1], 2)?;
    change(p, a, &[target], move |now| place(now, index), |_| {})
}

fn unpin(p: &mut Process, a: &[Term]) -> NativeResult {
    back(p, a, |now| if matches!(now, Place::Private(_)) { now } else { Place::Anywhere })
}

fn shared(p: &mut Process, a: &[Term]) -> NativeResult {
    back(p, a, |now| if matches!(now, Place::Private(_)) { Place::Anywhere } else { now })
}

/// (Pid)
fn back(p: &mut Process, a: &[Term], place: fn(Place) -> Place) -> NativeResult {
    if let Some(answer) = again_one(p, a) {
        return answer;
    }
    let target = target(p, a[0], 1)?;
    change(p, a, &[target], place, |_| {})
}

/// Starts the thread before it asks the process, so that the caller gets the error if there is none.
fn private(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = again_one(p, a) {
        return answer;
    }
    let target = target(p, a[0], 1)?;
    let index = match private_threads::start() {
        Ok(index) => index,
        Err(refused) => {
            let cause = causes::cause(p, 1, if refused == Refused::TooMany { "threads" } else { "thread" });
            return Err(p.error_cause(am::SYSTEM_LIMIT, cause));
        }
    };
    let place = move |now| if matches!(now, Place::Private(_)) { now } else { Place::Private(index) };
    change(p, a, &[target], place, move |now| {
        // The process has a thread already, or has ended.
        if now != Some(Place::Private(index)) {
            private_threads::end(index);
        }
    })
}

// ---- asking ----

/// Processes that have not changed their places yet, and those that ended instead, for the process that waits for them.
struct Ticket {
    pending: AtomicUsize,
    gone: AtomicUsize,
}

impl Resource for Ticket {
    fn type_name(&self) -> &'static str {
        "placement ticket"
    }
}

/// The process of an argument, or an error if it is not alive.
fn target(p: &mut Process, pid: Term, argument: usize) -> Result<ProcRef, Thrown> {
    if !pid.is_local_pid() {
        return Err(wrong(p, argument, "pid"));
    }
    proctab::lookup(pid.payload()).filter(|q| !q.state.load().is_exiting()).ok_or_else(|| wrong(p, argument, "noproc"))
}

/// Changes the place of each process to what `place` makes of it. Then `after` runs in each, with its place, or without one if the process
/// has ended. The native is called again when all is done, with a mark or ticket in place of the first of its arguments `a`.
fn change(
    p: &mut Process,
    a: &[Term],
    targets: &[ProcRef],
    place: impl Fn(Place) -> Place + Clone + Send + 'static,
    after: impl Fn(Option<Place>) + Clone + Send + 'static,
) -> NativeResult {
    let change = move |q: Option<&ProcShared>| {
        after(q.map(|q| {
            let new = place(placement::place_of(q));
            placement::change(q, new);
            new
        }))
    };
    let me = p.pid();
    if targets.iter().any(|target| target.pid == me) {
        change(Some(p.shared()));
    }
    let others: Vec<u64> = targets.iter().map(|target| target.pid).filter(|&pid| pid != me).collect();
    let mut next = a.to_vec();
    if others.is_empty() {
        // The process goes on at its new place: this slice is over, and the answer comes in the next one.
        next[0] = Term::catch_marker(0);
        p.bump(zeal::slice() as usize);
        return Err(p.again(&next));
    }
    let ticket = Arc::new(Ticket { pending: AtomicUsize::new(others.len()), gone: AtomicUsize::new(0) });
    next[0] = p.heap.magic_reference(refs::fresh().words(), ticket.clone());
    for pid in others {
        let (ticket, change) = (ticket.clone(), change.clone());
        send::ask(p, pid, move |other| {
            if other.is_none() {
                ticket.gone.fetch_add(1, Ordering::Relaxed);
            }
            change(other.map(|other| other.shared()));
            // Release: the one that finds none pending sees what was done before.
            if ticket.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                send::call_in(me, |_| {});
            }
        });
    }
    p.again(&next);
    Err(Thrown::WaitAgain)
}

/// The answer, if this is the second call of a native (`change`): how many of the processes were gone.
fn again(p: &mut Process, a: &[Term]) -> Option<Result<usize, Thrown>> {
    if a[0].is_catch_marker() {
        return Some(Ok(0));
    }
    let ticket = args::resource::<Ticket>(a[0])?;
    // Acquire: pairs with the counting down.
    Some(if ticket.pending.load(Ordering::Acquire) == 0 {
        Ok(ticket.gone.load(Ordering::Relaxed))
    } else {
        p.again(a);
        Err(Thrown::WaitAgain)
    })
}

/// The same for the process in the first argument.
fn again_one(p: &mut Process, a: &[Term]) -> Option<NativeResult> {
    let gone = again(p, a)?;
    Some(match gone {
        Ok(0) => Ok(am::OK.into()),
        Ok(_) => Err(wrong(p, 1, "noproc")),
        Err(thrown) => Err(thrown),
    })
}

// ---- schedulers ----

/// The index of a scheduler from its number.
fn number(p: &mut Process, term: Term, argument: usize) -> Result<usize, Thrown> {
    scheduler(term).flatten().ok_or_else(|| wrong(p, argument, "scheduler"))
}

fn keep(p: &mut Process, term: Term) -> Result<usize, Thrown> {
    let index = number(p, term, 1)?;
    if index >= sched::online() {
        return Err(wrong(p, 1, "offline"));
    }
    if placement::isolate(index) { Ok(index) } else { Err(wrong(p, 1, "last")) }
}

/// (N, Pids). A process that ends meanwhile is left out.
fn isolate(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(gone) = again(p, a) {
        return gone.map(|_| am::OK.into());
    }
    let Some(pids) = args::list(a[1]) else { return Err(wrong(p, 2, "pids")) };
    let targets = pids.into_iter().map(|pid| target(p, pid, 2)).collect::<Result<Vec<ProcRef>, Thrown>>()?;
    let index = keep(p, a[0])?;
    if targets.is_empty() {
        return Ok(am::OK.into());
    }
    change(p, a, &targets, move |_| Place::Pinned(index), |_| {})
}

fn release(p: &mut Process, a: &[Term]) -> NativeResult {
    let index = number(p, a[0], 1)?;
    if placement::release(index) { Ok(am::OK.into()) } else { Err(wrong(p, 1, "open")) }
}

fn isolated(p: &mut Process, _: &[Term]) -> NativeResult {
    let numbers: Vec<Term> = placement::isolated().into_iter().map(|index| small(index + 1)).collect();
    Ok(p.heap.list(&numbers))
}

// ---- looking ----

fn small(n: usize) -> Term {
    Term::small(n as i64)
}

/// The place of a process: `#{place => Place, last => N}`.
pub fn place(heap: &mut Heap, p: &ProcShared) -> Term {
    let (kind, number) = match placement::place_of(p) {
        Place::Anywhere => ("any", None),
        Place::Next(index) => ("next", Some(index + 1)),
        Place::Pinned(index) => ("pinned", Some(index + 1)),
        Place::Private(index) => ("private", Some(sched::id_of_private(index))),
    };
    let kind = Atom::new(kind).into();
    let place = number.map_or(kind, |number| heap.tuple(&[kind, small(number)]));
    let last = small(p.last_scheduler.load(Ordering::Relaxed) as usize + 1);
    map::from_pairs(heap, &[(Atom::new("place").into(), place), (Atom::new("last").into(), last)])
}

fn place_1(p: &mut Process, a: &[Term]) -> NativeResult {
    let target = target(p, a[0], 1)?;
    Ok(place(&mut p.heap, &target))
}

/// All processes: `[{Pid, #{place => Place, last => N}}]`.
fn list(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut all = Vec::new();
    proctab::for_each(|q| {
        if !q.state.load().is_exiting() {
            all.push(q);
        }
    });
    all.sort_unstable_by_key(|q| q.pid);
    p.bump(all.len());
    let heap = &mut p.heap;
    let rows: Vec<Term> = all
        .into_iter()
        .map(|q| {
            let place = place(heap, &q);
            heap.tuple(&[q.pid_term(), place])
        })
        .collect();
    Ok(heap.list(&rows))
}

// ---- errors ----

/// The text for each cause.
const CAUSES: &[(&str, &str)] = &[
    ("pid", "not a pid of this node"),
    ("pids", "not a list of pids"),
    ("noproc", "the process is not alive"),
    ("scheduler", "not the number of a scheduler"),
    ("offline", "the scheduler is not online"),
    ("last", "no other scheduler that is online would be open to all processes"),
    ("open", "the scheduler is not isolated"),
    ("threads", "there are as many private threads as there can be"),
    ("thread", "the operating system gives no thread"),
];

/// (Reason, StackTrace): the function that `error_info` names.
fn format_error(p: &mut Process, a: &[Term]) -> NativeResult {
    causes::describe(p, a, CAUSES)
}
