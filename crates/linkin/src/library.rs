//! A loaded driver: its library, the processes that use it, and how long it stays loaded.

use crate::entry::Entry;
use crate::errors::LoadError;
use crate::loaded::Loaded;
use heddle_runtime::{Package, RefId, send};
use heddle_term::{Atom, Heap, Term};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A library while it is loaded. If its driver is loaded anew, the new one is another.
pub struct Library {
    pub loaded: Loaded,
    /// Ports, and calls on other threads. Changes under the lock of all drivers.
    holds: AtomicUsize,
    ports: AtomicUsize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Loaded,
    /// It is unloaded when its last port closes. `forced`: no port opens meanwhile.
    Unloads {
        forced: bool,
    },
    /// It is loaded anew then.
    Reloads {
        forced: bool,
    },
    Permanent,
    /// It is part of a library that has another driver.
    Part,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It loaded the driver. `counts`: the driver stays for it.
    Loaded {
        counts: bool,
    },
    AwaitsLoad(RefId),
    AwaitsUnload(RefId),
    /// As `AwaitsUnload`, also if another process loads the driver again meanwhile.
    AwaitsUnloadOnly(RefId),
}

pub struct User {
    pub pid: u64,
    pub what: Use,
}

pub struct Driver {
    pub name: Vec<u8>,
    pub path: Vec<u8>,
    pub kills_ports: bool,
    pub status: Status,
    /// The newest first.
    pub users: Vec<User>,
    pub library: Arc<Library>,
    /// Path and `kill_ports` of the library that comes after this one.
    pub next: Option<(Vec<u8>, bool)>,
}

/// The newest first.
static DRIVERS: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

/// Drivers that the next `all` adds to the table: libraries add them in `init`, which runs while the others are locked.
static ADDED: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

/// All drivers, locked. Functions `init` and `finish` of libraries run under this lock.
pub fn all() -> MutexGuard<'static, Vec<Driver>> {
    let mut drivers = DRIVERS.lock().unwrap();
    for driver in ADDED.lock().unwrap().drain(..) {
        drivers.insert(0, driver);
    }
    drivers
}

/// Adds a driver that is a part of a library which is there already (`add_driver_entry`).
///
/// # Safety
/// The entry is one of the library, which keeps it.
// SAFETY: `add_driver_entry` calls it with what the library passes.
pub unsafe fn add_part(entry: *const Entry) {
    // SAFETY: by contract.
    let (name, init) = unsafe { (std::ffi::CStr::from_ptr((*entry).driver_name).to_bytes().to_vec(), (*entry).init) };
    if let Some(init) = init {
        // SAFETY: a function of the library.
        unsafe { init() };
    }
    let library = Arc::new(Library::new(Loaded::part(entry)));
    let driver = Driver { name, path: Vec::new(), kills_ports: false, status: Status::Part, users: Vec::new(), library, next: None };
    ADDED.lock().unwrap().push(driver);
}

/// Removes such a driver. Returns 1 if that was done, 0 if there is none, -1 if it is that of a library that was loaded.
pub fn remove_part(entry: *const Entry) -> i32 {
    let mut drivers = all();
    let Some(at) = drivers.iter().position(|driver| std::ptr::eq(driver.library.loaded.entry(), entry)) else { return 0 };
    if drivers[at].status != Status::Part {
        return -1;
    }
    drivers.remove(at);
    1
}

impl Library {
    fn new(loaded: Loaded) -> Library {
        Library { loaded, holds: AtomicUsize::new(0), ports: AtomicUsize::new(0) }
    }

    pub fn ports(&self) -> usize {
        // Relaxed: a figure.
        self.ports.load(Ordering::Relaxed)
    }

    /// Keeps the library loaded. Its caller keeps it already.
    pub fn hold(&self) {
        // Relaxed: the count does not come from 0.
        self.holds.fetch_add(1, Ordering::Relaxed);
    }
    pub fn release(self: &Arc<Library>) {
        let mut drivers = all();
        self.holds.fetch_sub(1, Ordering::Relaxed);
        settle(&mut drivers, self);
    }

    /// One more port.
    pub fn opens(&self) {
        self.hold();
        self.ports.fetch_add(1, Ordering::Relaxed);
    }
    /// A port is gone.
    pub fn closed(self: &Arc<Library>) {
        self.ports.fetch_sub(1, Ordering::Relaxed);
        self.release();
    }
}

impl Driver {
    pub fn load(path: Vec<u8>, name: Vec<u8>, kills_ports: bool) -> Result<Driver, LoadError> {
        let library = open(&path, &name)?;
        Ok(Driver { name, path, kills_ports, status: Status::Loaded, users: Vec::new(), library, next: None })
    }

    pub fn atom(&self) -> Term {
        Atom::new(&self.name.iter().map(|&b| b as char).collect::<String>()).into()
    }

    /// True if ports may be opened.
    pub fn is_open(&self) -> bool {
        !matches!(self.status, Status::Unloads { forced: true } | Status::Reloads { forced: true })
    }

    pub fn add(&mut self, pid: u64, what: Use) {
        self.users.insert(0, User { pid, what });
    }

    /// How many times it is loaded, by any process.
    pub fn loads(&self) -> usize {
        self.users.iter().filter(|user| matches!(user.what, Use::Loaded { .. })).count()
    }

    /// Removes one load by this process. False if there is none.
    pub fn remove_load(&mut self, pid: u64) -> bool {
        let at = self.users.iter().position(|user| user.pid == pid && matches!(user.what, Use::Loaded { .. }));
        at.map(|at| self.users.remove(at)).is_some()
    }

