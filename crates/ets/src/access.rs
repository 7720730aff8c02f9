//! From a table argument to the table, with the rights of the caller and the errors of stock.

use super::registry;
use super::table::{Protection, Table};
use heddle_natives::args::borrowed_resource;
use heddle_runtime::process::{Process, Thrown};
use heddle_runtime::qsbr::Online;
use heddle_term::{Atom, Term};

/// `Process::flags` bit: `erts_internal:ets_super_user(true)`.
pub const FLAG_SUPER_USER: u16 = 1 << 15;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Right {
    Read,
    Write,
    /// No access to contents: `info`.
    Info,
}

/// A live table, whatever its protection. It is there as long as the argument of the native that names it.
pub fn find(term: &Term) -> Option<&Table> {
    let table = match term.as_atom() {
        Some(name) => registry::named(name, Online::in_native(term))?,
        None => borrowed_resource::<Table>(term)?,
    };
    table.is_alive().then_some(table)
}

/// True for terms that could name a table.
pub fn is_id(term: Term) -> bool {
    term.is_atom() || borrowed_resource::<Table>(&term).is_some()
}

#[cold]
pub fn cause(p: &mut Process, cause: &str) -> Thrown {
    p.badarg_cause(Atom::new(cause))
}

#[cold]
pub fn missing(p: &mut Process, term: Term) -> Thrown {
    cause(p, if is_id(term) { "id" } else { "type" })
}

/// The table of an argument, or the error that stock has.
pub fn table<'a>(p: &mut Process, term: &'a Term, right: Right) -> Result<&'a Table, Thrown> {
    let Some(table) = find(term) else { return Err(missing(p, *term)) };
    let allowed = match right {
        Right::Info => true,
        Right::Read => table.protection() != Protection::Private || table.owner() == p.pid(),
        Right::Write => table.protection() == Protection::Public || table.owner() == p.pid(),
    };
    if allowed || p.flags & FLAG_SUPER_USER != 0 {
        return Ok(table);
    }
    Err(cause(p, "access"))
}

/// Called after an operation that found nothing: the table may have been deleted meanwhile, which is an error.
pub fn still_there(p: &mut Process, term: Term, table: &Table) -> Result<(), Thrown> {
    if table.is_alive() { Ok(()) } else { Err(missing(p, term)) }
}
