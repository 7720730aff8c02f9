//! `erlang:load_nif/2`: checks, in the order and with the texts of ERTS, and the calls of `load` and `upgrade`.

use crate::call;
use crate::env::Env;
use crate::library::{Entry, FunctionEntry, Library};
use crate::resource;
use heddle_runtime::code::nifs::{self, NifFunction, NifLibrary, NifThread};
use heddle_runtime::code::{self, Instance};
use heddle_runtime::process::{NativeResult, Process};
use heddle_term::text::display;
use heddle_term::{Atom, Term, am, bits::BitsView, list};
use libc::{c_char, c_int, c_void};
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const MAJOR: c_int = 2;
const MINOR: c_int = 17;
const VM_VARIANT: &CStr = c"beam.vanilla";
/// `ERL_NIF_DIRTY_JOB_CPU_BOUND` and `ERL_NIF_DIRTY_JOB_IO_BOUND`.
pub const DIRTY_CPU: u32 = 1;
pub const DIRTY_IO: u32 = 2;

/// Why a library is not loaded: the kind of error and its text.
struct Refusal(&'static str, String);

fn bad_library(text: String) -> Refusal {
    Refusal("bad_lib", text)
}

/// One library is loaded at a time. It is none of the classes of locks: a library's `load` may do what takes any of them.
static LOADS: Mutex<()> = Mutex::new(());

pub fn load_nif(p: &mut Process, instance: &Arc<Instance>, file: Term, info: Term) -> NativeResult {
    let Some(file) = file_name(file) else { return Err(p.badarg()) };
    let _one = LOADS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match load(p, instance, &file, info) {
        Ok(()) => Ok(am::OK.into()),
        Err(Refusal(kind, text)) => {
            let text = p.heap.string(&text);
            let reason = p.heap.tuple(&[Atom::new(kind).into(), text]);
            Ok(p.heap.tuple(&[am::ERROR.into(), reason]))
        }
    }
}

/// A file name: characters or a binary.
fn file_name(term: Term) -> Option<CString> {
    let bytes = match BitsView::of(term).filter(BitsView::is_binary) {
        Some(view) => view.to_vec(),
        None => list::unicode_string(term)?.into_bytes(),
    };
    CString::new(bytes).ok()
}

/// What the dynamic linker says of its last failure.
fn linker_error() -> String {
    // SAFETY: the text is the calling thread's, until its next call of the linker.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

/// A library that is open; closed when dropped, unless it is kept.
struct Handle(*mut c_void);

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the handle is open, and nothing of the library is used.
            unsafe { libc::dlclose(self.0) };
        }
    }
}

fn open(file: &CStr) -> Result<Handle, Refusal> {
    let name = file.to_string_lossy();
    let with_suffix = CString::new(format!("{name}.so")).expect("no zero byte in a C string");
    // SAFETY: opening a library runs its constructors, as the caller of load_nif/2 wants.
    let try_to_open = || unsafe { libc::dlopen(with_suffix.as_ptr(), libc::RTLD_NOW) };
    let mut handle = try_to_open();
    let mut problem = if handle.is_null() { linker_error() } else { String::new() };
    if problem.contains("undefined symbol") && add_libraries_of_stock() {
        handle = try_to_open();
        problem = if handle.is_null() { linker_error() } else { String::new() };
    }
    if !handle.is_null() {
        return Ok(Handle(handle));
    }
    let slogan = "Failed to load NIF library";
    let text = if problem.contains(&*name) { format!("{slogan}: '{problem}'") } else { format!("{slogan} {name}: '{problem}'") };
    Err(Refusal("load_failed", text))
}

/// Stock's executable is linked with the system's zlib, and libraries that were made for it may use that without saying so. Makes its functions
/// visible to libraries that are opened from now on. False if there is no such library, or if this was done before.
fn add_libraries_of_stock() -> bool {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    // Relaxed: it only saves repeating the call. dlopen orders what it does by itself.
    if IS_DONE.swap(true, Ordering::Relaxed) {
        return false;
    }
    // SAFETY: zlib has no constructors that could do harm.
    !unsafe { libc::dlopen(c"libz.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null()
}

fn entry_of(handle: &Handle, module: Atom) -> Result<&'static Entry, Refusal> {
    // SAFETY: the handle is open.
    let init = unsafe { libc::dlsym(handle.0, c"nif_init".as_ptr()) };
    if init.is_null() {
        return Err(bad_library(format!("Failed to find library init function: '{}'", linker_error())));
    }
    nifs::taint(module);
    // SAFETY: a function of that name has this type in a library.
    let entry = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const Entry>(init)() };
    // SAFETY: the entry stays as long as the library.
    unsafe { entry.as_ref() }.ok_or_else(|| bad_library("Library init-call unsuccessful".into()))
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: strings of an entry end with a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_bytes().iter().map(|&b| b as char).collect()
}

fn check_entry(entry: &Entry, module: Atom) -> Result<(), Refusal> {
    let shown = display::atom(module);
    if (entry.major, entry.minor) > (MAJOR, MINOR) {
        let wanted = text(entry.min_erts);
        return Err(bad_library(format!(
            "That '{shown}' NIF library needs {wanted} or newer. Either try to recompile the NIF lib or use a newer erts runtime."
        )));
    }
    if entry.major < MAJOR || (entry.major, entry.minor) == (2, 5) {
        return Err(bad_library(format!(
            "That old NIF library ({}.{}) is not compatible with this erts runtime ({MAJOR}.{MINOR}). Try recompile the NIF lib.",
            entry.major, entry.minor
        )));
    }
    if entry.is_at_least(2, 1) && text(entry.vm_variant).as_bytes() != VM_VARIANT.to_bytes() {
        return Err(bad_library(format!(
            "Library ({}) not compiled for this vm variant ({}).",
            text(entry.vm_variant),
            VM_VARIANT.to_string_lossy()
        )));
    }
    let name = text(entry.name);
    if name != module.name() {
        return Err(bad_library(format!("Library module name '{name}' does not match calling module '{shown}'")));
    }
    Ok(())
}

