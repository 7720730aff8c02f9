//! The natives of `erl_ddll` that load and unload drivers.

use crate::library::{self, Driver, Library, Status, Use};
use crate::options::{LoadOptions, Wait, is_built_in, load_options, name};
use heddle_runtime::process::{FLAG_DRIVERS, NativeResult, Process};
use heddle_runtime::{RefId, refs};
use heddle_term::{Atom, Term, am, list};
use std::sync::Arc;

heddle_runtime::natives! { TABLE:
    "erl_ddll" => {
        "try_load"/3 => try_load,
        "try_unload"/2 => try_unload,
    }
}

/// The drivers of `dbg` are of the VM too, but in stock they are libraries, which OTP loads.
const OF_DBG: [&[u8]; 2] = [b"trace_file_drv", b"trace_ip_drv"];

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
