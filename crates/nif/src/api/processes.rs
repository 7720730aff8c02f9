//! Pids and ports, messages, names.

use crate::env::{Env, EnvKind, IndependentEnv};
use heddle_runtime::process::host::host;
use heddle_runtime::process::identity;
use heddle_runtime::trace::{events, flags};
use heddle_runtime::{Package, names, proctab, qsbr, send};
use heddle_term::{Term, am, list};
use libc::c_int;

/// Sends a message. Returns 0 if there is no such process, or if the sender has ended.
///
/// # Safety
/// `env` is null or the environment of the calling thread, and `message` is a term of an environment of the library.
// SAFETY: functions of the interface call it with environments and a message that the library passes.
unsafe fn post(env: *mut Env, to: u64, message_env: *mut Env, message: Term) -> c_int {
    let _guard = qsbr::guard();
    // SAFETY: as below.
    if unsafe { !env.is_null() && (*env).kind == EnvKind::Dirty && (*(*(*env).process).shared).state.load().is_exiting() } {
        return 0;
    }
    let is_there = proctab::lookup(to).is_some_and(|p| !p.state.load().is_exiting());
    if !is_there {
        return 0;
    }
    // SAFETY: environments of the library; that of a process belongs to the calling thread, which runs the process.
    unsafe {
        let receiver = Term::local_pid(to);
        let kind = env.as_ref().map_or(EnvKind::Callback, |env| env.kind);
        match (kind, message_env.is_null()) {
            (EnvKind::Process, true) => {
                send::send(&mut *(*env).process, receiver, message);
                return 1;
            }
            (EnvKind::Process, false) => {
                let p = &mut *(*env).process;
                if events::on(p.shared(), flags::SEND) {
                    events::send(p, receiver, receiver, message);
                }
            }
            (EnvKind::Dirty, _) => {
                let shared = &*(*(*env).process).shared;
                if events::on(shared, flags::SEND) {
                    events::sent_on_dirty_thread(shared, receiver, message);
                }
            }
            _ => {}
        }
        let sender = match kind {
            EnvKind::Process | EnvKind::Dirty => (*(*env).process).pid_term(),
            _ => am::UNDEFINED.into(),
        };
        send::message_from(sender, to, Package::new(message)) as c_int
    }
}

/// Stores a local pid or port.
///
/// # Safety
/// `to` is writable.
// SAFETY: functions of the interface call it with the place that the library passes for the result.
unsafe fn store(term: Term, is_right: bool, to: *mut Term) -> c_int {
    if !is_right {
        return 0;
    }
    // SAFETY: `to` comes from the library, for the result.
    unsafe { *to = term };
    1
}

fn is_alive(term: Term) -> bool {
    let _guard = qsbr::guard();
    proctab::find(term).is_some_and(|p| !p.state.load().is_exiting())
}

api! { FUNCTIONS:
    fn enif_self(env: *mut Env, to: *mut Term) -> *mut Term {
        let Some(pid) = (*env).any_pid() else { return std::ptr::null_mut() };
        *to = identity::term_of(pid);
        to
    }
    fn enif_get_local_pid(_env: *mut Env, term: Term, to: *mut Term) -> c_int {
        store(term, term.is_local_pid(), to)
    }
    fn enif_get_local_port(_env: *mut Env, term: Term, to: *mut Term) -> c_int {
        store(term, term.is_local_port(), to)
    }
    fn enif_set_pid_undefined(to: *mut Term) {
        *to = am::UNDEFINED.into();
    }
    fn enif_is_pid_undefined(pid: *const Term) -> c_int {
        (*pid).is_atom_of(am::UNDEFINED) as c_int
    }
    fn enif_is_current_process_alive(env: *mut Env) -> c_int {
        (!(*(*env).process).shared().state.load().is_exiting()) as c_int
    }
    fn enif_is_process_alive(_env: *mut Env, pid: *const Term) -> c_int {
        ((*pid).is_local_pid() && is_alive(*pid)) as c_int
    }
    fn enif_is_port_alive(_env: *mut Env, port: *const Term) -> c_int {
        ((*port).is_local_port() && is_alive(*port)) as c_int
    }
    fn enif_whereis_pid(_env: *mut Env, name: Term, to: *mut Term) -> c_int {
        let found = name.as_atom().and_then(names::whereis);
        found.map_or(0, |id| store(id, id.is_local_pid(), to))
    }
    fn enif_whereis_port(_env: *mut Env, name: Term, to: *mut Term) -> c_int {
        let found = name.as_atom().and_then(names::whereis);
        found.map_or(0, |id| store(id, id.is_local_port(), to))
    }
    fn enif_send(env: *mut Env, to: *const Term, message_env: *mut Env, message: Term) -> c_int {
        let to = *to;
        let sent = if to.is_local_pid() { post(env, identity::id_of(to), message_env, message) } else { 0 };
        if sent != 0 && !message_env.is_null() && (*message_env).kind == EnvKind::Independent {
            (*message_env.cast::<IndependentEnv>()).clear();
        }
        sent
    }
    fn enif_port_command(_env: *mut Env, port: *const Term, message_env: *mut Env, data: Term) -> c_int {
        let port = *port;
        if !port.is_local_port() || !is_alive(port) {
            return 0;
        }
        let Ok(bytes) = list::iolist_to_vec(data) else { return 0 };
        let _guard = qsbr::guard();
        host().output_to_port(port, bytes);
        if !message_env.is_null() && (*message_env).kind == EnvKind::Independent {
            (*message_env.cast::<IndependentEnv>()).clear();
        }
        1
    }

    // ---- environments ----

    fn enif_alloc_env() -> *mut IndependentEnv {
        Box::into_raw(IndependentEnv::new())
    }
    fn enif_free_env(env: *mut IndependentEnv) {
        drop(Box::from_raw(env));
    }
    fn enif_clear_env(env: *mut IndependentEnv) {
        (*env).clear();
    }
}
