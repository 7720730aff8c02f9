//! `probe`: a task that does what it is told, call-back by call-back, wrong things included. For tests of tasks: the type is there once
//! `erts_debug:set_internal_state(heddle_task_probe, true)` was called; `get_internal_state(heddle_task_probe)` tells how many live.
//!
//! Started with `refuse` or `panic` it is none; with `{panic, CallBack}` that call-back panics. Else its argument is a pid, or anything,
//! and a pid hears of its end: `{terminate, Pid, Reason}`.

use heddle_runtime::level::Level;
use heddle_runtime::task::{self, Builder, Context, Definition, Monitor, Owned, Pid, Start, Task, TaskEvent, TaskNext, Value};
use heddle_term::Atom;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

static TYPE: Definition = Definition::new("probe", start);
/// A type that allows a few levels only, and has a thread of its own.
static BOUND: Definition =
    Definition { levels: (level(8), level(15)), level: level(10), private: true, ..Definition::new("probe_bound", start) };

const fn level(number: usize) -> Level {
    match Level::new(number) {
        Some(level) => level,
        None => panic!("there is no such level"),
    }
}

/// How many states were made and not freed.
static LIVING: AtomicUsize = AtomicUsize::new(0);

pub fn living() -> usize {
    LIVING.load(Ordering::Relaxed)
}

/// Registers both types. False if they are registered already.
pub fn register() -> bool {
    task::register(&TYPE) && task::register(&BOUND)
}

struct Probe {
    watcher: Option<Pid>,
    panics: Option<String>,
    /// Parts of work left, and the process that is told of the end.
    work: usize,
    worker: Option<Pid>,
    sleeper: Option<Pid>,
    monitors: Vec<Monitor>,
    reader: Option<(Pid, RawFd)>,
}

fn start(start: &Start<'_>) -> Result<Box<dyn Task>, Owned> {
    if start.args.is("refuse") {
        return Err(Owned::build(|b| b.tuple(&[b.name("refused"), b.pid(start.parent)])));
    }
    assert!(!start.args.is("panic"), "told to, in init");
    let panics = match start.args.as_tuple() {
        Some([what, place]) if what.is("panic") => place.as_atom().map(|place| place.name().to_string()),
        _ => None,
    };
    LIVING.fetch_add(1, Ordering::Relaxed);
    let watcher = start.args.as_pid();
    Ok(Box::new(Probe { watcher, panics, work: 0, worker: None, sleeper: None, monitors: Vec::new(), reader: None }))
}

impl Drop for Probe {
    fn drop(&mut self) {
        LIVING.fetch_sub(1, Ordering::Relaxed);
        self.panics_in("drop");
    }
}

impl Probe {
    fn panics_in(&self, place: &str) {
        assert!(self.panics.as_deref() != Some(place), "told to, in {place}");
    }

