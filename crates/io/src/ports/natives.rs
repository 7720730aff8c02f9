//! The natives on ports.

use super::data::Data;
use super::find;
use super::hooks::wait_for;
use super::open::{open, what};
use super::options;
use super::port::Port;
use super::port_task::PortTask;
use heddle_natives::args;
use heddle_runtime::links::Link;
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{FLAG_AT_PORT, NativeResult, Process};
use heddle_runtime::task::{self, Context, TaskNext};
use heddle_runtime::trace::{events, flags};
use heddle_runtime::{Package, proctab};
use heddle_term::etf::{self, DecodeOptions, EncodeOptions};
use heddle_term::{Atom, Heap, Term, am, list};
use std::sync::atomic::Ordering;

heddle_runtime::natives! { TABLE:
    "erts_internal" => {
        "open_port"/2 => open_port,
        "port_command"/3 => port_command,
        "port_control"/3 => port_control,
        "port_call"/3 => port_call,
        "port_close"/1 => port_close,
        "port_connect"/2 => port_connect,
        "port_info"/1 => port_info_1,
        "port_info"/2 => port_info_2,
    }
    "erlang" => {
        "ports"/0 => all_ports,
        "port_set_data"/2 => port_set_data,
        "port_get_data"/1 => port_get_data,
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

/// Returns the port, or an atom that says what is wrong: the Erlang code that calls this raises the error.
fn open_port(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let Some(options) = options::parse(a[1]) else { return Ok(atom("badopt")) };
    let Some(what) = what(a[0]) else { return Ok(am::BADARG.into()) };
    let has_arguments = options.args.is_some() || options.arg0.is_some();
    if has_arguments && !matches!(what, super::open::What::Executable(_)) {
        return Ok(am::BADARG.into());
    }
    // The answer of an earlier port is not the one of this.
    task::expect_answer(p);
    match open(what, options, p.pid()) {
        Ok(Some(port)) => {
            p.relations.make().links.insert(port.term(), Link { active: true, unlinking: 0 });
            if events::on(p.shared(), flags::PROCS) {
                events::of_process(p, flags::PROCS, "link", &[port.term()]);
            }
            if port.says_started {
                return Err(task::wait(p, a));
            }
            Ok(port.term())
        }
        Ok(None) => Ok(am::SYSTEM_LIMIT.into()),
        Err(e) => Ok(match e.raw_os_error() {
            Some(code) => atom(crate::errno::name(code)),
            None => am::BADARG.into(),
        }),
    }
}

fn all_ports(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut ports = Vec::new();
    proctab::for_each_port(|port| ports.push(port.pid_term()));
    Ok(p.heap.list(&ports))
}

/// Has the port's task run `f` and returns its answer, or `badarg` if the port is gone.
fn ask(
    p: &mut Process,
    a: &[Term],
    port: &Port,
    f: impl FnOnce(&mut PortTask, &mut Context<'_>) -> (Package, TaskNext) + Send + 'static,
) -> NativeResult {
    task::ask(p, a, port.identity(), am::BADARG.into(), f)
}

/// The answer for a request: `true` if the port took it, else `badarg`.
fn taken((taken, next): (bool, TaskNext)) -> (Package, TaskNext) {
    (Package::immediate(if taken { Term::bool(true) } else { am::BADARG.into() }), next)
}

/// A busy port makes the caller wait. With the option `nosuspend` the result is false instead; with `force` the data is sent all the same.
fn port_command(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return match answer {
            // The port was busy when the data arrived: the same again.
            Ok(port) if port.is_local_port() => port_command(p, &[port, a[1], a[2]]),
            other => other,
        };
    }
    p.flags &= !FLAG_AT_PORT;
    let Some(flags) = args::list(a[2]) else { return Ok(am::BADARG.into()) };
    let (mut force, mut suspends) = (false, true);
    for flag in flags {
        match flag.as_atom().map(|f| f.name()) {
            Some("force") => force = true,
            Some("nosuspend") => suspends = false,
            _ => return Ok(atom("badopt")),
        }
    }
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    if force && !port.takes_force {
        return Ok(atom("notsup"));
    }
    if !force && port.gate.is_shut() {
        return if suspends { Err(wait_for(p, a, &port)) } else { Ok(Term::bool(false)) };
    }
    let Some(data) = Data::of(a[1], port.takes_parts) else { return Ok(am::BADARG.into()) };
    p.bump(data.bytes.len() / 200);
    let me = p.pid_term();
    let answer = ask(p, a, &port, move |task, context| {
        // It may have become busy meanwhile.
        if !force && task.port.gate.is_held() {
            return (Package::immediate(task.port.term()), TaskNext::Wait);
        }
        taken(task.command_from(me, data, context))
    });
    match answer {
        Ok(answer) if answer.is_local_port() => port_command(p, &[port.term(), a[1], a[2]]),
        other => other,
    }
}

/// `badarg` if the driver knows no such operation. The driver of descriptors and programs knows none.
fn port_control(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let (Some(port), Some(operation)) = (find(a[0]), a[1].as_small().and_then(|n| u32::try_from(n).ok())) else {
        return Ok(am::BADARG.into());
    };
    let Ok(data) = list::iolist_to_vec(a[2]) else { return Ok(am::BADARG.into()) };
    let me = p.pid();
    ask(p, a, &port, move |task, context| {
        let (reply, next) = task.control(me, operation, &data, context);
        let Some((reply, is_binary)) = reply else { return (Package::immediate(am::BADARG.into()), next) };
        let answer = Package::build(|heap| if is_binary { heap.binary(&reply) } else { heap.byte_list(&reply) });
        (answer, next)
    })
}

/// As `port_control`, with a term for the driver and one as its reply: `{ok, Reply}`.
fn port_call(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let (Some(port), Some(operation)) = (find(a[0]), args::count(a[1]).and_then(|n| u32::try_from(n).ok())) else {
        return Ok(am::BADARG.into());
    };
    let data = etf::encode(a[2], &EncodeOptions::default());
    let me = p.pid();
    ask(p, a, &port, move |task, context| {
        let (reply, next) = task.call(me, operation, &data, context);
        let answer = Package::build(|heap| {
            let reply = reply.and_then(|reply| etf::decode(heap, &reply, &DecodeOptions::default()).ok());
            reply.map_or(am::BADARG.into(), |reply| heap.tuple(&[am::OK.into(), reply.term]))
        });
        (answer, next)
    })
}

fn port_close(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    let me = p.pid_term();
    ask(p, a, &port, move |task, context| taken(task.close_by(me, false, context)))
}

fn port_connect(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    let (me, owner) = (p.pid_term(), a[1]);
    if !owner.is_local_pid() || proctab::find(owner).is_none() {
        return Ok(am::BADARG.into());
    }
    ask(p, a, &port, move |task, context| taken(task.connect_by(me, owner, context)))
}

fn port_set_data(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Err(p.badarg()) };
    *LockClass::Port.lock(&port.data) = Package::new(a[1]);
    Ok(Term::bool(true))
}

fn port_get_data(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Err(p.badarg()) };
    let data = LockClass::Port.lock(&port.data).clone();
    Ok(data.unpack(&mut p.heap))
}

