//! The file that `halt("text")` and the break menu write: sections as in stock's, so that its viewer reads them. Contents of heaps
//! are not in it; stacks are, as far as they are return addresses and immediate terms.

use super::known_nodes;
use crate::process::dump;
use heddle_io::ports::port::PortKind;
use heddle_runtime::process::{ProcRef, Process};
use heddle_runtime::{code, proctab, qsbr, sched, stop_world, task};
use heddle_term::{Atom, Term, text};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Creates the file, as stock does, so that other users cannot read it.
pub fn create(path: impl AsRef<Path>) -> Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(path)
}

/// Writes a dump to a new file. `stopped`: no scheduler runs a process now, except the one that calls this.
pub fn write(file: impl Write, slogan: &str, stopped: bool) -> Result<()> {
    let mut out = BufWriter::new(file);
    writeln!(out, "=erl_crash_dump:0.5")?;
    writeln!(out, "Slogan: {slogan}")?;
    writeln!(out, "System version: {}", super::info::system_version().trim_end())?;
    writeln!(out, "Taints: ")?;
    writeln!(out, "Atoms: {}", heddle_term::atom::count())?;
    writeln!(out, "Calling Thread: {}", std::thread::current().name().unwrap_or("?"))?;
    super::areas::memory(&mut out)?;
    in_window(|| {
        let own = sched::running().and_then(|(pid, _)| proctab::lookup(pid));
        // SAFETY: this thread runs it, and does nothing else with it any more.
        processes(&mut out, stopped, own.map(|q| unsafe { &*q.local() }))?;
        ports(&mut out, stopped)
    })?;
    tables(&mut out)?;
    out.write_all(known_nodes::sections().as_bytes())?;
    modules(&mut out)?;
    writeln!(out, "=end")?;
    out.flush()
}

/// Runs `f`, which looks at processes and ports, on any thread: none of them is freed meanwhile. Where `qsbr::look` is impossible, which is
/// in sequential mode on a system without the barrier for it, `f` looks all the same.
pub(super) fn in_window<R>(mut f: impl FnMut() -> R) -> R {
    match qsbr::look(&mut f) {
        Some(result) => result,
        None => f(),
    }
}

/// Writes the sections of all processes. `own`: the process that this thread runs, if any.
pub(super) fn processes(out: &mut impl Write, stopped: bool, own: Option<&Process>) -> Result<()> {
    let mut all = Vec::new();
    proctab::for_each(|q| all.push(q));
    let mut stacks = Vec::new();
    for q in all {
        stacks.extend(process(out, q, stopped, own)?);
    }
    stacks.iter().try_for_each(|stack| write!(out, "{stack}"))
}

/// Writes the section of a process. Returns its stack section, if the stack can be read.
pub(super) fn process(out: &mut impl Write, q: ProcRef, stopped: bool, own: Option<&Process>) -> Result<Option<String>> {
    let state = q.state.load();
    let own = own.filter(|own| own.pid() == q.pid);
    // A process that another thread may be changing is not looked at.
    let is_still = own.is_some() || stopped && !state.is_running() && !state.is_dirty();
    if !is_still || state.is_exiting() {
        unknown(out, q, if state.is_exiting() { "Exiting" } else { "Running" })?;
        return Ok(None);
    }
    let local = match own {
        Some(own) => own,
        // SAFETY: it does not run: schedulers stand still, and no dirty thread has it.
        None => unsafe { q.local() },
    };
    let state = if own.is_some() {
        "Running"
    } else if state.is_queued() {
        "Scheduled"
    } else {
        "Waiting"
    };
    write!(out, "{}", dump::section(local, state))?;
    Ok(Some(dump::stack_section(local)))
}

/// Writes the section of a process that did not stop.
fn unknown(out: &mut impl Write, q: ProcRef, state: &str) -> Result<()> {
    writeln!(out, "=proc:{}", shown(q.pid_term()))?;
    writeln!(out, "State: {state}")?;
    let name = q.name.load(Ordering::Acquire);
    if name != 0 { writeln!(out, "Name: {}", shown(Atom::from_index(name - 1).into())) } else { Ok(()) }
}

