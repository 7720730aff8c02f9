//! Ports: their properties, locks for their data, and ports that drivers make.

use crate::calls;
use crate::instance::{self, PortHandle};
use crate::locks::{self, DataLock};
use crate::port::Linked;
use heddle_io::errno;
use heddle_io::ports::driver::After;
use heddle_io::ports::gate::Limits;
use heddle_io::ports::options::Packet;
use heddle_runtime::signal::{Signal, SignalBody};
use heddle_runtime::{proctab, qsbr, send};
use heddle_term::{Atom, Term, am};
use libc::{c_char, c_int, size_t};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

/// `ERL_DRV_BUSY_MSGQ_DISABLED`.
const NEVER_BUSY: size_t = size_t::MAX;

/// The limits that follow from a request for new ones; 0: as it is.
fn limits(old: (usize, usize), mut low: usize, mut high: usize) -> (usize, usize) {
    if low == 0 {
        low = old.0;
    }
    let high_before = if high == 0 { old.1.max(low) } else { old.1 };
    if high == 0 {
        high = high_before;
    }
    (low.min(high), high)
}

api! { FUNCTIONS:
    fn erl_drv_busy_msgq_limits(port: PortHandle, low: *mut size_t, high: *mut size_t) {
        let instance = instance::of(port);
        let found = instance.as_ref().and_then(|instance| instance.port.gate.signals().bytes());
        let read = |at: *mut size_t| if at.is_null() { 0 } else { *at };
        let (wanted_low, wanted_high) = (read(low), read(high));
        let (mut new_low, mut new_high) = (NEVER_BUSY, NEVER_BUSY);
        if let (Some(instance), Some(old)) = (instance, found) {
            if wanted_low == NEVER_BUSY || wanted_high == NEVER_BUSY {
                instance.port.gate.set_signals(Limits::NEVER);
                (new_low, new_high) = (wanted_low, wanted_high);
            } else {
                (new_low, new_high) = limits(old, wanted_low, wanted_high);
                instance.port.gate.set_signals(Limits::new(new_low, new_high));
            }
        }
        if !low.is_null() {
            *low = new_low;
        }
        if !high.is_null() {
            *high = new_high;
        }
    }
    fn set_busy_port(port: PortHandle, on: c_int) {
        if let Some(instance) = instance::of(port) {
            instance.port.set_busy(on != 0);
        }
    }
    fn set_port_control_flags(port: PortHandle, flags: c_int) {
        if let Some(instance) = instance::of(port) {
            instance.control_flags.store(flags, Ordering::Relaxed);
        }
    }
    fn get_port_flags(port: PortHandle) -> c_int {
        let Some(instance) = instance::of(port) else { return 0 };
        instance.port.binary as c_int | if matches!(instance.port.packet, Packet::Line(_)) { 2 } else { 0 }
    }
    fn driver_pdl_create(port: PortHandle) -> *mut DataLock {
        let Some(instance) = instance::of(port) else { return null_mut() };
        let mut lock = instance.data_lock.lock().unwrap();
        if lock.is_some() {
            return null_mut();
        }
        *lock.insert(locks::create())
    }
    fn driver_pdl_lock(lock: *mut DataLock) {
        locks::lock(lock)
    }
    fn driver_pdl_unlock(lock: *mut DataLock) {
        locks::unlock(lock)
    }
    fn driver_pdl_get_refc(lock: *mut DataLock) -> i64 {
        locks::references(lock)
    }
    fn driver_pdl_inc_refc(lock: *mut DataLock) -> i64 {
        locks::retain(lock)
    }
    fn driver_pdl_dec_refc(lock: *mut DataLock) -> i64 {
        locks::release(lock)
    }
    fn driver_create_port(creator: PortHandle, owner: Term, name: *const c_char, data: crate::entry::Data) -> PortHandle {
        let Some(creator) = instance::of(creator) else { return PortHandle::INVALID };
        let _guard = qsbr::guard();
        let Some(process) = owner.is_local_pid().then(|| proctab::find(owner)).flatten() else { return PortHandle::INVALID };
        let library = creator.library.clone();
        library.opens();
        let label = crate::text::latin1(name);
        let Some(port) = heddle_io::ports::open::with_driver(&label, Box::new(Linked::made(library)), owner.payload()) else {
            return PortHandle::INVALID;
        };
        let made = PortHandle::of(port.id);
        if let Some(instance) = instance::of(made) {
            instance.set_data(data);
        }
        let _ = send::deliver(process, Signal::new(SignalBody::Link { from: port.term() }));
        made
    }
    fn erl_drv_init_ack(port: PortHandle, data: crate::entry::Data) {
        // The thread's errno, before anything changes it.
        let errno = *libc::__errno_location();
        let Some(instance) = instance::of(port) else { return };
        let Some(error) = calls::refusal(data as isize, errno) else {
            instance.set_data(data);
            instance.port.started(instance.port.term());
            return;
        };
        let owner = Term::local_pid(instance.port.owner());
        instance.act(move |context| {
            context.unlink_from(owner);
            After::Continue
        });
        let name = error.raw_os_error().map(errno::name);
        instance.port.started(name.map_or(am::BADARG.into(), |name| Atom::new(name).into()));
        instance.fail(am::NORMAL.into());
    }
    fn erl_drv_set_os_pid(port: PortHandle, pid: i64) {
        if let Some(instance) = instance::of(port) {
            // Relaxed: a figure.
            instance.port.os_pid.store(pid as u64, Ordering::Relaxed);
        }
    }
}
