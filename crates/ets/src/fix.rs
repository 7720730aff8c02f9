//! `safe_fixtable`. Traversals are stable without it (see `hash_store`). It keeps its other promises to programs: `next/2` accepts keys
//! that were deleted meanwhile, and `info` shows the fixation and counts the deleted objects that are kept.

use super::access::{self, Right};
use super::registry;
use super::table::Table;
use heddle_natives::args;
use heddle_runtime::process::{FLAG_ETS, NativeResult, Process};
use heddle_runtime::time;
use heddle_term::Term;
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "ets" => {
        "safe_fixtable"/2 => safe_fixtable,
    }
}

fn safe_fixtable(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Read)?;
    let Some(on) = args::boolean(a[1]) else { return Err(p.badarg()) };
    let me = p.pid();
    if on {
        p.flags |= FLAG_ETS;
        fix(table, me);
    } else {
        release(table, me);
    }
    Ok(Term::bool(true))
}

fn fix(table: &Table, pid: u64) {
    let mut fixations = table.fixations();
    if fixations.by.is_empty() {
        fixations.since_system_us = time::system_ns() / 1000;
        fixations.since_monotonic_ns = time::monotonic_ns();
        table.keep_deleted();
    }
    match fixations.by.iter_mut().find(|(by, _)| *by == pid) {
        Some((_, count)) => *count += 1,
        None => {
            fixations.by.push((pid, 1));
            drop(fixations);
            registry::holdings(pid, |b| b.fixed.push(table.shared()));
        }
    }
}

fn release(table: &Table, pid: u64) {
    let mut fixations = table.fixations();
    let Some(at) = fixations.by.iter().position(|(by, _)| *by == pid) else { return };
    fixations.by[at].1 -= 1;
    if fixations.by[at].1 == 0 {
        fixations.by.swap_remove(at);
        if fixations.by.is_empty() {
            table.give_up_kept();
        }
        drop(fixations);
        registry::holdings(pid, |b| b.fixed.retain(|t| !std::ptr::eq(&**t, table)));
    }
}

/// Called when a process that held the table fixed has ended.
pub fn release_all(table: &Arc<Table>, pid: u64) {
    let mut fixations = table.fixations();
    fixations.by.retain(|(by, _)| *by != pid);
    if fixations.by.is_empty() {
        table.give_up_kept();
    }
}