pub(super) fn ports(out: &mut impl Write, stopped: bool) -> Result<()> {
    let mut all = Vec::new();
    proctab::for_each_port(|q| all.push(q));
    for q in all {
        let Some(port) = heddle_io::ports::find(q.pid_term()) else { continue };
        writeln!(out, "=port:{}", shown(port.term()))?;
        writeln!(out, "State: CONNECTED")?;
        writeln!(out, "Slot: {}", port.id)?;
        writeln!(out, "Connected: {}", shown(Term::local_pid(port.owner())))?;
        let state = q.state.load();
        let mut links = Vec::new();
        let mut look = |local: &Process| {
            let inner = local.relations.get();
            links.extend(inner.iter().flat_map(|inner| inner.links.keys()).map(|&other| shown(other)));
        };
        // The links of a port that is busy now are left out: to wait for it could take forever.
        if !stopped {
            task::try_now(q).iter_mut().filter_map(task::Entered::process).for_each(|local| look(local));
        } else if !state.is_running() && !state.is_exiting() {
            // SAFETY: it does not run: schedulers stand still.
            look(unsafe { q.local() });
        }
        if !links.is_empty() {
            writeln!(out, "Links: {}", links.join(", "))?;
        }
        let name = q.name.load(Ordering::Acquire);
        if name != 0 {
            writeln!(out, "Registered as: {}", Atom::from_index(name - 1).name())?;
        }
        let kind = match port.kind {
            PortKind::Driver => "Port controls linked-in driver",
            PortKind::Program => "Port controls external process",
            PortKind::Descriptors => "Port is UNIX fd not opened by emulator",
        };
        writeln!(out, "{kind}: {}", port.label)?;
        let figures = [port.bytes_in.load(Ordering::Relaxed), port.bytes_out.load(Ordering::Relaxed)];
        let queued = port.queued_bytes.load(Ordering::Relaxed);
        writeln!(out, "Input: {}\nOutput: {}\nQueue: {queued}", figures[0], figures[1])?;
    }
    Ok(())
}

pub(super) fn tables(out: &mut impl Write) -> Result<()> {
    for table in heddle_ets::registry::all() {
        let name = shown(table.name().into());
        writeln!(out, "=ets:{}", shown(Term::local_pid(table.owner())))?;
        writeln!(out, "Slot: {}", std::sync::Arc::as_ptr(&table).addr())?;
        writeln!(out, "Table: {name}\nName: {name}")?;
        writeln!(out, "Objects: {}\nWords: {}", table.size(), table.words())?;
        writeln!(out, "Type: {}\nProtection: {}", table.kind.name(), table.protection().name())?;
    }
    Ok(())
}

/// Of each module: name, bytes of the current code, and bytes of the old code.
pub(super) fn code_sizes() -> Vec<(String, usize, usize)> {
    let mut sizes: Vec<(String, usize, usize)> = code::with_all(|all| {
        let bytes = |instance: &Option<std::sync::Arc<code::Instance>>| instance.as_ref().map_or(0, |i| i.code.len() * 8);
        all.iter().filter(|(_, m)| m.current.is_some()).map(|(name, m)| (shown((*name).into()), bytes(&m.current), bytes(&m.old))).collect()
    });
    sizes.sort_unstable();
    sizes
}

fn code_totals(out: &mut impl Write, sizes: &[(String, usize, usize)]) -> Result<()> {
    writeln!(out, "Current code: {}", sizes.iter().map(|s| s.1).sum::<usize>())?;
    writeln!(out, "Old code: {}", sizes.iter().map(|s| s.2).sum::<usize>())
}

fn modules(out: &mut impl Write) -> Result<()> {
    let sizes = code_sizes();
    writeln!(out, "=loaded_modules")?;
    code_totals(out, &sizes)?;
    for (name, current, old) in &sizes {
        writeln!(out, "=mod:{name}\nCurrent size: {current}")?;
        if *old > 0 {
            writeln!(out, "Old size: {old}")?;
        }
    }
    Ok(())
}

/// Collects a text in memory, where writing cannot fail.
fn in_memory(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes what is written");
    out
}

/// `system_info(loaded)`.
pub fn loaded() -> Vec<u8> {
    in_memory(|out| {
        let sizes = code_sizes();
        code_totals(out, &sizes)?;
        sizes.iter().try_for_each(|(name, current, _)| writeln!(out, "{name} {current}"))
    })
}

/// `system_info(procs)`: all processes as in a crash dump. The other schedulers are stopped meanwhile. A process that
/// is not stopped in time (a long native) is shown without its inside. None: another thread has stopped them; call again later.
pub fn all_processes(p: &Process) -> Option<Vec<u8>> {
    let stopped = stop_world::stop_others_alone(LONGEST_STOP_MS)?;
    let written = in_memory(|out| processes(out, stopped, Some(p)));
    stop_world::release_others();
    Some(written)
}

const LONGEST_STOP_MS: u64 = 500;

fn shown(term: Term) -> String {
    text::display::to_string(term)
}
