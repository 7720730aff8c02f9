//! Threads of libraries, and data that belongs to one thread.

use crate::threads::mutex::check;
use crate::threads::name;
use heddle_runtime::qsbr;
use libc::{c_char, c_int, c_void, pthread_t};
use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::Mutex;

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// A thread that a library made, or a thread of the VM that asked for its own identity. Those of the VM are never freed.
pub struct Thread {
    id: Cell<pthread_t>,
    name: Option<CString>,
    start: Option<Start>,
    argument: *mut c_void,
}

/// `ErlDrvThreadOpts`.
#[repr(C)]
struct Options {
    /// In units of 1024 words; negative: the default.
    stack_size: c_int,
}

/// Bytes of a unit of `suggested_stack_size`.
const STACK_UNIT_BYTES: usize = 1024 * 8;

thread_local! {
    static MYSELF: Cell<*mut Thread> = const { Cell::new(null_mut()) };
    /// By key.
    static DATA: RefCell<Vec<*mut c_void>> = const { RefCell::new(Vec::new()) };
}

/// The names of keys. None: the key is free.
static KEYS: Mutex<Vec<Option<Option<CString>>>> = Mutex::new(Vec::new());

// SAFETY: `variadic.c` defines it with these types.
unsafe extern "C" {
    /// Runs a thread (`variadic.c`).
    fn heddle_nif_thread(thread: *mut c_void) -> *mut c_void;
}

fn entry() -> extern "C" fn(*mut c_void) -> *mut c_void {
    // SAFETY: the C function has this type; `pthread_create` passes it what it expects.
    unsafe { std::mem::transmute(heddle_nif_thread as unsafe extern "C" fn(*mut c_void) -> *mut c_void) }
}

fn myself() -> *mut Thread {
    if MYSELF.get().is_null() {
        // SAFETY: has no preconditions.
        let id = Cell::new(unsafe { libc::pthread_self() });
        MYSELF.set(Box::into_raw(Box::new(Thread { id, name: None, start: None, argument: null_mut() })));
    }
    MYSELF.get()
}

api! { FUNCTIONS:
    fn enif_thread_opts_create(_name: *const c_char) -> *mut Options {
        Box::into_raw(Box::new(Options { stack_size: -1 }))
    }
    fn enif_thread_opts_destroy(options: *mut Options) {
        drop(Box::from_raw(options));
    }
    fn enif_thread_create(
        name: *const c_char, to: *mut *mut Thread, start: Option<Start>, argument: *mut c_void, options: *const Options
    ) -> c_int {
        let thread = Box::into_raw(Box::new(Thread { id: Cell::new(0), name: name::copy(name), start, argument }));
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        if let Some(units) = options.as_ref().and_then(|o| usize::try_from(o.stack_size).ok()) {
            let bytes = units.saturating_mul(STACK_UNIT_BYTES).max(libc::PTHREAD_STACK_MIN).next_multiple_of(4096);
            libc::pthread_attr_setstacksize(&mut attributes, bytes);
        }
        let mut id = 0;
        let status = libc::pthread_create(&mut id, &attributes, entry(), thread.cast());
        libc::pthread_attr_destroy(&mut attributes);
        if status != 0 {
            drop(Box::from_raw(thread));
            return status;
        }
        (*thread).id.set(id);
        *to = thread;
        0
    }
    fn enif_thread_self() -> *mut Thread {
        myself()
    }
    fn enif_equal_tids(a: *mut Thread, b: *mut Thread) -> c_int {
        (a == b) as c_int
    }
    // For `heddle_nif_thread`: the thread begins.
    fn heddle_nif_thread_begins(thread: *mut Thread, start: *mut Option<Start>, argument: *mut *mut c_void) {
        MYSELF.set(thread);
        (*start, *argument) = ((*thread).start, (*thread).argument);
    }
    fn enif_thread_join(thread: *mut Thread, result: *mut *mut c_void) -> c_int {
        let status = qsbr::while_others_go(|| libc::pthread_join((*thread).id.get(), result));
        if status == 0 {
            drop(Box::from_raw(thread));
        }
        status
    }
    fn enif_thread_name(thread: *mut Thread) -> *mut c_char {
        if thread.is_null() { null_mut() } else { name::pointer(&(*thread).name) }
    }

    // ---- data of threads ----

    fn enif_tsd_key_create(name: *const c_char, to: *mut c_int) -> c_int {
        let mut keys = KEYS.lock().unwrap();
        let free = keys.iter().position(Option::is_none);
        let key = free.unwrap_or(keys.len());
        if free.is_none() {
            keys.push(None);
        }
        keys[key] = Some(name::copy(name));
        *to = key as c_int;
        0
    }
    fn enif_tsd_key_destroy(key: c_int) {
        let mut keys = KEYS.lock().unwrap();
        match keys.get_mut(key as usize) {
            Some(place @ Some(_)) => *place = None,
            _ => check("enif_tsd_key_destroy", libc::EINVAL),
        }
    }
    fn enif_tsd_set(key: c_int, data: *mut c_void) {
        DATA.with_borrow_mut(|all| {
            if all.len() <= key as usize {
                all.resize(key as usize + 1, null_mut());
            }
            all[key as usize] = data;
        });
    }
    fn enif_tsd_get(key: c_int) -> *mut c_void {
        DATA.with_borrow(|all| all.get(key as usize).copied().unwrap_or(null_mut()))
    }
}
