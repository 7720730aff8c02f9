//! `heddle_task`: native tasks (`runtime::task`). All functions of that module are natives.
//!
//! - `start(Type, Args)`, `start(Type, Args, Options)`, `start_link(Type, Args)`, `start_link(Type, Args, Options)`: a task of a type that
//!   the program registered. `{ok, Pid}`; with a monitor `{ok, {Pid, Reference}}`. `{error, Reason}` if the type refuses (then there was
//!   no task, and no process gets an exit signal), with `{already_started, Pid}` if the name is taken.
//! - Options: `link`, `monitor`, `{monitor, Options}`, `{name, Atom}`, `{priority, low | normal | high | max | 0..31}`, and of `spawn_opt`
//!   `{scheduler, N}`, `{queue, N}`, `{thread, private | shared}`, `{message_queue_data, _}`, `{max_heap_size, _}`.
//! - `types()`: `#{Type => #{level, levels, thread}}`. `info(Pid)`: `#{type, level, info}`, or `undefined` if no such task is there.

use super::flags;
use super::info;
use super::spawn::{self, SpawnRequest};
use heddle_natives::args;
use heddle_natives::causes::{self, wrong};
use heddle_runtime::level::Level;
use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::task::{self, Definition, Failure};
use heddle_term::{Atom, Term, am, map};

heddle_runtime::natives! { TABLE:
    "heddle_task" => {
        "start"/2 => start_2,
        "start"/3 => start_3,
        "start_link"/2 => start_link_2,
        "start_link"/3 => start_link_3,
        "types"/0 => types,
        "info"/1 => info_1,
        "format_error"/2 => format_error,
    }
}

fn start_2(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Term::NIL, false)
}
fn start_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, a[2], false)
}
fn start_link_2(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, Term::NIL, true)
}
fn start_link_3(p: &mut Process, a: &[Term]) -> NativeResult {
    start(p, a, a[2], true)
}

/// Options that a task has and a process has not.
struct Wishes {
    request: SpawnRequest,
    level: Level,
    name: Option<Atom>,
}

fn start(p: &mut Process, a: &[Term], options: Term, link: bool) -> NativeResult {
    let Some(name) = a[0].as_atom() else { return Err(wrong(p, 1, "atom")) };
    let Some(definition) = task::find(name) else { return Err(wrong(p, 1, "type")) };
    let mut wishes = parse(p, definition, options)?;
    wishes.request.link |= link;
    let arguments = p.heap.list(&[a[1]]);
    let mut failure = Failure::Full;
    let made = spawn::start_made(p, (task::mfa(definition), arguments), &wishes.request, None, None, |p| {
        let made = task::create(definition, a[1], p, &wishes.request.options, wishes.level, wishes.name);
        made.map_err(|why| failure = why).ok()
    });
    p.bump(20);
    match (made, failure) {
        (Some(created), _) => {
            let result = created.reference.map_or(created.pid, |reference| p.heap.tuple(&[created.pid, reference]));
            Ok(p.heap.tuple(&[am::OK.into(), result]))
        }
        (None, Failure::Full) => Err(p.system_limit()),
        (None, Failure::Named(owner)) => {
            let reason = p.heap.tuple(&[Atom::new("already_started").into(), owner]);
            Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
        }
        (None, Failure::Refused(reason)) => {
            let reason = reason.package().unpack(&mut p.heap);
            Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
        }
    }
}

/// Options of `spawn_opt` that tasks have too.
const AS_SPAWN: &[&str] = &["monitor", "scheduler", "queue", "thread", "message_queue_data", "max_heap_size"];

fn parse(p: &mut Process, definition: &Definition, options: Term) -> Result<Wishes, Thrown> {
    let Some(items) = args::list(options) else { return Err(wrong(p, 3, "option")) };
    let (mut level, mut name, mut private) = (definition.level, None, definition.private);
    let mut others = Vec::new();
    for item in items {
        match args::option(item).map(|(key, value)| (key.name(), value)) {
            Some(("priority", value)) => {
                let wanted = flags::priority(value).map(Level::of).or_else(|| args::count(value).and_then(Level::new));
                level = wanted.ok_or_else(|| wrong(p, 3, "priority"))?;
                if !definition.may_have(level) {
                    return Err(wrong(p, 3, "level"));
                }
            }
            Some(("name", value)) => {
                name = Some(value.as_atom().filter(|name| *name != am::UNDEFINED).ok_or_else(|| wrong(p, 3, "name"))?);
            }
            Some((key, _)) if !AS_SPAWN.contains(&key) => return Err(wrong(p, 3, "option")),
            other => {
                // The choice of the type holds only if no option names a thread.
                private &= other.is_none_or(|(key, _)| key != "thread");
                others.push(item);
            }
        }
    }
    let others = p.heap.list(&others);
    let Some(mut request) = spawn::parse_options(others, false) else { return Err(wrong(p, 3, "option")) };
    request.private |= private;
    Ok(Wishes { request, level, name })
}

fn types(p: &mut Process, _: &[Term]) -> NativeResult {
    let heap = &mut p.heap;
    let number = |level: Level| Term::small(level.number() as i64);
    let mut all = Vec::new();
    for definition in task::types() {
        let levels = heap.tuple(&[number(definition.levels.0), number(definition.levels.1)]);
        let thread = Atom::new(if definition.private { "private" } else { "shared" });
        let facts = [("level", number(definition.level)), ("levels", levels), ("thread", thread.into())];
        let facts = map::from_pairs(heap, &facts.map(|(key, value)| (Atom::new(key).into(), value)));
        all.push((Atom::new(definition.name).into(), facts));
    }
    Ok(map::from_pairs(heap, &all))
}

fn info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_pid() && !a[0].is_local_port() {
        return Err(wrong(p, 1, "pid"));
    }
    info::of_task(p, a[0])
}

/// The text for each cause.
const CAUSES: &[(&str, &str)] = &[
    ("atom", "not an atom"),
    ("type", "no type of tasks has this name (heddle_task:types/0 lists them)"),
    ("option", "not a list of options for tasks"),
    ("priority", "not a priority: low, normal, high, max, or a level from 0 to 31"),
    ("level", "tasks of this type may not have this level"),
    ("name", "not a name that can be registered"),
    ("pid", "not a pid or port of this node"),
];

fn format_error(p: &mut Process, a: &[Term]) -> NativeResult {
    causes::describe(p, a, CAUSES)
}
