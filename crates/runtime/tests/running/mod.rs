//! Processes without an engine, for the tests of heaps: the calling thread runs them, as far as others see.

use heddle_runtime::mode;
use heddle_runtime::process::{self, ProcRef, Process, SpawnOptions};
use heddle_runtime::proctab;
use heddle_term::{Atom, Mfa, Term};

/// A process that is in the table, with room for `need_words` words.
pub fn process(need_words: usize) -> ProcRef {
    let pid = proctab::reserve().unwrap();
    let mfa = Mfa { module: Atom::new("m"), function: Atom::new("f"), arity: 0 };
    let mut local = Process::blank(mfa, Term::local_pid(pid), pid, &SpawnOptions::default());
    mode::init_block(&mut local, need_words);
    let p = process::allocate(pid, local);
    mode::remember(&p);
    proctab::publish(p);
    let _ = p.state.wake();
    let _ = p.state.start_running();
    p
}

pub fn end(p: ProcRef) {
    proctab::remove(p);
    // SAFETY: this thread made it, and runs it alone.
    unsafe {
        mode::abandon(p.local());
        process::deallocate(p);
    }
}
