//! Errors of `erl_ddll`: their terms and texts, which are those of stock.

use heddle_term::{Atom, Heap, Term};
use std::sync::Mutex;

/// Why a library was not loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadError {
    Name(&'static str),
    /// The dynamic linker refused it, with the text of this number.
    Linker(usize),
}

/// Texts of the dynamic linker. A program asks for one by its number.
static LINKER_TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// `{open_error, N}`: the number of the first text, and those of later ones go down from it.
const FIRST: i64 = -10;

const TEXTS: &[(&str, &str)] = &[
    ("inconsistent", "Driver name and/or driver options are inconsistent with currently loaded driver"),
    ("linked_in_driver", "Driver is statically linked and cannot be loaded/unloaded"),
    ("permanent", "DDLL driver is permanent an cannot be unloaded/loaded"),
    ("not_loaded", "DDLL driver is not loaded"),
    ("not_loaded_by_this_process", "DDLL driver was not loaded by this process"),
    ("not_pending", "DDLL load not pending for this driver name"),
    ("already_loaded", "DDLL driver is already loaded successfully"),
    ("pending_reload", "Driver reloading is already pending"),
    ("pending_process", "Driver is loaded by others when attempting option {reload, pending_driver}"),
    ("no_error", "No error"),
    ("no_driver_init", "No driver init in dynamic library"),
    ("driver_init_failed", "Driver init failed"),
    ("bad_driver_name", "Bad driver name"),
    ("driver_name_to_long", "Driver name to long"),
    ("driver_incorrect_version", "Driver compiled with incorrect version of erl_driver.h"),
    ("no_ddll_available", "DDLL functionality not available on this platform"),
    ("unspecified_error", "Unspecified dynamic library error"),
    ("symbol_not_found", "Symbol not found in dynamic library"),
];

impl LoadError {
    /// The error of a linker that says this of the file.
    pub fn of_linker(text: &str, file: &[u8]) -> LoadError {
        // As in stock the text begins after the name of the file.
        let file = String::from_utf8_lossy(file);
        let text = text.split_once(&*file).map_or(text, |(_, rest)| rest.trim_start_matches([':', ' ']));
        let mut texts = LINKER_TEXTS.lock().unwrap();
        let at = texts.iter().position(|known| known == text).unwrap_or_else(|| {
            texts.push(text.into());
            texts.len() - 1
        });
        LoadError::Linker(at)
    }

    pub fn term(self, heap: &mut Heap) -> Term {
        match self {
            LoadError::Name(name) => Atom::new(name).into(),
            LoadError::Linker(at) => heap.tuple(&[Atom::new("open_error").into(), Term::small(FIRST - at as i64)]),
        }
    }
}

/// The text of an error's term.
pub fn text(error: Term) -> Option<String> {
    if let Some(name) = error.as_atom() {
        return TEXTS.iter().find(|(known, _)| *known == name.name()).map(|(_, text)| (*text).into());
    }
    let &[kind, number] = error.as_tuple()? else { return None };
    if !kind.is_atom_of(Atom::new("open_error")) {
        return None;
    }
    let number = number.as_small()?;
    let at = usize::try_from(FIRST - number).ok();
    let text = at.and_then(|at| LINKER_TEXTS.lock().unwrap().get(at).cloned());
    Some(text.unwrap_or_else(|| if number > FIRST { "Unspecified error" } else { "Unknown dlload error" }.into()))
}
