//! `statistics/1`, and the figures of memory.

use heddle_runtime::figures::{self, Figures};
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{msacc, sched, time, wall_time};
use heddle_term::{Atom, Term, map};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

heddle_runtime::natives! { TABLE:
    "erlang" => { "statistics"/1 => statistics }
}

static LAST_RUNTIME_MS: AtomicI64 = AtomicI64::new(0);
static LAST_WALL_MS: AtomicI64 = AtomicI64::new(0);
static LAST_REDUCTIONS: AtomicU64 = AtomicU64::new(0);
static LAST_EXACT: AtomicU64 = AtomicU64::new(0);

/// User time of all threads in ms, as in stock: time that the system works for them is not counted.
fn user_ms() -> i64 {
    // SAFETY: a plain struct, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000
}

fn two(p: &mut Process, total: i64, since: i64) -> Term {
    let (total, since) = (p.heap.integer(total), p.heap.integer(since));
    p.heap.tuple(&[total, since])
}

fn statistics(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(key) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(match key.name() {
        "runtime" => {
            let now = user_ms();
            let last = LAST_RUNTIME_MS.swap(now, Ordering::Relaxed);
            two(p, now, now - last)
        }
        "wall_clock" => {
            let now = time::ticks_ms() as i64;
            let last = LAST_WALL_MS.swap(now, Ordering::Relaxed);
            two(p, now, now - last)
        }
        "reductions" | "exact_reductions" => {
            let now = sched::total_reductions();
            let cell = if key.name() == "reductions" { &LAST_REDUCTIONS } else { &LAST_EXACT };
            let last = cell.swap(now, Ordering::Relaxed);
            two(p, now as i64, now.saturating_sub(last) as i64)
        }
        "context_switches" => {
            let n = sched::context_switches();
            two(p, n as i64, 0)
        }
        "garbage_collection" => {
            let n = p.heap.unsigned(figures::sum(Figures::collections));
            let words = p.heap.unsigned(figures::sum(|f| f.words_reclaimed.get()));
            p.heap.tuple(&[n, words, Term::small(0)])
        }
        "run_queue" | "total_run_queue_lengths" => total(&tasks(false)[..normal_and_cpu()]),
        "total_run_queue_lengths_all" => total(&tasks(false)),
        "total_active_tasks" => total(&tasks(true)[..normal_and_cpu()]),
        "total_active_tasks_all" => total(&tasks(true)),
        "run_queue_lengths" => p.heap.small_list(tasks(false).into_iter().take(normal_and_cpu())),
        "run_queue_lengths_all" => p.heap.small_list(tasks(false).into_iter()),
        "active_tasks" => p.heap.small_list(tasks(true).into_iter().take(normal_and_cpu())),
        "active_tasks_all" => p.heap.small_list(tasks(true).into_iter()),
        "io" => {
            let (input, output) = heddle_io::ports::io_bytes();
            let (i, o) = (p.heap.unsigned(input), p.heap.unsigned(output));
            let i = p.heap.tuple(&[Atom::new("input").into(), i]);
            let o = p.heap.tuple(&[Atom::new("output").into(), o]);
            p.heap.tuple(&[i, o])
        }
        "scheduler_wall_time" => scheduler_times(p, sched::options().schedulers + sched::options().dirty_cpu),
        "scheduler_wall_time_all" => scheduler_times(p, usize::MAX),
        "microstate_accounting" => microstates(p),
        _ => return Err(p.badarg()),
    })
}

/// How many processes wait for each normal scheduler, for the dirty ones for CPU, and for those for I/O. `running`: plus those that run there.
fn tasks(running: bool) -> Vec<i64> {
    let on = |busy: usize| if running { busy as i64 } else { 0 };
    let normal = sched::queue_lengths().into_iter().zip(sched::in_flight()).map(|(queued, busy)| queued as i64 + on(busy));
    let dirty = sched::dirty_queue_lengths().into_iter().zip(heddle_runtime::dirty::running());
    normal.chain(dirty.map(|(queued, busy)| queued as i64 + on(busy))).collect()
}

/// How many queues are always counted. The one for I/O only counts if the name of the figure ends in `all`.
fn normal_and_cpu() -> usize {
    sched::options().schedulers + 1
}

fn total(tasks: &[i64]) -> Term {
    Term::small(tasks.iter().sum())
}

/// `[{Number, Worked, Counted}]` of the first `threads` schedulers; `undefined` while they are not counted.
fn scheduler_times(p: &mut Process, threads: usize) -> Term {
    let Some(figures) = wall_time::figures() else { return heddle_term::am::UNDEFINED.into() };
    let rows: Vec<Term> = (1..)
        .zip(figures)
        .take(threads)
        .map(|(number, (worked, counted))| {
            let (worked, counted) = (p.heap.unsigned(worked), p.heap.unsigned(counted));
            p.heap.tuple(&[Term::small(number), worked, counted])
        })
        .collect();
    p.heap.list(&rows)
}

/// `[#{counters => #{State => Nanoseconds}, id => Number, type => Kind}]`, a map for each thread.
fn microstates(p: &mut Process) -> Term {
    let name = |name: &str| Term::from(Atom::new(name));
    let rows: Vec<Term> = msacc::figures()
        .into_iter()
        .map(|(kind, id, spent)| {
            let spent: Vec<(Term, Term)> =
                msacc::STATES.iter().map(|(state, index)| (name(state), p.heap.unsigned(spent[*index as usize]))).collect();
            let counters = map::from_pairs(&mut p.heap, &spent);
            map::from_pairs(&mut p.heap, &[(name("counters"), counters), (name("id"), Term::small(id as i64)), (name("type"), name(kind))])
        })
        .collect();
    p.heap.list(&rows)
}