/// The functions of the library, each of which the module must have.
fn bound(functions: &[FunctionEntry], instance: &Instance, library: *const Library) -> Result<Vec<NifFunction>, Refusal> {
    let module = display::atom(instance.name);
    let mut bound: Vec<NifFunction> = Vec::with_capacity(functions.len());
    for f in functions {
        let shown = format!("{module}:{}/{}", text(f.name), f.arity);
        let name = Atom::existing(&text(f.name));
        let arity = u8::try_from(f.arity).ok();
        let function = name.zip(arity).filter(|&(name, arity)| instance.functions.iter().any(|g| g.name == name && g.arity == arity));
        let Some((name, arity)) = function else { return Err(bad_library(format!("Function not found {shown}"))) };
        if instance.nifs.place(name, arity).is_none() {
            return Err(bad_library(format!("Function not declared as nif {shown}")));
        }
        let thread = match f.flags {
            0 => NifThread::Scheduler,
            DIRTY_CPU => NifThread::DirtyCpu,
            DIRTY_IO => NifThread::DirtyIo,
            flags => return Err(bad_library(format!("Illegal flags field value {flags} for NIF {shown}"))),
        };
        if bound.iter().any(|g| g.name == name && g.arity == arity) {
            return Err(bad_library(format!("Duplicate NIF entry for {shown}")));
        }
        bound.push(NifFunction {
            call: call::of_thread(thread, false),
            pointer: f.pointer as usize,
            library: library.cast(),
            thread,
            name,
            arity,
        });
    }
    Ok(bound)
}

/// The version before, whose library hands its data over.
fn library_before(instance: &Arc<Instance>) -> Option<Arc<dyn NifLibrary>> {
    code::with_module(instance.name, |m| {
        let is_pending = m.pending.as_ref().is_some_and(|p| Arc::ptr_eq(p, instance));
        let before = if is_pending && m.current.is_some() { &m.current } else { &m.old };
        before.as_ref().and_then(|i| i.nifs.library())
    })
}

fn load(p: &mut Process, instance: &Arc<Instance>, file: &CStr, info: Term) -> Result<(), Refusal> {
    let module = instance.name;
    if code::with_module(module, |m| m.old.as_ref().is_some_and(|old| Arc::ptr_eq(old, instance))) {
        let module = display::atom(module);
        return Err(Refusal("old_code", format!("Calling load_nif from old module '{module}' not allowed")));
    }
    if instance.nifs.library().is_some() {
        return Err(Refusal("reload", "NIF library already loaded (reload disallowed since OTP 20).".into()));
    }
    let mut handle = open(file)?;
    let entry = entry_of(&handle, module)?;
    check_entry(entry, module)?;
    let mut library = Arc::new(Library::new(module, entry, handle.0));
    let address = Arc::as_ptr(&library);
    let functions = bound(&entry.functions(), instance, address)?;
    // The only reference: what knows its address has not used it yet.
    Arc::get_mut(&mut library).expect("not shared yet").functions = functions;
    library.is_there(entry);
    call_load(p, instance, entry, &library, info)?;
    handle.0 = null_mut();
    library.is_loaded();
    resource::commit_types(&library);
    instance.bind_nifs(library.clone(), library.to_bind());
    Ok(())
}

/// Calls `load`, or `upgrade` if the version before has a library.
fn call_load(p: &mut Process, instance: &Arc<Instance>, entry: &Entry, library: &Arc<Library>, info: Term) -> Result<(), Refusal> {
    let before = library_before(instance);
    let before = before.as_ref().and_then(|b| b.as_any().downcast_ref::<Library>());
    let mut env = Env::of_process(p, Arc::as_ptr(library), 0);
    let refused = resource::while_loading(|| {
        if let Some(before) = before {
            let Some(upgrade) = entry.upgrade else {
                return Some(Refusal("upgrade", "Upgrade not supported by this NIF library.".into()));
            };
            // Acquire: pairs with the Release below, or in `bind_nifs`.
            let kept = before.private.load(Ordering::Acquire);
            // SAFETY: a function of the library, with what it expects. It may read its data by `enif_priv_data` at once.
            let status = unsafe { upgrade(&mut env, library.private.as_ptr(), before.private.as_ptr(), info) };
            if status != 0 {
                // Release: pairs with the Acquire in `enif_priv_data`.
                before.private.store(kept, Ordering::Release);
            }
            return (status != 0).then(|| Refusal("upgrade", format!("Library upgrade-call unsuccessful ({status}).")));
        }
        let load = entry.load?;
        // SAFETY: as above.
        let status = unsafe { load(&mut env, library.private.as_ptr(), info) };
        (status != 0).then(|| Refusal("load", format!("Library load-call unsuccessful ({status}).")))
    });
    drop(env);
    match refused {
        Some(refused) => {
            resource::roll_back_types();
            crate::halt::forget(library);
            library.is_gone();
            Err(refused)
        }
        None => Ok(()),
    }
}
