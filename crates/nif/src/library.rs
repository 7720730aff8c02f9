//! A loaded library: its entry structure, its functions, and how long it stays loaded.

use crate::call;
use crate::env::{Env, Left};
use heddle_runtime::code::foreign::{self, ForeignLibrary};
use heddle_runtime::code::nifs::{NifFunction, NifLibrary};
use heddle_term::text::display;
use heddle_term::{Atom, Heap, Term};
use libc::{c_char, c_int, c_uint, c_void, size_t};
use std::any::Any;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// `ErlNifFunc` of version 2.7 and later.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FunctionEntry {
    pub name: *const c_char,
    pub arity: c_uint,
    pub pointer: *const c_void,
    pub flags: c_uint,
}

/// `ErlNifFunc` of earlier versions.
#[repr(C)]
pub struct OldFunctionEntry {
    pub name: *const c_char,
    pub arity: c_uint,
    pub pointer: *const c_void,
}

pub type Load = unsafe extern "C" fn(*mut Env, *mut *mut c_void, Term) -> c_int;
pub type Upgrade = unsafe extern "C" fn(*mut Env, *mut *mut c_void, *mut *mut c_void, Term) -> c_int;
pub type Unload = unsafe extern "C" fn(*mut Env, *mut c_void);

/// `ErlNifEntry`. Fields from `vm_variant` on are there in libraries of the versions that the comments name.
#[repr(C)]
pub struct Entry {
    pub major: c_int,
    pub minor: c_int,
    pub name: *const c_char,
    pub count: c_int,
    pub functions: *const FunctionEntry,
    pub load: Option<Load>,
    pub reload: *const c_void,
    pub upgrade: Option<Upgrade>,
    pub unload: Option<Unload>,
    /// 2.1
    pub vm_variant: *const c_char,
    /// 2.7
    pub options: c_uint,
    /// 2.12
    pub resource_init_size: size_t,
    /// 2.14
    pub min_erts: *const c_char,
}

impl Entry {
    pub fn is_at_least(&self, major: c_int, minor: c_int) -> bool {
        (self.major, self.minor) >= (major, minor)
    }

    /// Its functions, in the present form.
    pub fn functions(&self) -> Vec<FunctionEntry> {
        let count = self.count.max(0) as usize;
        if count == 0 {
            return Vec::new();
        }
        // SAFETY: the library says that there are as many, in the form of its version.
        unsafe {
            if self.is_at_least(2, 7) {
                return std::slice::from_raw_parts(self.functions, count).to_vec();
            }
            let old = std::slice::from_raw_parts(self.functions.cast::<OldFunctionEntry>(), count);
            old.iter().map(|f| FunctionEntry { name: f.name, arity: f.arity, pointer: f.pointer, flags: 0 }).collect()
        }
    }
}

pub struct Library {
    pub module: Atom,
    pub functions: Vec<NifFunction>,
    pub unload: Option<Unload>,
    /// An address in the library's file.
    inside: usize,
    /// The size of the library's `ErlNifResourceTypeInit`.
    pub handle: *mut c_void,
    /// What the library keeps for itself. `load` and `upgrade` write it; `bind_nifs` publishes it with the functions.
    pub private: AtomicPtr<c_void>,
    /// What keeps the library loaded: the code that calls it, types of resources with call-backs, and dirty NIFs that run.
    /// AcqRel where it sinks: the last user sees what the others did.
    users: AtomicUsize,
    /// Types of resources that the library owns.
    pub types: Mutex<Vec<*const crate::resource::ResourceType>>,
    /// Release where it is set, Acquire where the VM halts.
    pub on_halt: AtomicPtr<c_void>,
    /// The functions in a form for which the VM waits when it halts. Filled if `load` or `upgrade` wants that.
    delaying: OnceLock<Vec<NifFunction>>,
    /// False once `load` or `upgrade` has returned.
    loading: AtomicBool,
}

