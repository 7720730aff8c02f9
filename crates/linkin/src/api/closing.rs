//! Ports that their driver closes, and names of errors.

use crate::instance::{self, PortHandle};
use heddle_io::errno;
use heddle_io::ports::driver::After;
use heddle_term::{Atom, Term, am};
use libc::{c_char, c_int};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Mutex;

/// The names of errors that libraries have asked for. They are never freed.
static NAMES: Mutex<Option<HashMap<c_int, &'static CStr>>> = Mutex::new(None);

fn name(error: c_int) -> &'static CStr {
    let mut names = NAMES.lock().unwrap();
    names.get_or_insert_default().entry(error).or_insert_with(|| {
        let name = CString::new(errno::name(error)).expect("a name without zero bytes");
        Box::leak(name.into_boxed_c_str())
    })
}

fn fail(port: PortHandle, reason: Term) -> c_int {
    let Some(instance) = instance::of(port) else { return -1 };
    instance.fail(reason);
    0
}

/// The end of what the port reads. With the option `eof` the owner is told of it, and the port stays.
fn end(port: PortHandle) -> c_int {
    let Some(instance) = instance::of(port) else { return -1 };
    crate::output::end_of_lines(&instance);
    if instance.port.eof && instance.refuses().is_none() {
        instance.port.tell_owner(|_| Atom::new("eof").into());
    } else {
        instance.fail(am::NORMAL.into());
    }
    0
}

api! { FUNCTIONS:
    fn driver_failure_eof(port: PortHandle) -> c_int {
        end(port)
    }
    fn driver_failure_atom(port: PortHandle, reason: *const c_char) -> c_int {
        fail(port, Atom::new(&crate::text::latin1(reason)).into())
    }
    fn driver_failure_posix(port: PortHandle, error: c_int) -> c_int {
        fail(port, Atom::new(errno::name(error)).into())
    }
    fn driver_failure(port: PortHandle, error: c_int) -> c_int {
        if error == 0 { end(port) } else { fail(port, Term::small(error as i64)) }
    }
    fn driver_exit(port: PortHandle, error: c_int) -> c_int {
        let Some(instance) = instance::of(port) else { return -1 };
        let owner = Term::local_pid(instance.port.owner());
        instance.act(move |context| {
            context.unlink_from(owner);
            After::Continue
        });
        instance.fail(if error == 0 { am::NORMAL.into() } else { Atom::new(errno::name(error)).into() });
        0
    }
    fn erl_errno_id(error: c_int) -> *const c_char {
        name(error).as_ptr()
    }
}
