//! Tasks: what is scheduled like a process and whose code is Rust (seed 004 §5.2.3).
//!
//! A task is a process (`Process`, with FLAG_TASK): it has a pid, an inbox, links, monitors and a name, waits in the same run queues and
//! shows in every listing. Only the code cell at which it stands is another one: the engine's operation there calls `run::slice`,
//! which calls back what the task's type defined, one call-back after the other, until the slice is used up or there is nothing to
//! do. So no path of a process asks whether it is a task, but for its end (`exit::finish`).
//!
//! | seed 004 | here |
//! |---|---|
//! | `TaskDefinition`: type, prio, flags | `Definition`: `name`, `level`, `levels` (TASK_CANT_LOWER_PRIO, TASK_CANT_RAISE_PRIO), `private` (TASK_START_THREAD) |
//! | `Allocate`, `Init` | `Definition::init`: makes the state, a Rust value in a box; in the starter, before the task is visible |
//! | `Free` | `Drop` of that value |
//! | `Setup`, `Idle`, `HandleEvent`, `HandleTimeOut`, `HandleInfo`, `Terminate` | the methods of `Task` |
//! | the states WAIT, IDLE, EXIT that call-backs return | `Next` |
//! | `SetTimer`, `deliver_signal` | `Context` |
//! | `SpawnTask`, `spawn_task(Type, Arg)` | `start::create`; from Erlang `heddle_task:start(Type, Arg)` |
//!
//! No call-back can keep a term for longer than the term is there: it sees terms as `Value<'m>`, where `'m` ends with the call-back,
//! and a task's state is `'static`. Nothing is collected meanwhile: messages are looked at where they arrived (mostly the memory in
//! which they were sent), and the task's heap is collected between slices. What is to stay is copied out (`Value::keep`) into memory
//! of its own (`Owned`).
//!
//! Ports are tasks whose identity is a port instead of a pid (`start_port`), and which get requests instead of messages: a request is
//! a call-back that its sender brings along (`call`), a signal among the others. So what one process has a port do is done in the order
//! in which it asked, exit signals and links included. Who waits for an answer uses `ask`. A port that has nothing to do is entered at
//! once by who asks (`try_now`), without a switch.
//!
//! A panic in a call-back ends that task alone, with the reason `{task_panic, Type, Text}` (`guard`).

mod ask;
mod context;
mod enter;
mod guard;
pub mod poll;
mod run;
mod start;
mod value;

pub use ask::{answer, ask};
pub use context::{Context, Monitor, Sender, To};
pub use enter::{Entered, call, exit_signal, try_now};
pub use guard::report;
pub use poll::Interest;
pub use run::{Running, info, is_waiting, slice, terminate};
pub use start::{Failure, create, mfa, start_port};
pub use value::{Builder, Owned, Pid, Value};

use crate::level::{LEVELS, Level};
use heddle_term::Atom;
use std::os::fd::RawFd;
use std::sync::{PoisonError, RwLock};

/// A type of tasks.
pub struct Definition {
    /// By which it is started, at most 255 characters.
    pub name: &'static str,
    /// Where a task of this type is queued unless its starter says something else.
    pub level: Level,
    /// The first and the last level that it may have.
    pub levels: (Level, Level),
    /// Starts on a thread of its own unless its starter says something else: its call-backs may block.
    pub private: bool,
    /// Makes the state of a task that is to be started, or says why not. Runs in the process that starts it, which waits:
    /// what takes long belongs in `Task::setup`. The new pid is known (`Start::me`), but does not exist for anybody yet.
    pub init: fn(&Start<'_>) -> Result<Box<dyn Task>, Owned>,
}

impl Definition {
    /// A type with no wishes: at the level of normal processes, may have any other, runs on the schedulers.
    pub const fn new(name: &'static str, init: fn(&Start<'_>) -> Result<Box<dyn Task>, Owned>) -> Definition {
        let (Some(first), Some(last)) = (Level::new(0), Level::new(LEVELS - 1)) else { panic!("there are levels") };
        Definition { name, level: Level::NORMAL, levels: (first, last), private: false, init }
    }

