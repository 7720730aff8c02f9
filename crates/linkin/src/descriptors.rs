//! Descriptors that drivers wait for (`driver_select`). A descriptor is reported again as long as it is ready and selected.

use crate::instance::{self, Instance};
use crate::port;
use heddle_io::ports::poll::{self, Interest};
use heddle_runtime::exit::log_message;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

struct Selected {
    /// The number of the port.
    port: u64,
    /// Tells this use of the descriptor from others, which may have the same number.
    serial: u64,
    reads: bool,
    writes: bool,
}

impl Selected {
    fn wants(&mut self, interest: Interest) -> &mut bool {
        if interest == Interest::Write { &mut self.writes } else { &mut self.reads }
    }
}

static ALL: LazyLock<Mutex<HashMap<RawFd, Selected>>> = LazyLock::new(Mutex::default);
/// Relaxed: only differs from call to call.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// The descriptor is ready: the port is told, if it still wants to know.
fn ready(identity: u64, number: u64, fd: RawFd, interest: Interest, serial: u64) {
    port::request_now(identity, move |linked, context| {
        if !is_wanted(fd, interest, serial) {
            return heddle_io::ports::driver::After::Continue;
        }
        let after = linked.descriptor_ready(fd, interest, context);
        if let Some(instance) = instance::by_number(number) {
            let mut all = ALL.lock().unwrap();
            if all.get_mut(&fd).is_some_and(|selected| selected.serial == serial && *selected.wants(interest)) {
                watch(&instance, fd, interest, serial);
            }
        }
        after
    });
}

fn is_wanted(fd: RawFd, interest: Interest, serial: u64) -> bool {
    ALL.lock().unwrap().get_mut(&fd).is_some_and(|selected| selected.serial == serial && *selected.wants(interest))
}

/// Called with `ALL` locked: else the watch of a port that has lost the descriptor could replace that of its successor.
fn watch(instance: &Instance, fd: RawFd, interest: Interest, serial: u64) {
    let (identity, number) = (instance.port.identity(), instance.port.id);
    let _ = poll::once(fd, interest, Arc::new(move || ready(identity, number, fd, interest, serial)));
}

/// From now on the port is told when the descriptor is ready for one of these. False if the descriptor is none.
pub fn select(instance: &Arc<Instance>, fd: RawFd, interests: &[Interest]) -> bool {
    // SAFETY: only asks if there is such a descriptor.
    if fd < 0 || unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return false;
    }
    let mut all = ALL.lock().unwrap();
    let fresh = || Selected { port: instance.port.id, serial: SERIAL.fetch_add(1, Ordering::Relaxed), reads: false, writes: false };
    let selected = all.entry(fd).or_insert_with(fresh);
    let mut stolen = None;
    if selected.port != instance.port.id {
        let before = std::mem::replace(selected, fresh());
        if before.reads || before.writes {
            stolen = Some(before.port);
        }
        poll::forget(fd);
    }
    let serial = selected.serial;
    for &interest in interests {
        if !std::mem::replace(selected.wants(interest), true) {
            watch(instance, fd, interest, serial);
        }
    }
    drop(all);
    if let Some(port) = stolen {
        log_message(
            "error",
            &format!("driver_select: port #Port<0.{}> takes over descriptor {fd} of port #Port<0.{port}>", instance.port.id),
        );
    }
    true
}

/// The port is told no more of these.
pub fn deselect(instance: &Instance, fd: RawFd, interests: &[Interest]) {
    let mut all = ALL.lock().unwrap();
    let Some(selected) = all.get_mut(&fd).filter(|selected| selected.port == instance.port.id) else { return };
    for &interest in interests {
        if std::mem::take(selected.wants(interest)) {
            poll::cancel(fd, interest);
        }
    }
}

/// The port does not use the descriptor any more, and may close it. Unless `always` only if nothing is selected.
pub fn stop(instance: &Instance, fd: RawFd, always: bool) {
    let mut all = ALL.lock().unwrap();
    // Another port of the driver may have had it before, and wants nothing of it any more.
    if all.get(&fd).is_some_and(|selected| always && selected.port == instance.port.id || !selected.reads && !selected.writes) {
        all.remove(&fd);
        poll::forget(fd);
    }
}

/// The port ends: it uses no descriptors.
pub fn forget_all(instance: &Instance) {
    ALL.lock().unwrap().retain(|&fd, selected| {
        let is_mine = selected.port == instance.port.id;
        if is_mine {
            poll::forget(fd);
        }
        !is_mine
    });
}

/// The library has no function for what the descriptor is ready for.
pub fn not_handled(instance: &Instance, fd: RawFd, interest: Interest) {
    let (what, function) = if interest == Interest::Read { ("Input", "ready_input()") } else { ("Output", "ready_output()") };
    let port = instance.port.id;
    log_message("error", &format!("#Port<0.{port}>: {what} driver callback {function} not implemented (descriptor {fd})"));
    deselect(instance, fd, &[interest]);
}
