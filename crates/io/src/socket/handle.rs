//! The handle of an operation: a reference that the caller chose, by which messages name the operation.

use heddle_runtime::RefId;
use heddle_term::{Heap, Kind, Term};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    id: RefId,
    /// The process that the reference is an alias of.
    alias: Option<u64>,
}

impl Handle {
    /// None for anything but a reference of this node.
    pub fn of(term: Term) -> Option<Handle> {
        let id = RefId::of(term)?;
        let is_alias = term.is_kind(Kind::Ref) && term.header().arity() == 3;
        Some(Handle { id, alias: is_alias.then(|| term.word(2)) })
    }

    pub fn term(self, heap: &mut Heap) -> Term {
        match self.alias {
            Some(pid) => heap.alias_reference(self.id.words(), pid),
            None => heap.reference(self.id.words()),
        }
    }
}
