//! Work that a driver has done on another thread (`driver_async`). Its port is told when it is done.

use crate::instance::Instance;
use crate::locks::{self, DataLock};
use crate::port;
use heddle_io::ports::driver::After;
use heddle_runtime::qsbr;
use libc::{c_long, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{LazyLock, Mutex};

pub type Function = unsafe extern "C" fn(*mut c_void);

/// Threads that do such work, as in stock without the flag `+A`.
pub const THREADS: u32 = 1;

struct Job {
    instance: Arc<Instance>,
    invoke: Function,
    free: Option<Function>,
    data: *mut c_void,
    /// The port got the data.
    is_delivered: bool,
    /// A reference; or null.
    lock: *mut DataLock,
}

// SAFETY: the library passes data that it may use on another thread.
unsafe impl Send for Job {}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(free) = self.free.filter(|_| !self.is_delivered) {
            // SAFETY: a function of the library, which is held, for data that its port did not get.
            unsafe { free(self.data) };
        }
        if !self.lock.is_null() {
            // SAFETY: the job's reference.
            unsafe { locks::release(self.lock) };
        }
        self.instance.library.release();
    }
}

fn run(mut job: Job) {
    // SAFETY: a function of the library, which is held, with its data.
    unsafe { (job.invoke)(job.data) };
    let _guard = qsbr::guard();
    let port = job.instance.port.clone();
    port::request(&port, move |linked, context| match job.instance.library.loaded.entry().ready_async {
        Some(ready) => {
            job.is_delivered = true;
            // SAFETY: a function of the library, for a port of it.
            linked.run(context, |port| unsafe { ready(port, job.data) })
        }
        None => After::Continue,
    });
}

static QUEUE: LazyLock<Mutex<Sender<Job>>> = LazyLock::new(|| {
    let (sender, receiver) = mpsc::channel();
    let begun = std::thread::Builder::new().name("async".into()).spawn(move || receiver.into_iter().for_each(run));
    begun.expect("a thread for the work of drivers");
    Mutex::new(sender)
});

/// Has the work done. Returns its number.
pub fn start(instance: &Arc<Instance>, invoke: Function, data: *mut c_void, free: Option<Function>) -> c_long {
    static NUMBER: AtomicI64 = AtomicI64::new(0);
    instance.library.hold();
    let lock = instance.data_lock.lock().unwrap().unwrap_or(std::ptr::null_mut());
    if !lock.is_null() {
        // SAFETY: the port has a reference.
        unsafe { locks::retain(lock) };
    }
    let job = Job { instance: instance.clone(), invoke, free, data, is_delivered: false, lock };
    let _ = QUEUE.lock().unwrap().send(job);
    // Relaxed: a number.
    NUMBER.fetch_add(1, Ordering::Relaxed) + 1
}
