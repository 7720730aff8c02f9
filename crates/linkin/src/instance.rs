//! What belongs to one port of a driver library, and how the library's functions find it.

use crate::entry::{Data, Monitor};
use crate::library::Library;
use crate::locks::DataLock;
use crate::queue::Queue;
use heddle_io::ports::driver::After;
use heddle_io::ports::port::Port;
use heddle_runtime::RefId;
use heddle_runtime::task::Context;
use heddle_term::Term;
use libc::{c_int, c_void};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

/// `ErlDrvPort`: the number of the port. So a library that keeps it for too long gets an error.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct PortHandle(pub isize);

impl PortHandle {
    pub const INVALID: PortHandle = PortHandle(-1);

    pub fn of(number: u64) -> PortHandle {
        // Never 0 or -1.
        PortHandle((number << 2 | 2) as isize)
    }
    fn number(self) -> u64 {
        self.0 as u64 >> 2
    }
}

/// What a port does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open = 0,
    /// It closes, and waits until its queue is empty.
    Flushes = 1,
    /// Its driver has ended it. It closes after the present call.
    Failed = 2,
}

/// What is done by the port's task when it has started.
type Later = Box<dyn FnOnce(&mut Context<'_>) -> After + Send>;

pub struct Instance {
    pub port: Arc<Port>,
    pub library: Arc<Library>,
    /// What `start` returned. Release where it is set, Acquire where it is read: by the task, on any thread.
    data: AtomicPtr<c_void>,
    pub queue: Mutex<Queue>,
    /// `set_port_control_flags`. Relaxed: only functions that run in the port use it.
    pub control_flags: AtomicI32,
    /// See `Phase`. Release where it is set, Acquire where it is read.
    phase: AtomicU8,
    /// When the timer fires (ns, monotonic); 0: it is not set. Relaxed: only functions that run in the port use it.
    pub timer_ns: AtomicU64,
    /// Processes that it monitors.
    pub monitors: Mutex<HashMap<RefId, Term>>,
    pub data_lock: Mutex<Option<*mut DataLock>>,
    /// The part of an unfinished line.
    pub line: Mutex<Vec<u8>>,
    /// None once the task has started.
    later: Mutex<Option<Vec<Later>>>,
    /// Percents of a slice that the present call of the library has used up.
    pub percents: AtomicI32,
}

// SAFETY: the lock of the port's data is used by all threads, and everything else is atomic or under a mutex.
unsafe impl Send for Instance {}
// SAFETY: as above.
unsafe impl Sync for Instance {}

/// All instances by the number of their port.
static ALL: RwLock<Option<HashMap<u64, Arc<Instance>>>> = RwLock::new(None);

/// A call of the library: the port that it is for, and the process that wants it.
pub struct Running {
    instance: Arc<Instance>,
    /// Null before the task has started and after it has ended.
    context: Cell<*mut Context<'static>>,
    caller: Option<u64>,
    after: RefCell<After>,
    outer: *const Running,
}

thread_local! {
    static RUNNING: Cell<*const Running> = const { Cell::new(std::ptr::null()) };
}

fn running() -> Option<&'static Running> {
    // SAFETY: set while the call runs on this thread, and the functions that ask for it return before the call does.
    unsafe { RUNNING.get().as_ref() }
}

impl Instance {
    pub fn new(port: Arc<Port>, library: Arc<Library>, data: Data) -> Arc<Instance> {
        let instance = Arc::new(Instance {
            library,
            data: AtomicPtr::new(data),
            queue: Mutex::default(),
            control_flags: AtomicI32::new(0),
            phase: AtomicU8::new(Phase::Open as u8),
            timer_ns: AtomicU64::new(0),
            monitors: Mutex::default(),
            data_lock: Mutex::default(),
            line: Mutex::default(),
            later: Mutex::new(Some(Vec::new())),
            percents: AtomicI32::new(0),
            port,
        });
        ALL.write().unwrap().get_or_insert_default().insert(instance.port.id, instance.clone());
        instance
    }

    /// The port is gone: the library finds it no more.
    pub fn forget(&self) {
        if let Some(all) = ALL.write().unwrap().as_mut() {
            all.remove(&self.port.id);
        }
    }

