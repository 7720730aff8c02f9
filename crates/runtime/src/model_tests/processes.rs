//! Processes without an engine, for models.

use crate::heap::mode;
use crate::process::{self, ProcRef, Process, SpawnOptions};
use heddle_term::{Atom, Mfa, Term};

/// One that is in no table.
pub(crate) fn make(pid: u64) -> ProcRef {
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(pid), pid, &SpawnOptions::default());
    mode::init_block(&mut local, 0);
    process::allocate(pid, local)
}
