//! Descriptors that libraries wait for (`enif_select`): when one is ready, a process gets a message, once.

use crate::env::Env;
use crate::resource::Object;
use heddle_runtime::process::host::{Interest, host};
use heddle_runtime::{Package, send};
use heddle_term::Heap;
use libc::c_int;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::{Arc, LazyLock, Mutex};

/// A message, and the process that gets it.
pub struct Notice {
    pub pid: u64,
    pub message: Package,
}

struct Watch {
    /// Has one reference.
    object: *mut Object,
    /// By `slot`.
    notices: [Option<Notice>; 3],
}
// SAFETY: objects may be used by all threads.
unsafe impl Send for Watch {}

static WATCHES: LazyLock<Mutex<HashMap<RawFd, Watch>>> = LazyLock::new(Mutex::default);

pub fn slot(interest: Interest) -> usize {
    match interest {
        Interest::Read => 0,
        Interest::Write => 1,
        Interest::Error => 2,
    }
}

pub enum Refused {
    /// No descriptor.
    Invalid,
    /// The system cannot wait for it.
    Failed,
}

/// The descriptor is ready.
fn fire(fd: RawFd, interest: Interest) {
    let notice = WATCHES.lock().unwrap().get_mut(&fd).and_then(|watch| watch.notices[slot(interest)].take());
    if let Some(Notice { pid, message }) = notice {
        send::message_to_pid(pid, message);
    }
}

/// Sends the notice when the descriptor is ready.
///
/// # Safety
/// The object is live.
// SAFETY: `enif_select` calls it with an object of the library.
pub unsafe fn add(fd: RawFd, object: *mut Object, interest: Interest, notice: Notice) -> Result<(), Refused> {
    if fd < 0 {
        return Err(Refused::Invalid);
    }
    let stolen = {
        let mut watches = WATCHES.lock().unwrap();
        let mut stolen = None;
        let watch = watches.entry(fd).or_insert_with(|| {
            // SAFETY: by contract.
            unsafe { (*object).keep() };
            Watch { object, notices: [None, None, None] }
        });
        if watch.object != object {
            // SAFETY: by contract.
            unsafe { (*object).keep() };
            stolen = Some(std::mem::replace(watch, Watch { object, notices: [None, None, None] }));
        }
        watch.notices[slot(interest)] = Some(notice);
        stolen
    };
    if let Some(Watch { object, .. }) = stolen {
        heddle_runtime::exit::log_message("error", &format!("enif_select: another resource takes over descriptor {fd}"));
        // SAFETY: the watch had a reference.
        unsafe { Object::release(object) };
    }
    host().watch_descriptor(fd, interest, Arc::new(move || fire(fd, interest))).map_err(|_| {
        forget(fd);
        Refused::Failed
    })
}

/// No longer watches the descriptor.
fn forget(fd: RawFd) -> Option<Watch> {
    let watch = WATCHES.lock().unwrap().remove(&fd)?;
    // SAFETY: the watch had a reference.
    unsafe { Object::release(watch.object) };
    Some(Watch { object: std::ptr::null_mut(), notices: watch.notices })
}

/// Takes back the notices of these interests. Returns which there were.
pub fn cancel(fd: RawFd, interests: &[Interest]) -> Vec<Interest> {
    let mut watches = WATCHES.lock().unwrap();
    let Some(watch) = watches.get_mut(&fd) else { return Vec::new() };
    interests.iter().copied().filter(|&i| watch.notices[slot(i)].take().is_some()).collect()
}

/// Ends all waiting for the descriptor, and calls `stop` of the object. Returns which notices there were.
///
/// # Safety
/// The object is live.
// SAFETY: as `add`.
pub unsafe fn stop(fd: RawFd, object: *mut Object) -> Vec<Interest> {
    let pending = cancel(fd, &[Interest::Read, Interest::Write, Interest::Error]);
    // SAFETY: by contract; kept, as the watch may have the last reference.
    unsafe { (*object).keep() };
    if WATCHES.lock().unwrap().contains_key(&fd) {
        host().forget_descriptor(fd);
        forget(fd);
    }
    // SAFETY: the object is live, and has a type.
    let ty = unsafe { &*(*object).ty() };
    if let Some(stop) = ty.callbacks().stop {
        let owner = ty.owner();
        let mut heap = Heap::new();
        let mut env = Env::callback(owner.as_ref().map_or(std::ptr::null(), Arc::as_ptr), &mut heap);
        let is_direct: c_int = 1;
        // SAFETY: a function of the library that owns the type.
        unsafe { stop(&mut env, Object::data(object), fd, is_direct) };
        heap.clear();
    }
    // SAFETY: kept above.
    unsafe { Object::release(object) };
    pending
}
