//! `enif_schedule_nif`: functions that a NIF names to be called next, in its place.

use crate::call;
use crate::env::Env;
use crate::library::Library;
use heddle_runtime::code::nifs::{self, NifFunction, NifThread};
use heddle_runtime::code::{self, Function, Instance};
use heddle_term::code_cell::Mfa;
use heddle_term::{Atom, Export};
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::sync::{Arc, LazyLock, Mutex};

/// Code that calls a C function of a library under a name. Processes may be in it as long as the library is loaded.
pub struct Scheduled {
    /// Referred to by the code.
    _function: Box<NifFunction>,
    export: Export,
    instance: Arc<Instance>,
}

impl Scheduled {
    pub fn export(&self) -> *const Export {
        &self.export
    }

    fn new(library: *const Library, module: Atom, key: &Key) -> Scheduled {
        let (name, arity) = (key.name, key.arity);
        let function = Box::new(NifFunction {
            // SAFETY: the library, which schedules the function, is loaded.
            call: call::of_thread(key.thread, unsafe { (*library).delays_halt() }),
            pointer: key.pointer,
            library: library.cast(),
            thread: key.thread,
            name,
            arity,
        });
        let mut instance = Instance::bare(module, nifs::code_of(module, &function));
        instance.functions.push(Function { start: 0, entry: nifs::CODE_ENTRY as u32, name, arity });
        let instance = Arc::new(instance);
        code::add_range(&instance);
        let entry = instance.code.as_ptr().wrapping_add(nifs::CODE_ENTRY) as *mut u64;
        let export = Export {
            entry: AtomicPtr::new(entry),
            mfa: Mfa { module, function: name, arity },
            native: AtomicUsize::new(0),
            loaded: AtomicPtr::new(entry),
            stub: [AtomicUsize::new(0), AtomicUsize::new(0)],
        };
        Scheduled { _function: function, export, instance }
    }
}

impl Drop for Scheduled {
    fn drop(&mut self) {
        code::remove_range(&self.instance);
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub name: Atom,
    pub arity: u8,
    pub pointer: usize,
    pub thread: NifThread,
}

type OfLibrary = HashMap<Key, Box<Scheduled>>;

/// By address of the library.
static ALL: LazyLock<Mutex<HashMap<usize, OfLibrary>>> = LazyLock::new(Mutex::default);

/// The code for a function that the environment's library schedules.
pub fn of(env: &Env, key: Key) -> *const Scheduled {
    let mut all = ALL.lock().unwrap();
    let of_library = all.entry(env.library as usize).or_default();
    // SAFETY: the library of the environment is loaded.
    let module = unsafe { (*env.library).module };
    let made = of_library.entry(key.clone()).or_insert_with(|| Box::new(Scheduled::new(env.library, module, &key)));
    &raw const **made
}

/// True if the cell is in code of the library's scheduled functions.
pub fn contains(library: *const Library, cell: *const u64) -> bool {
    let all = ALL.lock().unwrap();
    all.get(&(library as usize)).is_some_and(|of_library| of_library.values().any(|s| s.instance.contains(cell)))
}

/// The library is unloaded: no process is in its code.
pub fn forget(library: *const Library) {
    let gone = ALL.lock().unwrap().remove(&(library as usize));
    // A scheduler may still be inside a call that looks at the code.
    heddle_runtime::qsbr::retire(move || drop(gone));
}
