//! Places in programs, as stack traces show them. A trace has few places and is made of the same ones again and again, so each
//! thread remembers those that it looked up last.

use crate::code;
use heddle_term::code_cell::Mfa;
use std::cell::RefCell;

/// Function, file and line of a code address.
pub struct CodePlace {
    pub mfa: Mfa,
    /// The contents of the code cell when the place was looked up.
    pub code: u64,
    pub line: Option<(Box<str>, u32)>,
}

struct Known {
    cell: *const u64,
    version: u64,
    /// None: there is no code at this address.
    place: Option<CodePlace>,
}

/// A power of two.
const KNOWN: usize = 128;

thread_local! {
    /// The place of an address can only be in one slot, see `slot`.
    static PLACES: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

fn slot(cell: *const u64) -> usize {
    ((cell as u64 >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (KNOWN - 1)
}

/// The result of `f` for the place of a code address. `f` must not call this again. For return addresses see `code::locate`.
pub fn with<R>(cell: *const u64, f: impl FnOnce(Option<&CodePlace>) -> R) -> R {
    // Read before the lookup: if code changes meanwhile, the answer belongs to an old version and is not used again.
    let version = code::version();
    PLACES.with_borrow_mut(|places| {
        if places.is_empty() {
            places.resize_with(KNOWN, || None);
        }
        let slot = &mut places[slot(cell)];
        match slot {
            Some(known) if known.cell == cell && known.version == version => f(known.place.as_ref()),
            _ => f(slot.insert(Known { cell, version, place: look_up(cell) }).place.as_ref()),
        }
    })
}

#[cold]
#[inline(never)]
fn look_up(cell: *const u64) -> Option<CodePlace> {
    let found = code::locate(cell)?;
    let line = found.instance.line_at(found.offset).map(|(file, line)| (file.into(), line));
    Some(CodePlace { mfa: found.mfa, code: found.instance.code[found.offset as usize], line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Function, Instance, LineEntry};
    use heddle_term::Atom;
    use std::sync::Arc;

    fn instance(function: &str, line: u32) -> Arc<Instance> {
        Arc::new(Instance {
            functions: vec![Function { start: 0, entry: 4, name: Atom::new(function), arity: 2 }],
            lines: vec![LineEntry { offset: 4, file: 0, line }],
            file_names: vec!["places.erl".into()],
            ..Instance::bare(Atom::new("places_test"), vec![0; 8].into())
        })
    }

    fn shown(cell: *const u64) -> String {
        with(cell, |place| match place {
            None => "nothing".into(),
            Some(CodePlace { mfa, line: None, .. }) => format!("{}/{}", mfa.function.name(), mfa.arity),
            Some(CodePlace { mfa, line: Some((file, line)), .. }) => format!("{}/{} {file}:{line}", mfa.function.name(), mfa.arity),
        })
    }

    #[test]
    fn a_place_is_known_until_code_changes() {
        let mut first = instance("one", 7);
        let cell = &raw const first.code[5];
        assert_eq!(shown(cell), "nothing");
        code::add_range(&first);
        assert_eq!((shown(cell).as_str(), shown(cell).as_str()), ("one/2 places.erl:7", "one/2 places.erl:7"));
        code::remove_range(&first);
        assert_eq!(shown(cell), "nothing");
        // Other code at the same address.
        let changed = Arc::get_mut(&mut first).expect("no one else has it");
        changed.functions[0].name = Atom::new("two");
        changed.lines[0].line = 8;
        code::add_range(&first);
        assert_eq!(shown(cell), "two/2 places.erl:8");
        assert_eq!(shown(&raw const first.code[1]), "two/2", "before the first line");
        code::remove_range(&first);
    }
}
