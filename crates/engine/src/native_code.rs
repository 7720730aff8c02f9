//! Natives as functions: each gets a small piece of code, so that calls through exports, apply and funs reach it like any
//! other function.

use crate::ctx::FUNC_HEADER_CELLS;
use crate::ops::calls::func_info;
use crate::ops::natives::native_body;
use heddle_runtime::{Process, exports};
use heddle_term::{Export, Mfa, Term, am};
use std::sync::atomic::Ordering;

/// Makes the code of every export with a native, and points the export there. Called once, after the natives are registered.
pub fn install() {
    exports::for_each(|export| {
        let native = export.native.load(Ordering::Acquire);
        if native == 0 {
            return;
        }
        let cells = cells(export, native);
        let entry = Box::leak(cells).as_mut_ptr().wrapping_add(FUNC_HEADER_CELLS);
        export.entry.store(entry, Ordering::Release);
    });
}

/// The same function twice: a native that yielded continues at the second one, so a breakpoint in the first one only sees calls.
pub(crate) fn cells(export: &Export, native: usize) -> Box<[u64]> {
    let once = [
        func_info as *const () as u64,
        Term::atom(export.mfa.module).raw(),
        Term::atom(export.mfa.function).raw(),
        export.mfa.arity as u64,
        native_body as *const () as u64,
        native as u64,
        export as *const Export as u64,
    ];
    [once, once].concat().into_boxed_slice()
}

const CELLS: usize = FUNC_HEADER_CELLS + 3;

/// The address at which the native continues.
pub fn resume(export: &Export) -> *const u64 {
    entry(export).wrapping_add(CELLS)
}

/// The native at which the process stands.
pub(crate) fn of(p: &Process) -> Option<Mfa> {
    let cell = p.ip;
    // SAFETY: a process stands at an operation; that of a native is followed by its export.
    unsafe { (*cell == native_body as *const () as u64).then(|| (*(*cell.add(2) as *const Export)).mfa) }
}

/// The native whose own code begins, or continues, at `cell`, which may be any address.
pub(crate) fn with_code(cell: *const u64) -> Option<Mfa> {
    let mut found = None;
    exports::for_each(|export| {
        if export.native.load(Ordering::Relaxed) != 0 && (cell == entry(export) || cell == resume(export)) {
            found = Some(export.mfa);
        }
    });
    found
}

/// First cell of the native's function. Only `install` sets a native's export.
pub fn entry(export: &Export) -> *const u64 {
    export.entry.load(Ordering::Acquire)
}

/// Natives whose exception belongs to the frame that called them.
pub fn raises_for_caller(export: &Export) -> bool {
    let mfa = export.mfa;
    mfa.module == am::ERLANG
        && matches!(mfa.function, am::ERROR | am::EXIT | am::THROW | am::RAISE)
        && !(mfa.function == am::EXIT && mfa.arity == 2)
}
