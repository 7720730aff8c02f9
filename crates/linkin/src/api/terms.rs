//! Terms: identities, and messages that libraries describe.

use crate::instance::{self, PortHandle};
use crate::{terms, text};
use heddle_io::ports::{self, tracing};
use heddle_runtime::{qsbr, sched, send};
use heddle_term::{Atom, Term};
use libc::{c_char, c_int};

/// Sends the term that the words describe. Returns 1 if it was sent, 0 if there is no such process, -1 if the words describe no term.
fn deliver(port: Option<Term>, to: Term, words: &[u64]) -> c_int {
    let _guard = qsbr::guard();
    let Some(message) = terms::message(words) else { return -1 };
    if !to.is_local_pid() {
        return 0;
    }
    // As in stock, threads of libraries are not traced.
    if let Some(port) = port.filter(|_| sched::current_index().is_some()) {
        tracing::sent(port, to.payload(), message.term());
    }
    send::message_from(port.unwrap_or(Term::NONE), to.payload(), message) as c_int
}

/// The words of a description.
///
/// # Safety
/// There are as many words.
// SAFETY: functions of the interface call it with the words that the library passes.
unsafe fn words<'a>(at: *const u64, count: c_int) -> &'a [u64] {
    if at.is_null() || count <= 0 {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(at, count as usize) }
}

/// Sends from a port to a process (None: to its owner).
fn from_port(port: PortHandle, to: Option<Term>, words: &[u64]) -> c_int {
    let Some(instance) = instance::of(port) else { return -1 };
    if let Some(result) = instance.refuses() {
        return result;
    }
    let to = to.unwrap_or_else(|| Term::local_pid(instance.port.owner()));
    deliver(Some(instance.port.term()), to, words)
}

/// `driver_term_nil`: a word that libraries may read without a call.
// SAFETY: the name belongs to this interface, and is defined once.
#[unsafe(no_mangle)]
pub static driver_term_nil: Term = Term::NIL;

api! { FUNCTIONS:
    fn driver_mk_atom(name: *const c_char) -> Term {
        Atom::new(&text::latin1(name)).into()
    }
    fn driver_mk_port(port: PortHandle) -> Term {
        instance::of(port).map_or(Term::NIL, |instance| instance.port.term())
    }
    fn driver_connected(port: PortHandle) -> Term {
        instance::of(port).map_or(Term::NIL, |instance| Term::local_pid(instance.port.owner()))
    }
    fn driver_caller(port: PortHandle) -> Term {
        let caller = instance::of(port).and_then(|instance| instance::caller(&instance));
        caller.map_or(Term::NIL, Term::local_pid)
    }
    fn driver_mk_term_nil() -> Term {
        Term::NIL
    }
    fn driver_output_term(port: PortHandle, data: *const u64, count: c_int) -> c_int {
        from_port(port, None, words(data, count))
    }
    fn driver_send_term(port: PortHandle, to: Term, data: *const u64, count: c_int) -> c_int {
        from_port(port, Some(to), words(data, count))
    }
    fn erl_drv_output_term(port: Term, data: *const u64, count: c_int) -> c_int {
        let Some(found) = ports::find(port) else { return -1 };
        if let Some(result) = instance::by_number(found.id).and_then(|instance| instance.refuses()) {
            return result;
        }
        deliver(Some(port), Term::local_pid(found.owner()), words(data, count))
    }
    fn erl_drv_send_term(port: Term, to: Term, data: *const u64, count: c_int) -> c_int {
        let Some(found) = ports::find(port) else { return -1 };
        if let Some(result) = instance::by_number(found.id).and_then(|instance| instance.refuses()) {
            return result;
        }
        deliver(Some(port), to, words(data, count))
    }
}