    /// Sends `{Kind, Reference, driver, Name, Why}` to those that wait, and forgets them.
    pub fn notify(&mut self, waits: fn(Use) -> Option<RefId>, kind: &str, why: impl Fn(&mut Heap) -> Term) {
        let name = self.atom();
        self.users.retain(|user| {
            let Some(reference) = waits(user.what) else { return true };
            notify(user.pid, reference, name, kind, &why);
            false
        });
    }

    /// A load that waits for the end of the present library will not happen.
    pub fn cancel_reload(&mut self) {
        if matches!(self.status, Status::Reloads { .. }) {
            self.notify(awaits_load, "DOWN", |_| Atom::new("load_cancelled").into());
            self.next = None;
        }
    }

    pub fn set_forced(&mut self) {
        self.status = match self.status {
            Status::Unloads { .. } => Status::Unloads { forced: true },
            Status::Reloads { .. } => Status::Reloads { forced: true },
            other => other,
        };
    }

    /// From now on it is never unloaded.
    pub fn make_permanent(&mut self) {
        let permanent = |_: &mut Heap| Atom::new("permanent").into();
        self.notify(awaits_load, "UP", permanent);
        self.notify(awaits_unload, "UP", permanent);
        self.notify(awaits_unload_only, "UP", permanent);
        self.users.clear();
        self.status = Status::Permanent;
    }

    fn is_needed(&self) -> bool {
        let counts = |user: &User| matches!(user.what, Use::Loaded { counts: true });
        matches!(self.status, Status::Permanent | Status::Part)
            || self.library.holds.load(Ordering::Relaxed) > 0
            || self.users.iter().any(counts)
    }
}

pub fn awaits_load(what: Use) -> Option<RefId> {
    if let Use::AwaitsLoad(reference) = what { Some(reference) } else { None }
}
pub fn awaits_unload(what: Use) -> Option<RefId> {
    if let Use::AwaitsUnload(reference) = what { Some(reference) } else { None }
}
pub fn awaits_unload_only(what: Use) -> Option<RefId> {
    if let Use::AwaitsUnloadOnly(reference) = what { Some(reference) } else { None }
}

pub fn notify(pid: u64, reference: RefId, name: Term, kind: &str, why: impl Fn(&mut Heap) -> Term) {
    let message = Package::build(|heap| {
        let why = why(heap);
        let reference = heap.reference(reference.words());
        heap.tuple(&[Atom::new(kind).into(), reference, Atom::new("driver").into(), name, why])
    });
    send::message_to_pid(pid, message);
}

fn open(path: &[u8], name: &[u8]) -> Result<Arc<Library>, LoadError> {
    Ok(Arc::new(Library::new(Loaded::open(path, name)?)))
}

/// The driver of this name.
pub fn find<'a>(drivers: &'a mut [Driver], name: &[u8]) -> Option<&'a mut Driver> {
    drivers.iter_mut().find(|driver| driver.name == name)
}

/// The place of a library's driver.
fn place(drivers: &[Driver], library: &Arc<Library>) -> Option<usize> {
    drivers.iter().position(|driver| Arc::ptr_eq(&driver.library, library))
}

/// Unloads the library, or loads it anew, if nothing needs it any more. Called whenever something stops needing it.
pub fn settle(drivers: &mut Vec<Driver>, library: &Arc<Library>) {
    let Some(at) = place(drivers, library) else { return };
    let driver = &mut drivers[at];
    if driver.is_needed() {
        return;
    }
    driver.library.loaded.finish();
    let unloaded = |_: &mut Heap| Atom::new("unloaded").into();
    driver.notify(awaits_unload, "DOWN", unloaded);
    driver.notify(awaits_unload_only, "DOWN", unloaded);
    let Some((path, kills_ports)) = driver.next.take() else {
        drivers.remove(at);
        return;
    };
    match open(&path, &driver.name) {
        Ok(library) => {
            (driver.library, driver.path, driver.kills_ports, driver.status) = (library, path, kills_ports, Status::Loaded);
            for user in &mut driver.users {
                if matches!(user.what, Use::Loaded { .. }) {
                    user.what = Use::Loaded { counts: true };
                }
            }
            driver.notify(awaits_load, "UP", |_| Atom::new("loaded").into());
            // The newest driver is the first.
            let driver = drivers.remove(at);
            drivers.insert(0, driver);
        }
        Err(error) => {
            driver.notify(awaits_load, "DOWN", |heap| {
                let error = error.term(heap);
                heap.tuple(&[Atom::new("load_failure").into(), error])
            });
            drivers.remove(at);
        }
    }
}

/// A process has ended that used drivers.
pub fn user_ended(pid: u64) {
    let mut drivers = all();
    let mut doomed = Vec::new();
    for driver in drivers.iter_mut().filter(|driver| !matches!(driver.status, Status::Permanent | Status::Part)) {
        let before = driver.users.len();
        driver.users.retain(|user| user.pid != pid);
        if driver.users.len() == before || driver.loads() > 0 {
            continue;
        }
        driver.cancel_reload();
        driver.status = Status::Unloads { forced: false };
        if driver.kills_ports && driver.library.ports() > 0 {
            driver.set_forced();
        }
        driver.library.hold();
        doomed.push((driver.library.clone(), !driver.is_open()));
    }
    drop(drivers);
    for (library, kills_ports) in doomed {
        if kills_ports {
            kill_ports(&library);
        }
        library.release();
    }
}

/// Ends all ports of the library.
pub fn kill_ports(library: &Arc<Library>) {
    for instance in crate::instance::of_library(library) {
        crate::port::end(&instance, Atom::new("driver_unloaded").into());
    }
}
