//! The cells of the code world that terms point to: exports (fun M:F/A) and fun entries. Both are never freed.

use crate::atom::Atom;
use std::sync::atomic::{AtomicPtr, AtomicUsize};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mfa {
    pub module: Atom,
    pub function: Atom,
    pub arity: u8,
}

impl std::fmt::Debug for Mfa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}/{}", self.module.name(), self.function.name(), self.arity)
    }
}

/// One per M:F/A that anything ever named. Calls load `entry` and jump: replacing code is one store.
#[repr(C)]
pub struct Export {
    /// First code cell of the function, or of this export's stub that calls `error_handler`. Never null once published. Release where code
    /// becomes current, is deleted, or gets a breakpoint (`code_natives`, `exports`, `breakpoints::redirect`); Acquire in calls: a thread that
    /// reads the address sees the cells there.
    pub entry: AtomicPtr<u64>,
    pub mfa: Mfa,
    /// Address of the native that implements it (0 if none); set at start-up. Release in `natives::register`, Acquire in all readers.
    pub native: AtomicUsize,
    /// First code cell of the current version of the module's function, or null if not loaded (the stub is in `entry`). Release in
    /// `code_natives::make_current` and `exports::unload`, Acquire in `exports::is_loaded`.
    pub loaded: AtomicPtr<u64>,
    /// The stub's own cells: handler, address of this export.
    pub stub: [AtomicUsize; 2],
}

/// One per fun expression and module version.
#[repr(C)]
pub struct FunEntry {
    /// First code cell of the fun's function, or of a stub when its module is not loaded. Release where the module's code becomes current
    /// or goes (`code_natives`, `funs`), Acquire in calls: a thread that reads the address sees the cells there.
    pub entry: AtomicPtr<u64>,
    pub module: Atom,
    /// Arity as called, without free variables.
    pub arity: u8,
    pub num_free: u32,
    pub index: u32,
    pub old_uniq: u32,
    /// MD5 of the module.
    pub uniq: [u8; 16],
    /// Name of the fun's function (`'-main/0-fun-0-'`).
    pub function: Atom,
    /// Cells of the stub used while the module is not loaded (handler, address of this entry), and of the one used while its
    /// code is being purged.
    pub stub: [AtomicUsize; 4],
}
