//! The identity of a process or port, and the term that names it.

use heddle_term::Term;

/// The payload of a pid or port has 58 bits.
pub(crate) const LARGEST: u64 = (1 << 58) - 1;
/// The bit above the payload, in an identity: set for a port. In a term the type says that.
pub const PORT: u64 = 1 << 58;

/// The identity that a local pid or port names.
#[inline]
pub fn id_of(term: Term) -> u64 {
    if term.is_local_port() { term.payload() | PORT } else { term.payload() }
}

/// The term of an identity.
#[inline(always)]
pub fn term_of(id: u64) -> Term {
    // The bit of ports is above the payload, so it is cut off.
    if id & PORT == 0 { Term::local_pid(id) } else { Term::local_port(id) }
}
