//! The registry of natives: which Rust function implements an M:F/A. Filled at start-up from the tables of the crates that
//! implement them; `abi`'s inventory says what should be there.

use crate::code::exports;
use crate::process::NativeFn;
use heddle_term::Atom;
use heddle_term::code_cell::Mfa;
use std::sync::atomic::Ordering;

/// A row of an implementing file's table.
pub struct Native {
    pub module: &'static str,
    pub function: &'static str,
    pub arity: u8,
    pub run: NativeFn,
}

/// Lists natives beside their functions:
/// `natives! { TABLE: "lists" => { "reverse"/2 => reverse_2, ... } ... }`
#[macro_export]
macro_rules! natives {
    ($table:ident: $($module:literal => { $($function:literal / $arity:literal => $run:path),* $(,)? })*) => {
        pub const $table: &[$crate::code::natives::Native] = &[
            $($($crate::code::natives::Native { module: $module, function: $function, arity: $arity, run: $run }),*),*
        ];
    };
}

/// Natives that were registered twice, which is a mistake. A test checks that there are none.
pub(crate) static DUPLICATES: std::sync::Mutex<Vec<Mfa>> = std::sync::Mutex::new(Vec::new());

/// Makes the natives of a table callable.
pub fn register(table: &[Native]) {
    for native in table {
        let mfa = Mfa { module: Atom::new(native.module), function: Atom::new(native.function), arity: native.arity };
        let export = exports::get(mfa);
        let old = export.native.swap(native.run as usize, Ordering::Release);
        if old != 0 {
            DUPLICATES.lock().unwrap().push(mfa);
        }
    }
}

/// The native that implements an export.
pub fn of(export: &heddle_term::Export) -> Option<NativeFn> {
    match export.native.load(Ordering::Acquire) {
        0 => None,
        // SAFETY: only `register` stores here, and it stores a NativeFn.
        address => Some(unsafe { std::mem::transmute::<usize, NativeFn>(address) }),
    }
}
