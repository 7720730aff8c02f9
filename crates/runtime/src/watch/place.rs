//! Finds where a process is that does not come back, as far as another thread can see that while it runs.
//!
//! Compiled code keeps its code pointer in a register of the processor. A call of a native saves it in the process. So what is found there
//! is the native that was called last, or else the place where the slice began.

use crate::base::qsbr;
use crate::code;
use crate::code::exports;
use crate::process::ProcRef;
use crate::process::proctab;
use crate::sched;
use heddle_term::code_cell::Mfa;
use heddle_term::term::TAG_CONTINUATION;
use heddle_term::text::display::to_string;
use heddle_term::{Atom, Term};
use std::sync::atomic::Ordering;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StuckPlace {
    /// The native that `function` called last.
    pub native: Option<Mfa>,
    pub function: Option<Mfa>,
    /// The function that the process was started with.
    pub initial_call: Mfa,
}

/// Offsets in the cells of a call in place: operation, native, arity, export (`engine::ops::natives`).
const NATIVE_CELL: usize = 1;
const EXPORT_CELL: usize = 3;

impl StuckPlace {
    pub(crate) fn text(&self) -> String {
        let StuckPlace { native, function, initial_call } = self;
        match (native, function) {
            (Some(native), Some(function)) => format!("at or after its call of {native:?} in {function:?}"),
            (Some(native), None) => format!("at or after its call of {native:?}; it was started with {initial_call:?}"),
            (None, Some(function)) => format!("in a slice that began in {function:?}, before any call of a native"),
            (None, None) => format!("which was started with {initial_call:?}"),
        }
    }
}

/// `process <0.80.0> (name)`, or a port.
pub(super) fn name_of(pid: u64) -> String {
    let term = crate::process::identity::term_of(pid);
    let what = if term.is_port() { "port" } else { "process" };
    let name = qsbr::look(|| proctab::lookup(pid).and_then(|p| p.name.load(Ordering::Relaxed).checked_sub(1))).flatten();
    let name = name.map_or(String::new(), |index| format!(" ({})", to_string(Term::atom(Atom::from_index(index)))));
    format!("{what} {}{name}", to_string(term))
}

/// The place of a process; None if the process is gone.
pub(super) fn of(pid: u64) -> Option<StuckPlace> {
    qsbr::look(|| proctab::lookup(pid).map(place)).flatten()
}

fn place(p: ProcRef) -> StuckPlace {
    let local = p.local_ptr();
    // SAFETY: the process is not freed while we look; its owner writes these words at any time, so they are read as they are, each once,
    // and nothing is taken for granted of what they say.
    let (ip, stop, initial_call) = unsafe {
        (
            (&raw const (*local).ip).read_volatile(),
            (&raw const (*local).stop).read_volatile(),
            (&raw const (*local).initial_call).read_volatile(),
        )
    };
    if let Some(found) = code::locate(ip) {
        let cell = |n: usize| found.instance.code.get(found.offset as usize + n).copied().unwrap_or(0);
        return StuckPlace { native: native(cell(NATIVE_CELL), cell(EXPORT_CELL)), function: Some(found.mfa), initial_call };
    }
    StuckPlace { native: own_code(ip), function: caller(stop), initial_call }
}

/// The native with that function and that export. Only if both cells match is it a call.
fn native(function: u64, export: u64) -> Option<Mfa> {
    let mut found = None;
    exports::for_each(|e| {
        if std::ptr::from_ref(e) as u64 == export && e.native.load(Ordering::Relaxed) as u64 == function {
            found = Some(e.mfa);
        }
    });
    found.filter(|_| function != 0)
}

/// The native whose own code `ip` is in, as when it was called with `apply`, or runs on a dirty thread.
fn own_code(ip: *const u64) -> Option<Mfa> {
    sched::engine().native_with_code(ip)
}

/// The function to which the topmost frame returns.
fn caller(stop: *const u64) -> Option<Mfa> {
    let word = Term::from_raw(peek(stop)?);
    // The address of the next cell: the one before belongs to the call.
    let found = word.is_continuation().then(|| code::locate((word.raw() - TAG_CONTINUATION - 8) as *const u64)).flatten();
    found.map(|found| found.mfa)
}

/// Reads a word of this program's memory that may have been unmapped: the operating system reads it, and reports an error then.
fn peek(at: *const u64) -> Option<u64> {
    let mut word = 0u64;
    let size = size_of::<u64>();
    // SAFETY: writes to `word`; what it reads it checks itself.
    let read = unsafe {
        let to = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size };
        let from = libc::iovec { iov_base: at.cast_mut().cast(), iov_len: size };
        libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0)
    };
    (read == size as isize).then_some(word)
}
