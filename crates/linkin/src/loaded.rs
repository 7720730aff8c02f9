//! A library that is open, with its entry.

use crate::entry::{Entry, USES_PORT_LOCKING};
use crate::errors::LoadError;
use heddle_runtime::code::foreign::{self, ForeignLibrary};
use heddle_term::Atom;
use libc::c_void;
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

pub struct Loaded {
    /// Null once it is closed. AcqRel where that happens.
    handle: AtomicPtr<c_void>,
    entry: *const Entry,
    /// Held while any function of the driver runs, for a driver whose ports must not run at a time.
    lock: Option<Mutex<()>>,
}

// SAFETY: the entry does not change, and the library says by its flags which of its functions may run at a time.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

/// What the dynamic linker says of its last failure.
fn linker_error() -> String {
    // SAFETY: the text is the calling thread's, until its next call of the linker.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

impl Loaded {
    /// Opens the library `path` (without `.so`), whose driver must have this name, and has the driver set itself up.
    pub fn open(path: &[u8], name: &[u8]) -> Result<Loaded, LoadError> {
        let file = CString::new([path, b".so"].concat()).map_err(|_| LoadError::Name("unspecified_error"))?;
        // SAFETY: opening a library runs its constructors, as the caller of `erl_ddll` wants.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            return Err(LoadError::of_linker(&linker_error(), file.to_bytes()));
        }
        // SAFETY: the handle is open.
        let checked = unsafe { check(handle, name) };
        match checked {
            Ok(entry) => {
                // SAFETY: the entry is in the library, which is open.
                let lock = unsafe { !(*entry).has(USES_PORT_LOCKING) }.then(Mutex::default);
                let loaded = Loaded { handle: AtomicPtr::new(handle), entry, lock };
                foreign::loaded(entry as usize, ForeignLibrary { role: loaded.role(), functions: loaded.entry().functions() });
                Ok(loaded)
            }
            Err(error) => {
                // SAFETY: nothing of the library is used.
                unsafe { libc::dlclose(handle) };
                Err(LoadError::Name(error))
            }
        }
    }

    /// A driver that is a part of another library or program.
    pub fn part(entry: *const Entry) -> Loaded {
        // SAFETY: the library says that this is an entry, and keeps it.
        let lock = unsafe { !(*entry).has(USES_PORT_LOCKING) }.then(Mutex::default);
        Loaded { handle: AtomicPtr::new(std::ptr::null_mut()), entry, lock }
    }

    /// True if it is a part of another library.
    pub fn is_part(&self) -> bool {
        self.handle.load(Ordering::Acquire).is_null()
    }

    pub fn entry(&self) -> &Entry {
        // SAFETY: the entry is in the library, which is open: callers have a port of it, or hold it in another way.
        unsafe { &*self.entry }
    }

    /// What a crash report calls it.
    fn role(&self) -> String {
        // SAFETY: the name is a string that ends with a zero byte; `check` has read it.
        format!("the driver {}", unsafe { crate::text::latin1(self.entry().driver_name) })
    }

    /// Runs a function of the driver, while no other thread does if the driver wants that.
    pub fn alone<R>(&self, f: impl FnOnce() -> R) -> R {
        let _held = self.lock.as_ref().map(|lock| lock.lock().unwrap());
        f()
    }

    /// Ends the driver and closes the library: it has no ports any more.
    pub fn finish(&self) {
        if let Some(finish) = self.entry().finish {
            // SAFETY: a function of the library, beside which nothing else of it runs.
            unsafe { finish() };
        }
        let handle = self.handle.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if !handle.is_null() {
            foreign::unloaded(self.entry as usize, &self.role());
            // SAFETY: the handle is open, and nothing of the library runs or is used any more.
            unsafe { libc::dlclose(handle) };
        }
    }
}

/// Finds the entry of the library and calls `init`. The error is that of `try_load/3`.
///
/// # Safety
/// The handle is that of an open library.
// SAFETY: `Loaded::open` calls it with a handle that it has just got.
unsafe fn check(handle: *mut c_void, name: &[u8]) -> Result<*const Entry, &'static str> {
    // SAFETY: the handle is open, a function of that name has this type in a library, and the entry stays as long as the library.
    unsafe {
        let init = libc::dlsym(handle, c"driver_init".as_ptr());
        if init.is_null() {
            return Err("no_driver_init");
        }
        let entry = std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const Entry>(init)();
        let Some(found) = entry.as_ref() else { return Err("driver_init_failed") };
        if !found.is_served() {
            return Err("driver_incorrect_version");
        }
        if CStr::from_ptr(found.driver_name).to_bytes() != name {
            return Err("bad_driver_name");
        }
        heddle_runtime::code::nifs::taint(Atom::new(&crate::text::latin1(found.driver_name)));
        match found.init {
            Some(init) if init() != 0 => Err("driver_init_failed"),
            _ => Ok(entry),
        }
    }
}