    pub fn handle(&self) -> PortHandle {
        PortHandle::of(self.port.id)
    }
    pub fn data(&self) -> Data {
        self.data.load(Ordering::Acquire)
    }
    pub fn set_data(&self, data: Data) {
        self.data.store(data, Ordering::Release);
    }
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            1 => Phase::Flushes,
            2 => Phase::Failed,
            _ => Phase::Open,
        }
    }
    pub fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }
    /// What functions return instead of sending something, while the port sends nothing.
    pub fn refuses(&self) -> Option<c_int> {
        match self.phase() {
            Phase::Open => None,
            Phase::Flushes => Some(0),
            Phase::Failed => Some(-1),
        }
    }

    /// Calls the library for the port. `f` gets what the library keeps of the port.
    pub fn enter<R>(self: &Arc<Instance>, context: Option<&mut Context<'_>>, caller: Option<u64>, f: impl FnOnce(Data) -> R) -> (R, After) {
        let context = context.map_or(null_mut(), |context| (context as *mut Context<'_>).cast::<Context<'static>>());
        let running = Running {
            instance: self.clone(),
            context: Cell::new(context),
            caller,
            after: RefCell::new(After::Continue),
            outer: RUNNING.get(),
        };
        // Relaxed: see there.
        self.percents.store(0, Ordering::Relaxed);
        let result = self.library.loaded.alone(|| {
            RUNNING.set(&running);
            let result = f(self.data());
            RUNNING.set(running.outer);
            result
        });
        (result, running.after.into_inner())
    }

    /// Has the port's task do something: at once if the calling thread runs the port, else later.
    pub fn act(self: &Arc<Instance>, f: impl FnOnce(&mut Context<'_>) -> After + Send + 'static) {
        if let Some(running) = running().filter(|running| Arc::ptr_eq(&running.instance, self))
            && !running.context.get().is_null()
        {
            // SAFETY: the context of the call that runs now, which waits for this function.
            let after = f(unsafe { &mut *running.context.get() });
            if !matches!(after, After::Continue) {
                running.after.replace(after);
            }
            return;
        }
        let mut later = self.later.lock().unwrap();
        match later.as_mut() {
            Some(all) => all.push(Box::new(f)),
            None => {
                drop(later);
                crate::port::request(&self.port, move |_, context| f(context));
            }
        }
    }

    /// The task has started: does what waited for it.
    pub fn catch_up(&self, context: &mut Context<'_>) -> After {
        let later = self.later.lock().unwrap().take();
        let mut last = After::Continue;
        for f in later.into_iter().flatten() {
            let after = f(context);
            if !matches!(after, After::Continue) {
                last = after;
            }
        }
        last
    }

    /// Ends the port, for this reason, with what is in its queue lost.
    pub fn fail(self: &Arc<Instance>, reason: Term) {
        self.set_phase(Phase::Failed);
        self.queue.lock().unwrap().clear();
        let reason = heddle_runtime::Package::immediate(reason);
        self.act(move |_| After::End(heddle_runtime::task::Owned::of(reason)));
    }

    /// True if the calling thread runs the port.
    pub fn is_running(self: &Arc<Instance>) -> bool {
        running().is_some_and(|running| Arc::ptr_eq(&running.instance, self))
    }
}

/// The port of a handle; None if it is gone.
pub fn of(handle: PortHandle) -> Option<Arc<Instance>> {
    let number = handle.number();
    if let Some(running) = running().filter(|running| running.instance.port.id == number) {
        return Some(running.instance.clone());
    }
    by_number(number)
}

pub fn by_number(number: u64) -> Option<Arc<Instance>> {
    ALL.read().unwrap().as_ref()?.get(&number).cloned()
}

/// All ports of the library.
pub fn of_library(library: &Arc<Library>) -> Vec<Arc<Instance>> {
    let all = ALL.read().unwrap();
    all.iter().flat_map(HashMap::values).filter(|instance| Arc::ptr_eq(&instance.library, library)).cloned().collect()
}

/// All ports; none if the table is locked. For a VM that crashes.
pub fn all() -> Vec<Arc<Instance>> {
    ALL.try_read().iter().flat_map(|all| all.iter()).flat_map(HashMap::values).cloned().collect()
}

/// The process that wants what the port does now.
pub fn caller(instance: &Arc<Instance>) -> Option<u64> {
    running().filter(|running| Arc::ptr_eq(&running.instance, instance))?.caller
}

impl Monitor {
    pub fn of(reference: RefId) -> Monitor {
        Monitor { words: reference.words(), unused: [0; 5] }
    }
    pub fn reference(&self) -> RefId {
        RefId::from_words(self.words)
    }
}
