//! What the runtime does with ports: messages, links, monitors, exit signals.

use super::find;
use super::natives::connect;
use heddle_runtime::process::Process;
use heddle_runtime::send::{PORTS, PortHooks, send_exit};
use heddle_runtime::{Package, RefId};
use heddle_term::{Atom, Term, am, list};

pub fn install() {
    let _ = PORTS.set(PortHooks { send, exit, link, monitor, demonitor });
}

/// `Port ! {Owner, {command, Data}}` and the like. Anything wrong sends badsig to the sender, as in stock.
fn send(p: &mut Process, port: Term, message: Term) {
    let Some(found) = find(port) else { return };
    let bad = |p: &mut Process| send_exit(port, p.pid_term(), am::BADSIG.into(), false);
    let Some(&[owner, what]) = message.as_tuple() else { return bad(p) };
    if owner != Term::local_pid(found.state.lock().unwrap().owner) {
        return bad(p);
    }
    if what.is_atom_of(Atom::new("close")) {
        found.flush();
        return found.close(am::NORMAL.into(), true);
    }
    match what.as_tuple() {
        Some(&[kind, value]) => match kind.as_atom().map(|k| k.name()) {
            Some("command") => match list::iolist_to_vec(value) {
                Ok(data) => {
                    if !found.command(data) {
                        bad(p);
                    }
                }
                Err(_) => bad(p),
            },
            Some("connect") if value.is_local_pid() => {
                connect(&found, value);
                let reply = p.heap.tuple(&[port, Atom::new("connected").into()]);
                heddle_runtime::send::send(p, owner, reply);
            }
            _ => bad(p),
        },
        _ => bad(p),
    }
}

fn exit(port: Term, from: Term, reason: Package) {
    let Some(found) = find(port) else { return };
    let (owner, linked) = {
        let mut s = found.state.lock().unwrap();
        let linked = s.links.remove(&from);
        (s.owner, linked)
    };
    // An owner's end ends the port; so does any other reason than normal.
    if from == Term::local_pid(owner) || !reason.term().is_atom_of(am::NORMAL) {
        let _ = linked;
        found.close(if reason.term().is_atom_of(am::KILL) { am::KILLED.into() } else { reason.term() }, false);
    }
}

fn link(port: Term, from: Term, on: bool) -> bool {
    let Some(found) = find(port) else { return false };
    let mut s = found.state.lock().unwrap();
    if on {
        s.links.insert(from);
    } else {
        s.links.remove(&from);
    }
    true
}

fn monitor(port: Term, from: Term, reference: RefId) -> bool {
    let Some(found) = find(port) else { return false };
    found.state.lock().unwrap().watchers.insert(reference, from);
    true
}

fn demonitor(port: Term, reference: RefId) {
    if let Some(found) = find(port) {
        found.state.lock().unwrap().watchers.remove(&reference);
    }
}
