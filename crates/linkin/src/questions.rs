//! The natives of `erl_ddll` that ask about drivers, and wait for them.

use crate::errors;
use crate::instance;
use crate::library::{self, Status, Use};
use crate::options::{BUILT_IN, is_built_in, name};
use crate::port;
use heddle_runtime::process::{FLAG_DRIVERS, NativeResult, Process};
use heddle_runtime::{RefId, refs};
use heddle_term::{Atom, Term};

heddle_runtime::natives! { TABLE:
    "erl_ddll" => {
        "loaded_drivers"/0 => loaded_drivers,
        "info"/2 => info,
        "format_error_int"/1 => format_error,
        "monitor"/2 => monitor,
        "demonitor"/1 => demonitor,
    }
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

fn loaded_drivers(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut names: Vec<Vec<u8>> = library::all().iter().map(|driver| driver.name.clone()).collect();
    // The oldest first, after those of the VM in the order of stock.
    names.extend(BUILT_IN.iter().rev().map(|name| name.as_bytes().to_vec()));
    let names: Vec<Term> = names.iter().rev().map(|name| p.heap.byte_list(name)).collect();
    let names = p.heap.list(&names);
    Ok(p.heap.tuple(&[heddle_term::am::OK.into(), names]))
}

/// Has the ports of a driver handle what they were sent. So a port whose process has ended before is not counted.
fn hear_ends(name: &[u8]) {
    let library = library::find(&mut library::all(), name).map(|driver| driver.library.clone());
    for instance in library.iter().flat_map(instance::of_library) {
        port::hear(instance.port.identity());
    }
}

fn info(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(name), Some(item)) = (name(a[0]), a[1].as_atom()) else { return Err(p.badarg()) };
    let item = item.name();
    let awaits: fn(Use) -> bool = match item {
        "processes" => |what| matches!(what, Use::Loaded { .. }),
        "awaiting_load" => |what| matches!(what, Use::AwaitsLoad(_)),
        "awaiting_unload" => |what| matches!(what, Use::AwaitsUnload(_) | Use::AwaitsUnloadOnly(_)),
        "driver_options" | "port_count" | "linked_in_driver" | "permanent" => |_| false,
        _ => return Err(p.badarg()),
    };
    if item == "port_count" {
        hear_ends(&name);
    }
    let mut drivers = library::all();
    let found = library::find(&mut drivers, &name);
    if is_built_in(&name) || found.as_ref().is_some_and(|driver| driver.status == Status::Part) {
        return Ok(match item {
            "linked_in_driver" => Term::bool(true),
            "permanent" => Term::bool(false),
            _ => atom("linked_in_driver"),
        });
    }
    let Some(driver) = found else { return Err(p.badarg()) };
    let is_permanent = driver.status == Status::Permanent;
    Ok(match item {
        "driver_options" if driver.kills_ports => p.heap.list(&[atom("kill_ports")]),
        "driver_options" => Term::NIL,
        "linked_in_driver" => Term::bool(false),
        "permanent" => Term::bool(is_permanent),
        _ if is_permanent => atom("permanent"),
        "port_count" => Term::small(driver.library.ports() as i64),
        _ => {
            let mut counts: Vec<(u64, i64)> = Vec::new();
            for user in driver.users.iter().filter(|user| awaits(user.what)) {
                match counts.iter_mut().find(|(pid, _)| *pid == user.pid) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((user.pid, 1)),
                }
            }
            let rows: Vec<Term> =
                counts.iter().rev().map(|&(pid, count)| p.heap.tuple(&[Term::local_pid(pid), Term::small(count)])).collect();
            p.heap.list(&rows)
        }
    })
}

fn format_error(p: &mut Process, a: &[Term]) -> NativeResult {
    match errors::text(a[0]) {
        Some(text) => Ok(p.heap.byte_list(text.as_bytes())),
        None => Err(p.badarg()),
    }
}

/// `monitor(driver, {Name, loaded | unloaded | unloaded_only})`.
fn monitor(p: &mut Process, a: &[Term]) -> NativeResult {
    if !a[0].is_atom_of(Atom::new("driver")) {
        return Err(p.badarg());
    }
    let Some(&[wanted, what]) = a[1].as_tuple() else { return Err(p.badarg()) };
    let (Some(name), Some(what)) = (name(wanted), what.as_atom()) else { return Err(p.badarg()) };
    let reference = refs::fresh();
    let kind = match what.name() {
        "loaded" => Use::AwaitsLoad(reference),
        "unloaded" => Use::AwaitsUnload(reference),
        "unloaded_only" => Use::AwaitsUnloadOnly(reference),
        _ => return Err(p.badarg()),
    };
    let pid = p.pid();
    let mut drivers = library::all();
    let at_once = match library::find(&mut drivers, &name) {
        None if is_built_in(&name) => Some(("UP", "permanent")),
        None => Some(("DOWN", "unloaded")),
        Some(driver) => match (driver.status, kind) {
            (Status::Permanent | Status::Part, _) => Some(("UP", "permanent")),
            (Status::Loaded, Use::AwaitsLoad(_)) => Some(("UP", "loaded")),
            (Status::Unloads { .. }, Use::AwaitsLoad(_)) => Some(("DOWN", "load_cancelled")),
            _ => {
                driver.add(pid, kind);
                None
            }
        },
    };
    drop(drivers);
    p.flags |= FLAG_DRIVERS;
    if let Some((kind, why)) = at_once {
        library::notify(pid, reference, wanted, kind, |_| atom(why));
    }
    Ok(p.heap.reference(reference.words()))
}

fn demonitor(p: &mut Process, a: &[Term]) -> NativeResult {
    let Some(reference) = RefId::of(a[0]) else { return Err(p.badarg()) };
    let pid = p.pid();
    let is_it =
        |what| [library::awaits_load(what), library::awaits_unload(what), library::awaits_unload_only(what)].contains(&Some(reference));
    for driver in library::all().iter_mut() {
        driver.users.retain(|user| user.pid != pid || !is_it(user.what));
    }
    Ok(Term::bool(true))
}
