//! What the runtime does with ports: messages, links, monitors, exit signals.

use super::natives::connect;
use super::{find, poll};
use crate::trace::ports;
use heddle_runtime::locks::Class;
use heddle_runtime::process::Process;
use heddle_runtime::send::{PORTS, PortHooks, send_exit};
use heddle_runtime::trace::flags;
use heddle_runtime::{Package, RefId, task};
use heddle_term::{Atom, Term, am, list};

pub fn install() {
    let _ = PORTS.set(PortHooks { send, exit, link, monitor, demonitor, exists: super::exists, output });
    let _ = task::poll::HOOKS.set(task::poll::Hooks { once: poll::try_once, forget: poll::forget });
}

/// `Port ! {Owner, {command, Data}}` and the like. Anything wrong sends badsig to the sender, as in stock.
fn send(p: &mut Process, port: Term, message: Term) {
    let Some(found) = find(port) else { return };
    let bad = |p: &mut Process| send_exit(port, p.pid_term(), am::BADSIG.into(), false);
    let Some(&[owner, what]) = message.as_tuple() else { return bad(p) };
    if owner != Term::local_pid(Class::Port.lock(&found.state).owner) {
        return bad(p);
    }
    let me = p.pid_term();
    if what.is_atom_of(Atom::new("close")) {
        ports::received(port, me, |_| what);
        found.flush();
        return found.close(am::NORMAL.into(), true);
    }
    match what.as_tuple() {
        Some(&[kind, value]) => match kind.as_atom().map(|k| k.name()) {
            Some("command") => match list::iolist_to_vec(value) {
                Ok(data) => {
                    if !found.command_from(me, data) {
                        bad(p);
                    }
                }
                Err(_) => bad(p),
            },
            Some("connect") if value.is_local_pid() => {
                ports::received(port, me, |heap| heap.tuple(&[kind, value]));
                connect(&found, value);
                found.tell(owner.payload(), |_| Atom::new("connected").into());
            }
            _ => bad(p),
        },
        _ => bad(p),
    }
}

/// An exit signal, by `exit/2` or (`linked`) because a process ended. Only the normal end of a process that is not the owner
/// leaves the port alone. Who sends the signal himself is still linked, and hears of the port's end.
fn exit(port: Term, from: Term, reason: Package, linked: bool) {
    let Some(found) = find(port) else { return };
    let owner = {
        let mut s = Class::Port.lock(&found.state);
        if linked {
            s.links.remove(&from);
        }
        s.owner
    };
    if !linked || from == Term::local_pid(owner) || !reason.term().is_atom_of(am::NORMAL) {
        found.close(if reason.term().is_atom_of(am::KILL) { am::KILLED.into() } else { reason.term() }, false);
    }
}

fn link(port: Term, from: Term, on: bool) -> bool {
    let Some(found) = find(port) else { return false };
    let changed = {
        let mut s = Class::Port.lock(&found.state);
        if on { s.links.insert(from) } else { s.links.remove(&from) }
    };
    if changed {
        ports::event(port, flags::PORTS, if on { "getting_linked" } else { "getting_unlinked" }, &[from]);
    }
    true
}

fn output(port: Term, bytes: Vec<u8>) -> bool {
    find(port).is_some_and(|found| found.command(bytes))
}

fn monitor(port: Term, from: Term, reference: RefId) -> bool {
    let Some(found) = find(port) else { return false };
    Class::Port.lock(&found.state).watchers.insert(reference, from);
    true
}

fn demonitor(port: Term, reference: RefId) {
    if let Some(found) = find(port) {
        Class::Port.lock(&found.state).watchers.remove(&reference);
    }
}
