//! The natives of `erl_ddll`.

use crate::errors;
use crate::instance;
use crate::library::{self, Driver, Library, Status, Use};
use crate::options::{LoadOptions, Wait, load_options, name};
use crate::port;
use heddle_runtime::process::{FLAG_DRIVERS, NativeResult, Process};
use heddle_runtime::{RefId, refs};
use heddle_term::{Atom, Term, am, list};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erl_ddll" => {
        "try_load"/3 => try_load,
        "try_unload"/2 => try_unload,
        "loaded_drivers"/0 => loaded_drivers,
        "info"/2 => info,
        "format_error_int"/1 => format_error,
        "monitor"/2 => monitor,
        "demonitor"/1 => demonitor,
    }
}

/// Drivers of the VM, as stock lists its own: these cannot be loaded or unloaded.
const BUILT_IN: [&str; 3] = ["tcp_inet", "udp_inet", "ram_file_drv"];
/// The drivers of `dbg` are of the VM too, but in stock they are libraries, which OTP loads.
const OF_DBG: [&[u8]; 2] = [b"trace_file_drv", b"trace_ip_drv"];

fn is_built_in(name: &[u8]) -> bool {
    BUILT_IN.iter().any(|known| known.as_bytes() == name)
}

fn atom(name: &str) -> Term {
    Atom::new(name).into()
}

/// What a call did: the word for the caller, and if the caller waits for the rest.
type Done = (&'static str, bool);

/// `{ok, Word}` or, for one that waits, `{ok, Word, Reference}`.
fn result(p: &mut Process, word: &str, reference: Option<RefId>) -> NativeResult {
    p.flags |= FLAG_DRIVERS;
    Ok(match reference {
        Some(reference) => {
            let reference = p.heap.reference(reference.words());
            p.heap.tuple(&[am::OK.into(), atom(word), reference])
        }
        None => p.heap.tuple(&[am::OK.into(), atom(word)]),
    })
}

fn refused(p: &mut Process, reason: Term) -> NativeResult {
    Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
}

/// A driver that exists is asked for once more.
fn load_again(driver: &mut Driver, pid: u64, path: &[u8], o: &LoadOptions) -> Result<Done, &'static str> {
    let is_same = driver.path == path && driver.kills_ports == o.kills_ports;
    match driver.status {
        Status::Permanent => Err("permanent"),
        Status::Part => Err("linked_in_driver"),
        Status::Loaded if o.reload == Wait::No => {
            if !is_same {
                return Err("inconsistent");
            }
            driver.add(pid, Use::Loaded { counts: true });
            Ok(("already_loaded", false))
        }
        Status::Loaded => {
            let is_last = driver.loads() == 1 && driver.users.iter().any(|user| user.pid == pid && matches!(user.what, Use::Loaded { .. }));
            if o.reload == Wait::Driver && !is_last {
                return Err("pending_process");
            }
            if driver.kills_ports != o.kills_ports {
                return Err("inconsistent");
            }
            if !driver.remove_load(pid) {
                return Err("not_loaded_by_this_process");
            }
            for user in &mut driver.users {
                if matches!(user.what, Use::Loaded { .. }) {
                    user.what = Use::Loaded { counts: false };
                }
            }
            driver.add(pid, Use::Loaded { counts: false });
            driver.status = Status::Reloads { forced: false };
            driver.next = Some((path.to_vec(), o.kills_ports));
            Ok((if o.reload == Wait::Driver { "pending_driver" } else { "pending_process" }, o.wait != Wait::No))
        }
        Status::Unloads { .. } => {
            if o.reload != Wait::No {
                return Err("not_loaded_by_this_process");
            }
            if !is_same {
                return Err("inconsistent");
            }
            driver.status = Status::Loaded;
            driver.notify(library::awaits_unload, "UP", |_| atom("unload_cancelled"));
            driver.add(pid, Use::Loaded { counts: true });
            Ok(("already_loaded", false))
        }
        Status::Reloads { .. } => {
            if o.reload != Wait::No {
                return Err("pending_reload");
            }
            if driver.next.as_ref().is_none_or(|(next, kills_ports)| next != path || *kills_ports != o.kills_ports) {
                return Err("inconsistent");
            }
            driver.add(pid, Use::Loaded { counts: false });
            // As in stock it is told whether it wants to be or not.
            Ok(("pending_driver", true))
        }
    }
}

