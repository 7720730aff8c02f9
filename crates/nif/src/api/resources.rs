//! Resources, their types and monitors.

use crate::env::Env;
use crate::monitor;
use crate::resource::{self, Callbacks, Destructor, Handle, Monitor, Object, ResourceType};
use heddle_runtime::process::identity;
use heddle_term::refbin::RefBin;
use heddle_term::resource::ResourcePtr;
use heddle_term::{Atom, Kind, Term};
use libc::{c_char, c_int, c_void, size_t};
use std::any::Any;
use std::cmp::Ordering;
use std::ffi::CStr;
use std::sync::Arc;

/// Members of `ErlNifResourceTypeInit` that a library of version 2.16 fills in, if it says so.
const OLD_MEMBERS: c_int = 3;

/// Opens a type of resources, for the three functions of the interface that do so.
///
/// # Safety
/// `env` is the environment of a library that is being loaded, `name` a string, and `tried` null or writable.
// SAFETY: functions of the interface call it with what the library passes.
unsafe fn open(env: *mut Env, name: *const c_char, callbacks: Callbacks, flags: c_int, tried: *mut c_int) -> *const ResourceType {
    // SAFETY: the environment of a library, and a string of it.
    let (module, name) = unsafe { ((*(*env).library).module, CStr::from_ptr(name)) };
    let name: String = name.to_bytes().iter().map(|&b| b as char).collect();
    let (ty, did) = match Atom::try_new(&name) {
        Ok(name) => resource::open_type(module, name, callbacks, flags),
        Err(_) => (None, 0),
    };
    if !tried.is_null() {
        // SAFETY: the library passes a place for the result.
        unsafe { *tried = did };
    }
    ty.unwrap_or(std::ptr::null())
}

/// The first `members` of the call-backs that a library passes.
///
/// # Safety
/// `init` has at least that many members.
// SAFETY: functions of the interface call it with the structure of the version that each of them takes.
unsafe fn callbacks(init: *const Callbacks, members: c_int) -> Callbacks {
    // SAFETY: the library passes a structure with at least that many members.
    unsafe {
        Callbacks {
            destructor: (*init).destructor,
            stop: (*init).stop,
            down: (*init).down,
            members,
            dynamic_call: if members > OLD_MEMBERS { (*init).dynamic_call } else { None },
        }
    }
}

/// What a binary of `enif_make_resource_binary` owns.
struct BytesOf(Arc<Handle>);

/// The object whose bytes a binary has.
fn object_of_binary(term: Term) -> Option<*mut Object> {
    let whole = if term.is_kind(Kind::SubBits) { term.slot(2) } else { term };
    if !whole.is_kind(Kind::BinRef) {
        return None;
    }
    // SAFETY: a BinRef owns a reference to a live block.
    let owner = unsafe { RefBin::owner(whole.word(2) as *const RefBin) }?;
    owner.downcast_ref::<BytesOf>().map(|bytes| bytes.0.object())
}

/// The object that a term refers to.
fn object_of(term: Term) -> Option<*mut Object> {
    if !term.is_kind(Kind::MagicRef) {
        return object_of_binary(term);
    }
    // SAFETY: a MagicRef's last word is a live ResourcePtr.
    let shared = unsafe { &*(term.word(3) as ResourcePtr) };
    (&**shared as &dyn Any).downcast_ref::<Handle>().map(Handle::object)
}

/// The object of a type of this module and name.
fn object_of_name(module: Atom, name: Atom, term: Term) -> Option<*mut Object> {
    let object = object_of(term)?;
    // SAFETY: the term has a reference of the object, which has one of its type.
    let ty = unsafe { &*(*object).ty() };
    (ty.module == module && ty.name == name).then_some(object)
}