fn port_info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let Some(port) = find(a[0]) else { return Ok(gone(a[0])) };
    task::ask(p, a, port.identity(), gone(a[0]), |task: &mut PortTask, context| {
        let items = Package::build(|heap| {
            let rows: Vec<Term> = ITEMS.iter().filter_map(|item| task.info(heap, item, context)).collect();
            heap.list(&rows)
        });
        (items, TaskNext::Wait)
    })
}

/// The result of `port_info` for a port that is gone, or for a name that no port has.
fn gone(port: Term) -> Term {
    if port.is_local_port() { am::UNDEFINED.into() } else { am::BADARG.into() }
}

fn port_info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    if let Some(answer) = task::answer(p, a) {
        return answer;
    }
    let Some(item) = a[1].as_atom() else { return Ok(atom("badtype")) };
    let Some(port) = find(a[0]) else { return Ok(gone(a[0])) };
    task::ask(p, a, port.identity(), gone(a[0]), move |task: &mut PortTask, context| {
        let info = Package::build(|heap| match task.info(heap, item.name(), context) {
            Some(info) => info,
            None if item.name() == "registered_name" => Term::NIL,
            None => atom("badtype"),
        });
        (info, TaskNext::Wait)
    })
}

/// The items of `port_info/1`, in its order.
const ITEMS: &[&str] = &["registered_name", "name", "links", "id", "connected", "input", "output", "os_pid"];

impl PortTask {
    fn info(&self, heap: &mut Heap, item: &str, context: &mut Context<'_>) -> Option<Term> {
        let port = &self.port;
        let value = match item {
            "registered_name" => context.registered_name()?.into(),
            "name" => heap.string(&port.label),
            "id" => Term::small(port.id as i64),
            "connected" => Term::local_pid(port.owner()),
            "links" => {
                let links: Vec<Term> = context.relations().get().map_or(Vec::new(), |all| all.links.keys().copied().collect());
                heap.list(&links)
            }
            "monitors" => {
                let inner = context.relations().get();
                let targets: Vec<Term> = inner.map_or(Vec::new(), |all| all.monitoring.values().map(|m| m.target).collect());
                let rows: Vec<Term> = targets.into_iter().map(|target| heap.tuple(&[am::PROCESS.into(), target])).collect();
                heap.list(&rows)
            }
            "monitored_by" => {
                let inner = context.relations().get();
                let watchers: Vec<Term> = inner.map_or(Vec::new(), |all| all.monitored_by(heap));
                heap.list(&watchers)
            }
            "input" => heap.unsigned(port.bytes_in.load(Ordering::Relaxed)),
            "output" => heap.unsigned(port.bytes_out.load(Ordering::Relaxed)),
            "queue_size" => Term::small(self.queued() as i64),
            "memory" => Term::small((size_of::<Port>() + size_of::<PortTask>() + self.driver_bytes()) as i64),
            "parallelism" => Term::bool(port.parallelism),
            "locking" => Term::bool(false),
            "os_pid" => match port.os_pid.load(Ordering::Relaxed) {
                0 => am::UNDEFINED.into(),
                pid => Term::small(pid as i64),
            },
            _ => return None,
        };
        Some(heap.tuple(&[atom(item), value]))
    }
}
