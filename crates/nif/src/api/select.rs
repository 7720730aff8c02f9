//! Descriptors: `enif_select`.

use crate::env::{Env, EnvKind, IndependentEnv};
use crate::resource::Object;
use crate::select::{self, Notice, Refused};
use heddle_runtime::Package;
use heddle_runtime::process::host::Interest;
use heddle_runtime::process::identity;
use heddle_term::{Atom, Term, am};
use libc::{c_int, c_void};

/// `enum ErlNifSelectFlags`.
const READ: c_int = 1;
const WRITE: c_int = 2;
const STOP: c_int = 4;
const CANCEL: c_int = 8;
const CUSTOM_MESSAGE: c_int = 16;
const ERROR: c_int = 32;

/// `ERL_NIF_SELECT_*` of results.
const STOP_CALLED: c_int = 1;
const INVALID_EVENT: c_int = 4;
const FAILED: c_int = 8;
const READ_CANCELLED: c_int = 16;
const WRITE_CANCELLED: c_int = 32;
const ERROR_CANCELLED: c_int = 64;

const ALL: [(c_int, Interest, &str, c_int); 3] = [
    (READ, Interest::Read, "ready_input", READ_CANCELLED),
    (WRITE, Interest::Write, "ready_output", WRITE_CANCELLED),
    (ERROR, Interest::Error, "ready_error", ERROR_CANCELLED),
];

fn cancelled(interests: &[Interest]) -> c_int {
    ALL.iter().filter(|(_, interest, ..)| interests.contains(interest)).map(|(.., bit)| bit).sum()
}

/// `{select, Object, Reference, Ready}`, or the message of the library.
///
/// # Safety
/// `object` is a live object of the library, and `term` a reference or message of it.
// SAFETY: `select` calls it with what the library passes.
unsafe fn message(flags: c_int, object: *mut Object, term: Term, ready: &str) -> Package {
    if flags & CUSTOM_MESSAGE != 0 {
        return Package::new(term);
    }
    Package::build(|heap| {
        // SAFETY: the library's object.
        let (handle, words) = unsafe { Object::handle(object) };
        let object = heap.magic_reference(words, handle);
        let reference = heap.copy(term);
        heap.tuple(&[Atom::new("select").into(), object, reference, Atom::new(ready).into()])
    })
}

/// What the functions of `enif_select` do. `flags` and the result are those of the interface.
///
/// # Safety
/// `env` is the environment of the calling thread, `data` an object of the library, and `pid` null or a pid.
// SAFETY: functions of the interface call it with what the library passes.
unsafe fn select(env: *mut Env, fd: c_int, flags: c_int, data: *mut c_void, pid: *const Term, term: Term) -> c_int {
    let object = Object::of(data);
    let wanted: Vec<_> = ALL.iter().filter(|(flag, ..)| flags & flag != 0).collect();
    // SAFETY: the library's object and environment, and a pid or null.
    unsafe {
        if flags & STOP != 0 {
            return STOP_CALLED | cancelled(&select::stop(fd, object));
        }
        if flags & CANCEL != 0 {
            let interests: Vec<Interest> = wanted.iter().map(|(_, interest, ..)| *interest).collect();
            return cancelled(&select::cancel(fd, &interests));
        }
        let pid = if pid.is_null() { (*env).pid() } else { identity::id_of(*pid) };
        for (_, interest, ready, _) in wanted {
            let notice = Notice { pid, message: message(flags, object, term, ready) };
            match select::add(fd, object, *interest, notice) {
                Ok(()) => {}
                Err(Refused::Invalid) => return c_int::MIN | INVALID_EVENT,
                Err(Refused::Failed) => return c_int::MIN | FAILED,
            }
        }
    }
    0
}

api! { FUNCTIONS:
    fn enif_select(env: *mut Env, fd: c_int, flags: c_int, data: *mut c_void, pid: *const Term, reference: Term) -> c_int {
        select(env, fd, flags & !CUSTOM_MESSAGE, data, pid, reference)
    }
    fn enif_select_x(
        env: *mut Env, fd: c_int, flags: c_int, data: *mut c_void, pid: *const Term, term: Term, message_env: *mut Env
    ) -> c_int {
        let term = if flags & CUSTOM_MESSAGE == 0 && term.is_none() { am::UNDEFINED.into() } else { term };
        let result = select(env, fd, flags, data, pid, term);
        if result >= 0 && !message_env.is_null() && (*message_env).kind == EnvKind::Independent {
            (*message_env.cast::<IndependentEnv>()).clear();
        }
        result
    }
}
