//! Monitors that resources have on processes.

use crate::callbacks::{self, Due};
use crate::env::Env;
use crate::resource::{Monitor, Object};
use heddle_runtime::process::links;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::{RefId, proctab, qsbr, refs, send};
use heddle_term::{Heap, Term};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

struct Watching {
    object: *mut Object,
    pid: u64,
}
// SAFETY: objects may be used by all threads.
unsafe impl Send for Watching {}

/// Monitors that have neither fired nor been removed. Their objects are there: an object removes its monitors before it goes.
static ALL: LazyLock<Mutex<HashMap<RefId, Watching>>> = LazyLock::new(Mutex::default);

/// From now on monitors of resources fire.
pub fn install() {
    let _ = links::OUTSIDE_TERM.set(term);
    let _ = links::OUTSIDE_DOWN.set(fired);
}

/// The object that has the monitor.
fn term(reference: RefId, heap: &mut Heap) -> Option<Term> {
    let all = ALL.lock().unwrap();
    let object = all.get(&reference)?.object;
    // SAFETY: a monitor in the table has an object that is there, and an object without references is left alone.
    unsafe {
        if !Object::keep_if_live(object) {
            return None;
        }
        let (handle, words) = Object::handle(object);
        drop(all);
        Object::release(object);
        Some(heap.magic_reference(words, handle))
    }
}

/// Monitors the process. None if there is no such process.
///
/// # Safety
/// The object is live.
// SAFETY: `enif_monitor_process` calls it with an object of the library.
pub unsafe fn start(object: *mut Object, pid: u64) -> Option<Monitor> {
    let _guard = qsbr::guard();
    let to = proctab::lookup(pid)?;
    let reference = refs::fresh();
    ALL.lock().unwrap().insert(reference, Watching { object, pid });
    // SAFETY: by contract.
    unsafe { (*object).monitors.lock().unwrap().push(reference) };
    let signal = Signal::new(SignalBody::Monitor { watcher: links::OUTSIDE, reference, name: None });
    if send::deliver(to, signal).is_err() {
        take(reference);
        return None;
    }
    Some(Monitor { reference, object: object as usize, unused: 0 })
}

/// Forgets a monitor. Returns what it watched, if it has not fired.
fn take(reference: RefId) -> Option<Watching> {
    let watching = ALL.lock().unwrap().remove(&reference)?;
    // SAFETY: a monitor in the table has a live object.
    unsafe { (*watching.object).monitors.lock().unwrap().retain(|&r| r != reference) };
    Some(watching)
}

/// Removes a monitor of the object. False if it fired already.
pub fn stop(object: *mut Object, monitor: &Monitor) -> bool {
    if monitor.object != object as usize {
        return false;
    }
    let Some(watching) = take(monitor.reference) else { return false };
    tell(monitor.reference, watching.pid);
    true
}

fn tell(reference: RefId, pid: u64) {
    let _guard = qsbr::guard();
    if let Some(to) = proctab::lookup(pid) {
        let _ = send::deliver(to, Signal::new(SignalBody::Demonitor { reference }));
    }
}

/// Removes all monitors of an object that goes.
///
/// # Safety
/// No other thread uses the object.
// SAFETY: `Object::destroy` calls it.
pub unsafe fn drop_all(object: *mut Object) {
    // SAFETY: by contract.
    let all = std::mem::take(&mut *unsafe { &*object }.monitors.lock().unwrap());
    for reference in all {
        let watching = ALL.lock().unwrap().remove(&reference);
        if let Some(watching) = watching {
            tell(reference, watching.pid);
        }
    }
}

/// A monitored process ends. Its own references to the object may go with its heap, before `down` is called: the object is kept until then.
fn fired(reference: RefId, pid: u64) {
    let mut all = ALL.lock().unwrap();
    let Some(watching) = all.remove(&reference) else { return };
    let object = watching.object;
    // SAFETY: the monitor was in the table, so the object is there; one without references waits for this table's lock before it goes.
    let is_live = unsafe {
        (*object).monitors.lock().unwrap().retain(|&r| r != reference);
        Object::keep_if_live(object)
    };
    drop(all);
    if is_live {
        callbacks::add(Due::Down(object, reference, pid));
    }
}

/// A monitored process has ended: calls `down` of the object, and drops the reference that `fired` took.
///
/// # Safety
/// The caller has that reference.
// SAFETY: the thread of call-backs calls it with what `fired` kept.
pub unsafe fn down(object: *mut Object, reference: RefId, pid: u64) {
    // SAFETY: the object is kept.
    let callbacks = unsafe { (*(*object).ty()).callbacks() };
    if let Some(down) = callbacks.down {
        // SAFETY: as above.
        let owner = unsafe { (*(*object).ty()).owner() };
        let mut heap = Heap::new();
        let mut env = Env::callback(owner.as_ref().map_or(std::ptr::null(), Arc::as_ptr), &mut heap);
        let pid = Term::local_pid(pid).raw();
        let monitor = Monitor { reference, object: object as usize, unused: 0 };
        // SAFETY: a function of the library that owns the type, which stays loaded for it.
        unsafe { down(&mut env, Object::data(object), &pid, &monitor) };
        heap.clear();
    }
    // SAFETY: the caller's reference.
    unsafe { Object::release(object) };
}