    pub fn may_have(&self, level: Level) -> bool {
        (self.levels.0..=self.levels.1).contains(&level)
    }
}

/// What `Definition::init` knows.
pub struct Start<'a> {
    pub args: Value<'a>,
    /// The task's pid.
    pub me: Pid,
    /// Who starts it.
    pub parent: Pid,
}

/// What happened, for `Task::handle_event`.
pub enum Event<'m> {
    Message(Value<'m>),
    /// A descriptor that was watched (`Context::watch`) can be read or written, or has an error or end to tell. Watched once: to
    /// hear again, watch again. It may be too late (somebody else read), so it should not block. Comes before messages that wait.
    Ready(RawFd, Interest),
}

/// What a task does next.
pub enum Next {
    /// Waits for an event or its timeout.
    Wait,
    /// Goes on with `Task::idle` when there is no event.
    Idle,
    /// Ends, with this reason.
    Exit(Owned),
}

impl Next {
    /// The end with reason `normal`.
    pub fn done() -> Next {
        Next::Exit(Owned::atom(heddle_term::am::NORMAL))
    }
}

/// The call-backs of a task. One at a time is called; between two the task handles its signals. A call-back is not interrupted: one
/// that takes longer than about a millisecond does its work in parts (`Next::Idle`), or the task has a private thread. It says how
/// much it did by `Context::work`.
pub trait Task: std::any::Any + Send {
    /// Others can see the task now. The first call-back.
    fn setup(&mut self, _: &mut Context<'_>) -> Next {
        Next::Wait
    }

    /// A part of the work it has to do without being told, while there is no event: called as long as it returns `Next::Idle`.
    fn idle(&mut self, _: &mut Context<'_>) -> Next {
        Next::Wait
    }

    /// What it returns counts, also where it was to go on with `idle`.
    fn handle_event(&mut self, event: Event<'_>, _: &mut Context<'_>) -> Next;

    /// The time it set (`Context::set_timer`) has passed, and there is no event.
    fn handle_timeout(&mut self, _: &mut Context<'_>) -> Next {
        Next::Wait
    }

    /// An exit signal to a task that is a port: from `exit/2` or, `linked`, over a link, which is gone. A task with a pid does what a
    /// process does with one, and hears of it as a process would.
    fn handle_exit(&mut self, _from: Value<'_>, reason: Value<'_>, _linked: bool, _: &mut Context<'_>) -> Next {
        Next::Exit(reason.keep())
    }

    /// What `heddle_task:info/1` and `process_info(Pid, task)` show as `info`.
    fn handle_info<'b>(&self, build: &'b Builder) -> Value<'b> {
        build.map(&[])
    }

    /// Its end: it returned `Next::Exit`, or got an exit signal. It still has its name, and can send. Not called after a panic, nor
    /// when the machine halts.
    fn terminate(&mut self, _reason: Value<'_>, _: &mut Context<'_>) {}
}

static TYPES: RwLock<Vec<&'static Definition>> = RwLock::new(Vec::new());

/// Makes a type known. False if there is one of that name, or the name is none that an atom could have. Mostly called before the
/// machine starts, but any time will do.
pub fn register(definition: &'static Definition) -> bool {
    let mut types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
    let is_new = definition.name.chars().count() <= 255 && types.iter().all(|known| known.name != definition.name);
    if is_new {
        types.push(definition);
    }
    is_new
}

pub fn find(name: Atom) -> Option<&'static Definition> {
    TYPES.read().unwrap_or_else(PoisonError::into_inner).iter().copied().find(|known| known.name == name.name())
}

pub fn types() -> Vec<&'static Definition> {
    TYPES.read().unwrap_or_else(PoisonError::into_inner).clone()
}
