//! How many new atoms another computer may still make.

use super::DecodeError;
use crate::atom::{Atom, AtomError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the new atoms of one connection. Atoms are never removed, so a peer must not make them without bound.
#[derive(Debug)]
pub struct AtomBudget {
    /// Atoms that may still be made.
    /// Relaxed: only the count itself matters.
    left: AtomicUsize,
}

/// Why a name did not become an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BudgetError {
    /// The budget is used up.
    UsedUp,
    /// The name has more than 255 characters.
    TooLong,
    /// The atom table is full.
    TableFull,
}

impl AtomBudget {
    pub const fn new(atoms: usize) -> AtomBudget {
        AtomBudget { left: AtomicUsize::new(atoms) }
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
