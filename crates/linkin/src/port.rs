//! The ports of driver libraries: the driver, for `open_port`, whose functions are those of the library.

use crate::descriptors;
use crate::entry::NO_BUSY_SIGNALS;
use crate::instance::{self, Instance, Phase};
use crate::library::{self, Library};
use heddle_io::ports::driver::{After, Driver, DriverEntry, DriverName, bad_argument};
use heddle_io::ports::gate::Limits;
use heddle_io::ports::options::PortOptions;
use heddle_io::ports::poll::Interest;
use heddle_io::ports::port::Port;
use heddle_io::ports::port_task::PortTask;
use heddle_runtime::task::{self, Context, Owned};
use heddle_runtime::{Package, proctab};
use heddle_term::Term;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub static ENTRIES: [DriverEntry; 1] = [DriverEntry { is_meant, open }];

/// The driver's name: the first word of the command.
fn first_word(command: &[u8]) -> &[u8] {
    command.split(|&b| b == b' ').next().unwrap_or_default()
}

fn is_meant(name: &DriverName<'_>) -> bool {
    let DriverName::Command(command) = name else { return false };
    library::find(&mut library::all(), first_word(command)).is_some_and(|driver| driver.is_open())
}

fn open(command: &OsStr, o: &PortOptions) -> io::Result<Box<dyn Driver>> {
    let mut drivers = library::all();
    let found = library::find(&mut drivers, first_word(command.as_bytes())).filter(|driver| driver.is_open());
    let Some(library) = found.map(|driver| driver.library.clone()) else { return Err(bad_argument()) };
    let entry = library.loaded.entry();
    if o.exit_status || o.busy_port != Limits::USUAL || entry.has(NO_BUSY_SIGNALS) && !matches!(o.busy_msgq, Limits::USUAL | Limits::NEVER)
    {
        return Err(bad_argument());
    }
    let command = CString::new(command.as_bytes()).map_err(|_| bad_argument())?;
    library.opens();
    drop(drivers);
    Ok(Box::new(Linked { library: Some(library), command: Some(command), instance: None }))
}

/// The port's driver.
pub struct Linked {
    /// Counts as a port of the library until the port ends.
    pub(crate) library: Option<Arc<Library>>,
    /// The command line; None for a port that its driver made.
    pub(crate) command: Option<CString>,
    pub(crate) instance: Option<Arc<Instance>>,
}

impl Linked {
    /// Of a port that the library itself makes. It counts as a port of the library.
    pub fn made(library: Arc<Library>) -> Linked {
        Linked { library: Some(library), command: None, instance: None }
    }

    pub(crate) fn instance(&self) -> &Arc<Instance> {
        self.instance.as_ref().expect("a port that has begun")
    }

    /// Calls a function of the library that returns nothing.
    pub fn run(&self, context: &mut Context<'_>, f: impl FnOnce(crate::entry::Data)) -> After {
        self.instance().enter(Some(context), None, f).1
    }

    /// Frees everything; the library finds the port no more.
    pub(crate) fn dispose(&mut self) {
        let Some(instance) = &self.instance else { return };
        descriptors::forget_all(instance);
        instance.queue.lock().unwrap().clear();
        if let Some(lock) = instance.data_lock.lock().unwrap().take() {
            // SAFETY: the port's reference.
            unsafe { crate::locks::release(lock) };
        }
        instance.forget();
    }

    /// The descriptor is ready.
    pub fn descriptor_ready(&self, fd: RawFd, interest: Interest, context: &mut Context<'_>) -> After {
        let entry = self.instance().library.loaded.entry();
        let function = if interest == Interest::Read { entry.ready_input } else { entry.ready_output };
        match function {
            // SAFETY: a function of the library, for a port of it.
            Some(function) => self.run(context, |data| unsafe { function(data, fd as isize) }),
            None => {
                descriptors::not_handled(self.instance(), fd, interest);
                After::Continue
            }
        }
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        if let Some(library) = self.library.take() {
            library.closed();
        }
    }
}

/// Has the task of a library's port do something. Does nothing if the port is gone.
pub fn request(port: &Arc<Port>, f: impl FnOnce(&Linked, &mut Context<'_>) -> After + Send + 'static) {
    port.request(move |task, context| task.with::<Linked>(context, |linked, _, context| f(linked, context)));
}

/// The same, at once if no thread has the port.
pub fn request_now(identity: u64, f: impl FnOnce(&Linked, &mut Context<'_>) -> After + Send + 'static) {
    task::call_soon(identity, move |task: &mut PortTask, context| task.with::<Linked>(context, |linked, _, context| f(linked, context)));
}

/// Has the port handle what it was sent. Waits a moment for another thread that has it, but not for long.
pub fn hear(identity: u64) {
    let began = Instant::now();
    while let Some(task) = proctab::lookup(identity) {
        if task::try_now(task).is_some() || began.elapsed() > A_MOMENT {
            return;
        }
        std::thread::yield_now();
    }
}

const A_MOMENT: Duration = Duration::from_millis(2);

/// Ends a port, for this reason, which is immediate.
pub fn end(instance: &Arc<Instance>, reason: Term) {
    let reason = Package::immediate(reason);
    request_now(instance.port.identity(), move |_, _| After::End(Owned::of(reason)));
}

/// Ends what waits in the queue of a port that closes: the last bytes may be gone.
pub fn queue_changed(instance: &Arc<Instance>) {
    if instance.phase() == Phase::Flushes && !instance.is_running() && instance.queue.lock().unwrap().bytes() == 0 {
        request(&instance.port, |_, _| After::Continue);
    }
}

/// Tells all ports that the VM crashes.
pub fn emergency_close() {
    for instance in instance::all() {
        if let Some(close) = instance.library.loaded.entry().emergency_close() {
            // SAFETY: a function of the library, for a port of it. The VM ends, and waits for no lock.
            unsafe { close(instance.data()) };
        }
    }
}
