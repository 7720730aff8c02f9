//! statistics/1 and the memory figures.

use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::{gc, sched, time};
use heddle_term::{Atom, Term};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

heddle_runtime::natives! { TABLE:
    "erlang" => { "statistics"/1 => statistics }
}

static LAST_RUNTIME_MS: AtomicI64 = AtomicI64::new(0);
static LAST_WALL_MS: AtomicI64 = AtomicI64::new(0);
static LAST_REDUCTIONS: AtomicU64 = AtomicU64::new(0);
static LAST_EXACT: AtomicU64 = AtomicU64::new(0);

fn cpu_ms() -> i64 {
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid destination.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut ts) };
    ts.tv_sec * 1000 + ts.tv_nsec / 1_000_000
}

fn two(p: &mut Process, total: i64, since: i64) -> Term {
    let (total, since) = (p.heap.integer(total), p.heap.integer(since));
    p.heap.tuple(&[total, since])
}

fn statistics(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(key) = a[0].as_atom() else { return Err(p.badarg()) };
    Ok(match key.name() {
        "runtime" => {
            let now = cpu_ms();
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
            let n = p.heap.unsigned(gc::COLLECTIONS.load(Ordering::Relaxed));
            let words = p.heap.unsigned(gc::WORDS_RECLAIMED.load(Ordering::Relaxed));
            p.heap.tuple(&[n, words, Term::small(0)])
        }
        "run_queue" | "total_run_queue_lengths" | "total_active_tasks" => {
            let queued: usize = sched::queue_lengths().iter().sum();
            let running = if key.name() == "total_active_tasks" { 1 } else { 0 };
            Term::small((queued + running) as i64)
        }
        "total_run_queue_lengths_all" | "total_active_tasks_all" => {
            let queued: usize = sched::queue_lengths().iter().sum::<usize>() + sched::dirty_queue_lengths().iter().sum::<usize>();
            Term::small(queued as i64)
        }
        "run_queue_lengths" | "active_tasks" => {
            let lengths: Vec<Term> = sched::queue_lengths().into_iter().map(|n| Term::small(n as i64)).collect();
            p.heap.list(&lengths)
        }
        "run_queue_lengths_all" | "active_tasks_all" => {
            let mut lengths: Vec<Term> = sched::queue_lengths().into_iter().map(|n| Term::small(n as i64)).collect();
            lengths.push(Term::small(sched::dirty_queue_lengths()[0] as i64));
            p.heap.list(&lengths)
        }
        "io" => {
            let (input, output) = crate::ports::io_bytes();
            let (i, o) = (p.heap.unsigned(input), p.heap.unsigned(output));
            let i = p.heap.tuple(&[Atom::new("input").into(), i]);
            let o = p.heap.tuple(&[Atom::new("output").into(), o]);
            p.heap.tuple(&[i, o])
        }
        "scheduler_wall_time" | "scheduler_wall_time_all" | "microstate_accounting" => heddle_term::am::UNDEFINED.into(),
        _ => return Err(p.badarg()),
    })
}