    /// {Command, Pid, Argument}: what it does, and what it answers `Pid ! {Command, Answer}`.
    fn obey(&mut self, command: &str, from: Pid, argument: Value<'_>, context: &mut Context<'_>) -> Option<TaskNext> {
        let number = argument.as_integer();
        let answer = match command {
            "echo" => argument.keep(),
            "panic" => panic!("{}", argument.as_text().unwrap_or_default()),
            "timer" => {
                self.sleeper = Some(from);
                context.set_timer(Duration::from_millis(number? as u64));
                return None;
            }
            "cancel" => {
                context.cancel_timer();
                Owned::atom(Atom::new("ok"))
            }
            "work" => {
                (self.work, self.worker) = (number? as usize, Some(from));
                return Some(TaskNext::Idle);
            }
            "link" => {
                context.link(argument.as_pid()?);
                Owned::atom(Atom::new("ok"))
            }
            "unlink" => {
                context.unlink(argument.as_pid()?);
                Owned::atom(Atom::new("ok"))
            }
            "monitor" => {
                self.watcher = Some(from);
                self.monitors.push(context.monitor(argument.as_pid()?));
                Owned::atom(Atom::new("ok"))
            }
            "demonitor" => Owned::build(|b| b.boolean(self.monitors.pop().is_some_and(|monitor| context.demonitor(monitor)))),
            "exit" => {
                context.exit(from, argument);
                return None;
            }
            "trap" => {
                self.watcher = Some(from);
                context.trap_exits(argument.is("true"));
                Owned::atom(Atom::new("ok"))
            }
            "stop" => return Some(TaskNext::Exit(argument.keep())),
            "register" => Owned::build(|b| b.boolean(context.register(argument.as_atom().unwrap_or(Atom::new("undefined"))))),
            "level" => Owned::build(|b| b.boolean(Level::new(number.unwrap_or(99) as usize).is_some_and(|level| context.set_level(level)))),
            // {Milliseconds, Answer}
            "block" => {
                let Some(&[time, answer]) = argument.as_tuple() else { return None };
                let time = Duration::from_millis(time.as_integer()? as u64);
                context.blocking(|| std::thread::sleep(time));
                answer.keep()
            }
            // To each its message, all before any of them can run here.
            "fan" => {
                for pair in argument.as_list()? {
                    if let Some(&[to, message]) = pair.as_tuple() {
                        let _ = context.send(to, message);
                    }
                }
                return None;
            }
            "thread" => {
                let sender = context.sender();
                let message = argument.keep();
                std::thread::spawn(move || sender.send(message));
                return None;
            }
            "watch" => {
                let fd = number? as RawFd;
                self.reader = Some((from, fd));
                let watched = context.watch(fd, task::Interest::Read);
                Owned::build(|b| b.boolean(watched.is_ok()))
            }
            "unwatch" => {
                context.unwatch(number? as RawFd);
                Owned::atom(Atom::new("ok"))
            }
            _ => return None,
        };
        let command = Atom::new(command);
        context.tell(from, |b| b.tuple(&[b.atom(command), b.copy(answer.value())]));
        None
    }
}

impl Task for Probe {
    fn setup(&mut self, _: &mut Context<'_>) -> TaskNext {
        self.panics_in("setup");
        TaskNext::Wait
    }

    fn idle(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.panics_in("idle");
        context.work(100);
        self.work -= 1;
        if self.work > 0 {
            return TaskNext::Idle;
        }
        if let Some(worker) = self.worker.take() {
            context.tell(worker, |b| b.tuple(&[b.name("work"), b.name("done")]));
        }
        TaskNext::Wait
    }

    fn handle_event(&mut self, event: TaskEvent<'_>, context: &mut Context<'_>) -> TaskNext {
        let goes_on = if self.work > 0 { TaskNext::Idle } else { TaskNext::Wait };
        let message = match event {
            TaskEvent::Message(message) => message,
            TaskEvent::Ready(fd, _) => {
                if let Some((reader, _)) = self.reader.take_if(|reader| reader.1 == fd) {
                    context.tell(reader, |b| b.tuple(&[b.name("ready"), b.integer(fd as i64)]));
                }
                return goes_on;
            }
        };
        let Some(&[command, from, argument]) = message.as_tuple() else {
            // All other events: exit signals, ends of other processes, what threads send.
            if let Some(watcher) = self.watcher {
                let watch = self.monitors.iter().any(|&monitor| message.is_down(monitor));
                context.tell(watcher, |b| b.tuple(&[b.name(if watch { "down" } else { "other" }), b.copy(message)]));
            }
            return goes_on;
        };
        let told = command.as_atom().zip(from.as_pid()).and_then(|(command, from)| self.obey(command.name(), from, argument, context));
        if command.is("EXIT")
            && let Some(watcher) = self.watcher
        {
            context.tell(watcher, |b| b.tuple(&[b.name("other"), b.copy(message)]));
        }
        told.unwrap_or(goes_on)
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) -> TaskNext {
        self.panics_in("handle_timeout");
        if let Some(sleeper) = self.sleeper.take() {
            context.tell(sleeper, |b| b.tuple(&[b.name("timer"), b.name("timeout")]));
        }
        TaskNext::Wait
    }

    fn handle_info<'b>(&self, b: &'b Builder) -> Value<'b> {
        self.panics_in("handle_info");
        b.fields(&[("work", b.integer(self.work as i64))])
    }

    fn terminate(&mut self, reason: Value<'_>, context: &mut Context<'_>) {
        self.panics_in("terminate");
        if let Some(watcher) = self.watcher {
            let me = context.me();
            context.tell(watcher, |b| b.tuple(&[b.name("terminate"), b.pid(me), b.copy(reason)]));
        }
    }
}
