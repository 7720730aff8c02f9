//! Starts a task (`SpawnTask` in P. Hedqvist, "A Parallel and Multithreaded Erlang Implementation", 1998, section 5.2.3).

use super::guard::call_back;
use super::run::Running;
use super::value::{Owned, Pid, Value};
use super::{Definition, Start, Task};
use crate::base::level::Level;
use crate::base::sizes;
use crate::heap::mode;
use crate::lifecycle::spawn::ENTRY_POINTS;
use crate::process::links::Link;
use crate::process::{self, FLAG_TASK, MaxHeap, ProcRef, Process, SpawnOptions};
use crate::process::{names, proctab};
use crate::sched;
use crate::sched::home;
use heddle_term::code_cell::Mfa;
use heddle_term::copy::flat_size;
use heddle_term::{Atom, Term, am};
use std::sync::atomic::Ordering;

/// Why a task could not be started.
pub enum Failure {
    /// The process table is full.
    Full,
    /// The name belongs to this process or port.
    Named(Term),
    /// `init` returned this reason; or it panicked, with `{task_panic, Type, Text}`.
    Refused(Owned),
}

/// The function that a task shows as its initial call: `heddle_task:Type/1`.
pub fn mfa(definition: &Definition) -> Mfa {
    Mfa { module: Atom::new("heddle_task"), function: Atom::new(definition.name), arity: 1 }
}

/// Makes a task that is not visible yet. The caller sets up links and monitors on it and then calls `sched::start_process`.
pub fn create(
    definition: &'static Definition,
    args: Term,
    parent: &Process,
    options: &SpawnOptions,
    level: Level,
    name: Option<Atom>,
) -> Result<ProcRef, Failure> {
    let pid = proctab::reserve().ok_or(Failure::Full)?;
    let me = Term::local_pid(pid);
    // From here on no other process gets the name, and messages sent to it are lost, as if it were not there yet.
    if let Some(name) = name.filter(|&name| !names::register(name, me)) {
        proctab::give_back(pid);
        return Err(Failure::Named(names::whereis(name).unwrap_or(am::UNDEFINED.into())));
    }
    // SAFETY: natives do not collect, so the starter's term stays during this call.
    let start = Start { args: unsafe { Value::new(args) }, me: Pid(pid), parent: Pid(parent.pid()) };
    let body = match call_back(|| (definition.init)(&start)) {
        Ok(Ok(body)) => body,
        failed => {
            if let Some(name) = name {
                names::unregister(name, Some(me));
            }
            proctab::give_back(pid);
            return Err(Failure::Refused(match failed {
                Ok(Err(reason)) => reason,
                Err(text) => super::run::panic_reason(definition, &text),
                Ok(Ok(_)) => unreachable!("handled above"),
            }));
        }
    };
    let mut local = Process::blank(mfa(definition), Term::NONE, parent.pid(), options);
    // Messages are handled in the memory where they are, so its heap is hardly used.
    local.min_heap_words = sizes::at_least(0);
    mode::init_block(&mut local, flat_size(parent.group_leader));
    local.group_leader = local.heap.copy(parent.group_leader);
    let p = allocate(pid, local, definition, body, level);
    if let Some(name) = name {
        p.name.store(name.index() + 1, Ordering::Release);
    }
    home::put(&p, options.place);
    Ok(p)
}

fn allocate(id: u64, mut local: Process, definition: &'static Definition, body: Box<dyn Task>, level: Level) -> ProcRef {
    local.ip = ENTRY_POINTS.get().expect("engine started").task;
    local.priority = level.class();
    local.flags |= FLAG_TASK;
    local.rare().task = Some(Running::new(definition, body));
    let p = process::allocate(id, local);
    p.state.set_level(level);
    p
}

/// Starts a task that is a port, under an identity from `proctab::reserve_port`, linked to its owner. The caller must set up the owner's
/// side of the link.
pub fn start_port(definition: &'static Definition, id: u64, owner: u64, body: Box<dyn Task>) {
    // No heap limit applies to it.
    let options = SpawnOptions { max_heap: MaxHeap::NONE, ..SpawnOptions::default() };
    let mut local = Process::blank(mfa(definition), am::UNDEFINED.into(), owner, &options);
    local.min_heap_words = sizes::at_least(0);
    mode::init_block(&mut local, 0);
    local.relations.make().links.insert(Term::local_pid(owner), Link { active: true, unlinking: 0 });
    sched::start_process(allocate(id, local, definition, body, definition.level));
}
