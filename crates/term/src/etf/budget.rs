//! How many new atoms and functions another computer may still make.

use super::DecodeError;
use crate::atom::{self, Atom, AtomError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the new atoms and the new entries of the code tables of one connection. Neither are ever removed, so a peer must not make them without
/// bound.
#[derive(Debug)]
pub struct AtomBudget {
    /// Atoms that may still be made.
    /// Relaxed: only the count itself matters.
    left: AtomicUsize,
    /// Functions that have no entry of their own yet and may still be named. Relaxed: as above.
    functions_left: AtomicUsize,
}

/// The part of the atom table that no peer fills: one in eight is left for this node.
const RESERVED_PART: usize = 8;

/// Why a name did not become an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BudgetError {
    /// The budget is used up.
    UsedUp,
    /// The name has more than 255 characters.
    TooLong,
    /// The atom table is full, but for what this node needs itself.
    TableFull,
}

impl AtomBudget {
    pub const fn new(atoms: usize) -> AtomBudget {
        AtomBudget::with_functions(atoms, usize::MAX)
    }

    /// For this number of atoms, and of functions that were never named before.
    pub const fn with_functions(atoms: usize, functions: usize) -> AtomBudget {
        AtomBudget { left: AtomicUsize::new(atoms), functions_left: AtomicUsize::new(functions) }
    }

    /// Atoms that may still be made.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// The atom of this name. A new one is paid for before it is made.
    pub fn atom(&self, name: &str) -> Result<Atom, BudgetError> {
        if let Some(atom) = Atom::existing(name) {
            return Ok(atom);
        }
        let limit = atom::limit();
        if atom::count() >= limit - limit / RESERVED_PART {
            return Err(BudgetError::TableFull);
        }
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).map_err(|_| BudgetError::UsedUp)?;
        Atom::try_new(name).map_err(|error| {
            // No atom was made.
            self.left.fetch_add(1, Ordering::Relaxed);
            match error {
                AtomError::TooLong => BudgetError::TooLong,
                AtomError::TableFull => BudgetError::TableFull,
            }
        })
    }

    /// Pays for a function that gets an entry in the code tables. False if the budget is used up.
    pub fn pay_function(&self) -> bool {
        self.functions_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl From<BudgetError> for DecodeError {
    fn from(error: BudgetError) -> DecodeError {
        match error {
            BudgetError::UsedUp => DecodeError::AtomBudget,
            BudgetError::TooLong => DecodeError::SystemLimit,
            BudgetError::TableFull => DecodeError::AtomTableFull,
        }
    }
}
