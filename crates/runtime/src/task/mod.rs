//! Tasks are scheduled like processes, and their code is Rust. After P. Hedqvist, "A Parallel and Multithreaded Erlang Implementation",
//! 1998, section 5.2.3.
//!
//! A task is a process (`Process`, with FLAG_TASK): it has a pid, an inbox, links, monitors and a name, waits in the same run queues and
//! shows in every listing. Only its code cell is a special one: the engine's operation there calls `run::slice`, which calls back what the
//! task's type defined, one call-back after the other, until the slice is used up or there is nothing to do. So only the end of a process
//! asks if it is a task (`exit::finish`).
//!
//! | thesis | here |
//! |---|---|
//! | `TaskDefinition`: type, prio, flags | `Definition`: `name`, `level`, `levels` (TASK_CANT_LOWER_PRIO, TASK_CANT_RAISE_PRIO), `private` (TASK_START_THREAD) |
//! | `Allocate`, `Init` | `Definition::init`: makes the state, a Rust value in a box; runs in the starter, before the task is visible |
//! | `Free` | `Drop` of that value |
//! | `Setup`, `Idle`, `HandleEvent`, `HandleTimeOut`, `HandleInfo`, `Terminate` | the methods of `Task` |
//! | the states WAIT, IDLE, EXIT that call-backs return | `TaskNext` |
//! | `SetTimer`, `deliver_signal` | `Context` |
//! | `SpawnTask`, `spawn_task(Type, Arg)` | `start::create`; from Erlang `heddle_task:start(Type, Arg)` |
//!
//! No call-back can keep a term for longer than the term is there: it sees terms as `Value<'m>`, where `'m` ends with the call-back, and a
//! task's state is `'static`. Nothing is collected meanwhile: a call-back reads messages where they arrived (mostly the memory in which
//! they were sent), and the task's heap is collected between slices. A call-back that must keep a term copies it (`Value::keep`) to memory
//! of its own (`Owned`).
//!
//! Ports are tasks whose identity is a port instead of a pid (`start_port`), and which get requests instead of messages. A request is a
//! call-back that its sender passes along (`call`), a signal among the others. So a port does what one process requests in the order of the
//! requests, exit signals and links included. A native that waits for an answer uses `ask`. If the port has nothing to do, the asking
//! thread enters it at once (`try_now`), without a switch.
//!
//! A panic in a call-back ends that task alone, with the reason `{task_panic, Type, Text}` (`guard`).

mod ask;
mod context;
mod enter;
mod guard;
mod run;
mod start;
mod value;

use crate::base::level::{LEVELS, Level};
pub use crate::process::host::Interest;
pub use ask::{answer, answer_to, ask, expect_answer, wait};
pub use context::{Context, Monitor, Sender, To};
pub use enter::{Entered, call, call_soon, exit_signal, try_now};
pub use guard::report;
use heddle_term::Atom;
pub use run::{Running, info, is_waiting, slice, terminate};
pub use start::{Failure, create, mfa, start_port};
use std::os::fd::RawFd;
use std::sync::{PoisonError, RwLock};
pub use value::{Builder, Owned, Pid, Value};

/// A type of tasks.
pub struct Definition {
    /// The name by which it is started, at most 255 characters.
    pub name: &'static str,
    /// The level at which a task of this type is queued unless its starter chooses another.
    pub level: Level,
    /// The first and the last level that it may have.
    pub levels: (Level, Level),
    /// If true, a task starts on a thread of its own unless its starter chooses otherwise: its call-backs may block.
    pub private: bool,
    /// Makes the state of a new task, or returns the reason why not. Runs in the process that starts the task, which waits: long work
    /// belongs in `Task::setup`. The new pid is known (`Start::me`), but no process can find it yet.
    pub init: fn(&Start<'_>) -> Result<Box<dyn Task>, Owned>,
}

impl Definition {
    /// A type with the defaults: at the level of normal processes, may have any other level, runs on the schedulers.
    pub const fn new(name: &'static str, init: fn(&Start<'_>) -> Result<Box<dyn Task>, Owned>) -> Definition {
        let (Some(first), Some(last)) = (Level::new(0), Level::new(LEVELS - 1)) else { panic!("there are levels") };
        Definition { name, level: Level::NORMAL, levels: (first, last), private: false, init }
    }

    pub fn may_have(&self, level: Level) -> bool {
        (self.levels.0..=self.levels.1).contains(&level)
    }
}

/// The arguments of `Definition::init`.
pub struct Start<'a> {
    pub args: Value<'a>,
    /// The task's pid.
    pub me: Pid,
    /// The process that starts it.
    pub parent: Pid,
}

/// An event for `Task::handle_event`.
pub enum TaskEvent<'m> {
    Message(Value<'m>),
    /// A watched descriptor (`Context::watch`) can be read or written, or has an error or its end to report. It is watched once: to get
    /// another event, watch it again. The event may be too late (another reader was faster), so reading should not block. Such events come
    /// before messages that wait.
    Ready(RawFd, Interest),
}

/// What a task does next.
pub enum TaskNext {
    /// Waits for an event or its timeout.
    Wait,
    /// Continues with `Task::idle` when there is no event.
    Idle,
    /// Ends, with this reason.
    Exit(Owned),
}

impl TaskNext {
    /// The end with reason `normal`.
    pub fn done() -> TaskNext {
        TaskNext::Exit(Owned::atom(heddle_term::am::NORMAL))
    }
}

/// The call-backs of a task. One is called at a time, and between two the task handles its signals. A call-back is not interrupted: one
/// that takes longer than about a millisecond must do its work in parts (`TaskNext::Idle`), or its task must have a private thread. It reports
/// its work by `Context::work`.
pub trait Task: std::any::Any + Send {
    /// The first call-back. Other processes can see the task now.
    fn setup(&mut self, _: &mut Context<'_>) -> TaskNext {
        TaskNext::Wait
    }

    /// Does a part of the task's own work, while there is no event. Called as long as it returns `TaskNext::Idle`.
    fn idle(&mut self, _: &mut Context<'_>) -> TaskNext {
        TaskNext::Wait
    }

    /// Handles an event. Its result decides what the task does next, even if the task was to continue with `idle`.
    fn handle_event(&mut self, event: TaskEvent<'_>, _: &mut Context<'_>) -> TaskNext;

    /// The time set by `Context::set_timer` has passed, and there is no event.
    fn handle_timeout(&mut self, _: &mut Context<'_>) -> TaskNext {
        TaskNext::Wait
    }

    /// An exit signal to a task that is a port: from `exit/2` or, `linked`, over a link, which is gone. A task with a pid treats exit
    /// signals, and gets messages for them, as a process does.
    fn handle_exit(&mut self, _from: Value<'_>, reason: Value<'_>, _linked: bool, _: &mut Context<'_>) -> TaskNext {
        TaskNext::Exit(reason.keep())
    }

    /// The value that `heddle_task:info/1` and `process_info(Pid, task)` show as `info`.
    fn handle_info<'b>(&self, build: &'b Builder) -> Value<'b> {
        build.map(&[])
    }

    /// The task ends: it returned `TaskNext::Exit`, or got an exit signal. It still has its name, and can send. Not called after a panic, nor
    /// when the node halts.
    fn terminate(&mut self, _reason: Value<'_>, _: &mut Context<'_>) {}
}

static TYPES: RwLock<Vec<&'static Definition>> = RwLock::new(Vec::new());

/// Registers a type. Returns false if there is one of that name, or no atom could have the name. Mostly called before the node starts, but
/// allowed at any time.
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
