//! The natives on ports.

use super::open::{open, what};
use super::options::{self, Bad};
use super::{all, find};
use crate::args;
use crate::trace::ports;
use heddle_runtime::Package;
use heddle_runtime::links::Link;
use heddle_runtime::locks::Class;
use heddle_runtime::process::{NativeResult, Process};
use heddle_runtime::trace::{events, flags};
use heddle_term::{Atom, Term, am, list};

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

/// A port, or an atom that says what is wrong.
fn open_port(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(what) = what(a[0]) else { return Ok(am::BADARG.into()) };
    let executable = matches!(what, super::open::What::Executable(_));
    let options = match options::parse(a[1], executable) {
        Ok(options) => options,
        Err(Bad::Argument) => return Ok(am::BADARG.into()),
        Err(Bad::Option) => return Ok(atom("badopt")),
    };
    match open(what, options, p.pid()) {
        Ok(Some(port)) => {
            p.relations.make().links.insert(port.term(), Link { active: true, unlinking: 0 });
            if events::on(p.shared(), flags::PROCS) {
                events::of_process(p, flags::PROCS, "link", &[port.term()]);
            }
            port.start();
            Ok(port.term())
        }
        Ok(None) => Ok(am::SYSTEM_LIMIT.into()),
        Err(e) => Ok(atom(crate::errno::name(e.raw_os_error().unwrap_or(libc::EINVAL)))),
    }
}

fn all_ports(p: &mut Process, _: &[Term]) -> NativeResult {
    let ports: Vec<Term> = all().into_iter().map(Term::local_port).collect();
    Ok(p.heap.list(&ports))
}

fn port_command(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(flags) = args::list(a[2]) else { return Ok(am::BADARG.into()) };
    if flags.iter().any(|f| !matches!(f.as_atom().map(|f| f.name()), Some("force" | "nosuspend"))) {
        return Ok(atom("badopt"));
    }
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    let Ok(data) = list::iolist_to_vec(a[1]) else { return Ok(am::BADARG.into()) };
    p.bump(data.len() / 200);
    let me = p.pid_term();
    Ok(if port.command_from(me, data) { Term::bool(true) } else { am::BADARG.into() })
}

/// Descriptors and programs know no control operations.
fn port_control(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(port), Some(operation)) = (find(a[0]), a[1].as_small().and_then(|n| u32::try_from(n).ok())) else {
        return Ok(am::BADARG.into());
    };
    let Ok(data) = list::iolist_to_vec(a[2]) else { return Ok(am::BADARG.into()) };
    match port.control(p.pid(), operation, &data) {
        Some(reply) => Ok(p.heap.byte_list(&reply)),
        None => Ok(am::BADARG.into()),
    }
}
fn port_call(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(am::BADARG.into())
}

fn port_close(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    let me = p.pid_term();
    ports::received(port.term(), me, |_| atom("close"));
    port.flush();
    port.close(am::NORMAL.into(), false);
    Ok(Term::bool(true))
}

fn port_connect(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Ok(am::BADARG.into()) };
    if !a[1].is_local_pid() || heddle_runtime::proctab::lookup(a[1].payload()).is_none() {
        return Ok(am::BADARG.into());
    }
    let me = p.pid_term();
    ports::received(port.term(), me, |heap| heap.tuple(&[atom("connect"), a[1]]));
    connect(&port, a[1]);
    Ok(Term::bool(true))
}

pub fn connect(port: &super::port::Port, new_owner: Term) {
    let term = port.term();
    let mut s = Class::Port.lock(&port.state);
    s.owner = new_owner.payload();
    s.links.insert(new_owner);
    drop(s);
    if let Some(to) = heddle_runtime::proctab::lookup(new_owner.payload()) {
        let _ = heddle_runtime::send::deliver(to, heddle_runtime::signal::Signal::new(heddle_runtime::signal::Body::Link { from: term }));
    }
}

fn port_set_data(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Err(p.badarg()) };
    Class::Port.lock(&port.state).data = Package::new(a[1]);
    Ok(Term::bool(true))
}

fn port_get_data(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(port) = find(a[0]) else { return Err(p.badarg()) };
    let data = Class::Port.lock(&port.state).data.clone();
    Ok(data.unpack(&mut p.heap))
}

const ITEMS: &[&str] = &["name", "links", "id", "connected", "input", "output", "os_pid"];

fn port_info_1(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_local_port() && !a[0].is_atom() {
        return Ok(am::BADARG.into());
    }
    let Some(port) = find(a[0]) else { return Ok(if a[0].is_atom() { am::BADARG.into() } else { am::UNDEFINED.into() }) };
    let mut items = Vec::new();
    let name = Class::Port.lock(&port.state).name;
    if let Some(name) = name {
        items.push(p.heap.tuple(&[atom("registered_name"), name.into()]));
    }
    for item in ITEMS {
        items.extend(info(p, &port, item));
    }
    Ok(p.heap.list(&items))
}

fn port_info_2(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(item) = a[1].as_atom() else { return Ok(atom("badtype")) };
    if !a[0].is_local_port() && !a[0].is_atom() {
        return Ok(am::BADARG.into());
    }
    let Some(port) = find(a[0]) else { return Ok(if a[0].is_atom() { am::BADARG.into() } else { am::UNDEFINED.into() }) };
    if item.name() == "registered_name" && Class::Port.lock(&port.state).name.is_none() {
        return Ok(Term::NIL);
    }
    Ok(info(p, &port, item.name()).unwrap_or_else(|| atom("badtype")))
}

fn info(p: &mut Process, port: &super::port::Port, item: &str) -> Option<Term> {
    let s = Class::Port.lock(&port.state);
    let value = match item {
        "registered_name" => s.name?.into(),
        "name" => p.heap.string(&port.label),
        "id" => Term::small(port.id as i64),
        "connected" => Term::local_pid(s.owner),
        "links" => {
            let links: Vec<Term> = s.links.iter().copied().collect();
            p.heap.list(&links)
        }
        "monitors" => Term::NIL,
        "monitored_by" => {
            let watchers: Vec<Term> = s.watchers.values().copied().collect();
            p.heap.list(&watchers)
        }
        "input" => p.heap.unsigned(s.bytes_in),
        "output" => p.heap.unsigned(s.bytes_out),
        "queue_size" => Term::small(s.queued_bytes() as i64),
        "memory" => Term::small(size_of::<super::port::Port>() as i64),
        "parallelism" | "locking" => Term::bool(false),
        "os_pid" => port.os_pid.map_or(am::UNDEFINED.into(), |n| Term::small(n as i64)),
        _ => return None,
    };
    Some(p.heap.tuple(&[atom(item), value]))
}