// SAFETY: the entry is constant, `private` belongs to the library, and the rest is atomic or under a mutex.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// `entry`: what the open library `handle` says of itself.
    pub fn new(module: Atom, entry: &Entry, handle: *mut c_void) -> Library {
        Library {
            module,
            functions: Vec::new(),
            unload: entry.unload,
            inside: entry as *const Entry as usize,
            handle,
            private: AtomicPtr::new(null_mut()),
            users: AtomicUsize::new(1),
            types: Mutex::default(),
            on_halt: AtomicPtr::new(null_mut()),
            delaying: OnceLock::new(),
            loading: AtomicBool::new(true),
        }
    }

    /// Tells crash reports of the library, until `is_gone`.
    pub fn is_there(&self, entry: &Entry) {
        let name = |f: &NifFunction| (f.pointer, format!("{}:{}/{}", display::atom(self.module), display::atom(f.name), f.arity));
        let callbacks = [
            (entry.load.map_or(0, |f| f as usize), "load"),
            (entry.upgrade.map_or(0, |f| f as usize), "upgrade"),
            (entry.unload.map_or(0, |f| f as usize), "unload"),
        ];
        let callbacks = callbacks.into_iter().filter(|(address, _)| *address != 0).map(|(address, name)| (address, name.to_string()));
        foreign::loaded(
            self.inside,
            ForeignLibrary { role: self.role(), functions: self.functions.iter().map(name).chain(callbacks).collect() },
        );
    }
    pub fn is_gone(&self) {
        foreign::unloaded(self.inside, &self.role());
    }
    fn role(&self) -> String {
        format!("the NIF library of module {}", display::atom(self.module))
    }

    /// True while `load` or `upgrade` runs.
    pub fn is_loading(&self) -> bool {
        // Relaxed: only that call itself asks.
        self.loading.load(Ordering::Relaxed)
    }
    pub fn is_loaded(&self) {
        self.loading.store(false, Ordering::Relaxed);
    }

    /// From now on the VM does not halt while functions of the library run. False if that was so before.
    pub fn delay_halt(&self) -> bool {
        let delaying = |f: &NifFunction| NifFunction { call: call::of_thread(f.thread, true), ..*f };
        self.delaying.set(self.functions.iter().map(delaying).collect()).is_ok()
    }
    pub fn delays_halt(&self) -> bool {
        self.delaying.get().is_some()
    }

    /// Returns the functions that the code of the module calls.
    pub fn to_bind(&self) -> &[NifFunction] {
        self.delaying.get().unwrap_or(&self.functions)
    }

    /// Keeps the library loaded until `release`.
    pub fn hold(&self) {
        // Relaxed: the caller is a user already, or has one.
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// As `hold`, for a caller that is no user. False if the library is being unloaded.
    pub fn hold_if_used(&self) -> bool {
        // AcqRel, Acquire: as where it sinks.
        self.users.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n > 0).then_some(n + 1)).is_ok()
    }

    /// Unloads the library if this was its last user.
    pub fn release(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        crate::halt::forget(self);
        crate::schedule::forget(self);
        if let Some(unload) = self.unload {
            let mut heap = Heap::new();
            let mut env = Env::callback(self, &mut heap);
            // Acquire: pairs with the Release in `bind_nifs`.
            // SAFETY: the library's own function, which nothing else of the library runs beside.
            unsafe { unload(&mut env, self.private.load(Ordering::Acquire)) };
            heap.clear();
        }
        self.is_gone();
        // SAFETY: the handle is that of the library, of which nothing runs any more.
        unsafe { libc::dlclose(self.handle) };
    }
}

impl NifLibrary for Library {
    fn functions(&self) -> Vec<(Atom, u8)> {
        self.functions.iter().map(|f| (f.name, f.arity)).collect()
    }
    fn is_scheduled(&self, cell: *const u64) -> bool {
        crate::schedule::contains(self, cell)
    }
    fn call_tracer(&self, names: [&str; 2], arguments: &[Term], for_pid: Option<u64>) -> Option<Option<Term>> {
        let arity = arguments.len();
        let named = |name: &str| self.functions.iter().find(|f| usize::from(f.arity) == arity && f.name.name() == name);
        let function = named(names[0]).or_else(|| named(names[1]))?;
        if !self.hold_if_used() {
            return None;
        }
        let mut heap = Heap::new();
        let mut env = Env::callback(self, &mut heap);
        if for_pid.is_some() {
            env.rare().for_pid = for_pid;
        }
        // SAFETY: the library is held during the call; the environment and the arguments are there as long.
        let result = unsafe { call::pointer_of(function)(&mut env, arguments.len() as c_int, arguments.as_ptr()) };
        let is_result = matches!(env.outcome, Left::Nothing) && !result.is_none();
        let result = (is_result && result.is_atom()).then_some(result);
        drop(env);
        heap.clear();
        self.release();
        Some(result)
    }
    fn purged(&self) {
        crate::resource::give_up_types(self);
        self.release();
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