fn try_load(p: &mut Process, a: &[Term]) -> NativeResult {
    let (Some(o), Some(name)) = (load_options(a[2]), name(a[1])) else { return Err(p.badarg()) };
    let Some(mut path) = heddle_io::files::names::to_native(a[0]) else { return Err(p.badarg()) };
    while path.len() > 1 && path.last() == Some(&b'/') {
        path.pop();
    }
    path.push(b'/');
    path.extend_from_slice(&name);
    if OF_DBG.contains(&name.as_slice()) {
        return result(p, "already_loaded", None);
    }
    if is_built_in(&name) {
        return refused(p, atom("linked_in_driver"));
    }
    let pid = p.pid();
    let mut drivers = library::all();
    let Some(driver) = library::find(&mut drivers, &name) else {
        if o.reload != Wait::No {
            return refused(p, atom("not_loaded"));
        }
        return match Driver::load(path, name, o.kills_ports) {
            Ok(mut driver) => {
                driver.add(pid, Use::Loaded { counts: true });
                drivers.insert(0, driver);
                result(p, "loaded", None)
            }
            Err(error) => {
                let error = error.term(&mut p.heap);
                refused(p, error)
            }
        };
    };
    let (word, waits) = match load_again(driver, pid, &path, &o) {
        Ok(done) => done,
        Err(reason) => return refused(p, atom(reason)),
    };
    let reference = waits.then(refs::fresh);
    if let Some(reference) = reference {
        driver.add(pid, Use::AwaitsLoad(reference));
    }
    let is_reload = matches!(driver.status, Status::Reloads { .. }) && o.reload != Wait::No;
    let kills = is_reload && driver.kills_ports;
    if kills {
        driver.set_forced();
    }
    let library = driver.library.clone();
    library.hold();
    drop(drivers);
    settle(&library, kills);
    result(p, word, reference)
}

/// After a change of what needs the library: lets go of the hold.
fn settle(library: &Arc<Library>, kills_ports: bool) {
    if kills_ports {
        library::kill_ports(library);
    }
    library.release();
}

fn try_unload(p: &mut Process, a: &[Term]) -> NativeResult {
    let (mut kills, mut wait) = (false, Wait::No);
    let Some(options) = list::to_vec(a[1]) else { return Err(p.badarg()) };
    for option in options {
        match option.as_tuple() {
            None if option.is_atom_of(Atom::new("kill_ports")) => kills = true,
            Some(&[key, value]) if key.is_atom_of(Atom::new("monitor")) => match Wait::of(value) {
                Some(wanted) => wait = wanted,
                None => return Err(p.badarg()),
            },
            _ => return Err(p.badarg()),
        }
    }
    let Some(name) = name(a[0]) else { return Err(p.badarg()) };
    if is_built_in(&name) {
        return refused(p, atom("linked_in_driver"));
    }
    let pid = p.pid();
    let mut drivers = library::all();
    let Some(driver) = library::find(&mut drivers, &name) else { return refused(p, atom("not_loaded")) };
    match driver.status {
        Status::Permanent => return refused(p, atom("permanent")),
        Status::Part => return refused(p, atom("linked_in_driver")),
        _ => {}
    }
    kills |= driver.kills_ports;
    if !driver.remove_load(pid) && driver.loads() > 0 {
        return refused(p, atom("not_loaded_by_this_process"));
    }
    let is_last = driver.loads() == 0;
    let word = if is_last {
        driver.cancel_reload();
        driver.status = Status::Unloads { forced: false };
        "pending_driver"
    } else {
        "pending_process"
    };
    let kills = is_last && kills && driver.library.ports() > 0;
    if kills {
        driver.set_forced();
    }
    let waits = wait == Wait::Any || wait == Wait::Driver && is_last;
    let reference = waits.then(refs::fresh);
    if let Some(reference) = reference {
        driver.add(pid, Use::AwaitsUnload(reference));
    }
    let library = driver.library.clone();
    library.hold();
    drop(drivers);
    settle(&library, kills);
    result(p, word, reference)
}

fn loaded_drivers(p: &mut Process, _: &[Term]) -> NativeResult {
    let mut names: Vec<Vec<u8>> = library::all().iter().map(|driver| driver.name.clone()).collect();
    // The oldest first, after those of the VM in the order of stock.
    names.extend(BUILT_IN.iter().rev().map(|name| name.as_bytes().to_vec()));
    let names: Vec<Term> = names.iter().rev().map(|name| p.heap.byte_list(name)).collect();
    let names = p.heap.list(&names);
    Ok(p.heap.tuple(&[am::OK.into(), names]))
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