api! { FUNCTIONS:
    fn enif_open_resource_type(
        env: *mut Env, module: *const c_char, name: *const c_char, destructor: Option<Destructor>, flags: c_int, tried: *mut c_int
    ) -> *const ResourceType {
        if !module.is_null() {
            return std::ptr::null();
        }
        open(env, name, Callbacks { destructor, members: OLD_MEMBERS, ..Callbacks::default() }, flags, tried)
    }
    fn enif_open_resource_type_x(
        env: *mut Env, name: *const c_char, init: *const Callbacks, flags: c_int, tried: *mut c_int
    ) -> *const ResourceType {
        open(env, name, callbacks(init, OLD_MEMBERS), flags, tried)
    }
    fn enif_init_resource_type(
        env: *mut Env, name: *const c_char, init: *const Callbacks, flags: c_int, tried: *mut c_int
    ) -> *const ResourceType {
        let members = (*init).members;
        let mut given = Callbacks { members, ..Callbacks::default() };
        given.destructor = if members > 0 { (*init).destructor } else { None };
        given.stop = if members > 1 { (*init).stop } else { None };
        given.down = if members > 2 { (*init).down } else { None };
        given.dynamic_call = if members > OLD_MEMBERS { (*init).dynamic_call } else { None };
        open(env, name, given, flags, tried)
    }
    fn enif_alloc_resource(ty: *const ResourceType, size: size_t) -> *mut c_void {
        Object::data(Object::new(ty, size))
    }
    fn enif_release_resource(data: *mut c_void) {
        Object::release(Object::of(data))
    }
    fn enif_keep_resource(data: *mut c_void) {
        (*Object::of(data)).keep()
    }
    fn enif_sizeof_resource(data: *mut c_void) -> size_t {
        (*Object::of(data)).size()
    }
    fn enif_make_resource(env: *mut Env, data: *mut c_void) -> Term {
        let (handle, words) = Object::handle(Object::of(data));
        (*(*env).heap).magic_reference(words, handle)
    }
    // The binary has the library's own bytes, and keeps the object that they belong to.
    fn enif_make_resource_binary(env: *mut Env, data: *mut c_void, bytes: *const u8, size: size_t) -> Term {
        let (handle, _) = Object::handle(Object::of(data));
        let block = RefBin::foreign(bytes, size, Box::new(BytesOf(handle)));
        (*(*env).heap).bin_ref(block, size as u64 * 8)
    }
    fn enif_get_resource(_env: *mut Env, term: Term, ty: *const ResourceType, to: *mut *mut c_void) -> c_int {
        match object_of(term).filter(|&object| (*object).ty() == ty) {
            Some(object) => {
                *to = Object::data(object);
                1
            }
            None => 0,
        }
    }
    fn enif_dynamic_resource_call(env: *mut Env, module: Term, name: Term, term: Term, call: *mut c_void) -> c_int {
        let (Some(module), Some(name)) = (module.as_atom(), name.as_atom()) else { return 1 };
        let Some(object) = object_of_name(module, name, term) else { return 1 };
        let ty = &*(*object).ty();
        let Some(function) = ty.callbacks().dynamic_call else { return 1 };
        let owner = ty.owner();
        let before = (*env).library;
        (*env).library = owner.as_ref().map_or(std::ptr::null(), Arc::as_ptr);
        function(env, Object::data(object), call);
        (*env).library = before;
        0
    }

    // ---- monitors ----

    fn enif_monitor_process(_env: *mut Env, data: *mut c_void, pid: *const Term, to: *mut Monitor) -> c_int {
        let object = Object::of(data);
        if (*(*object).ty()).callbacks().down.is_none() {
            return -1;
        }
        if !(*pid).is_local_pid() {
            return 1;
        }
        match monitor::start(object, identity::id_of(*pid)) {
            Some(monitor) => {
                if !to.is_null() {
                    *to = monitor;
                }
                0
            }
            None => 1,
        }
    }
    fn enif_demonitor_process(_env: *mut Env, data: *mut c_void, monitor: *const Monitor) -> c_int {
        !monitor::stop(Object::of(data), &*monitor) as c_int
    }
    fn enif_compare_monitors(a: *const Monitor, b: *const Monitor) -> c_int {
        match (*a).reference.words().cmp(&(*b).reference.words()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }
    fn enif_make_monitor_term(env: *mut Env, monitor: *const Monitor) -> Term {
        (*(*env).heap).reference((*monitor).reference.words())
    }

    fn enif_priv_data(env: *mut Env) -> *mut c_void {
        // Acquire: pairs with the Release where `load` or `upgrade` set it.
        (*(*env).library).private.load(std::sync::atomic::Ordering::Acquire)
    }
}
