//! Memory of literals that are not needed any more. It waits here until the collector of literals (`literals`) takes it.

use crate::observe::locks::LockClass;
use heddle_term::literal::Area;
use std::sync::{Mutex, OnceLock};

/// Memory of the literals that the code of a module refers to. Processes may still refer to some of them when the code goes.
#[derive(Default)]
pub struct Literals(pub Vec<Area>);

impl Drop for Literals {
    fn drop(&mut self) {
        give_up(std::mem::take(&mut self.0));
    }
}

static WAITING: Mutex<Vec<Area>> = Mutex::new(Vec::new());

/// Called when areas wait and none waited before.
pub(crate) static ON_FIRST: OnceLock<fn()> = OnceLock::new();

/// These areas are not needed any more, though processes may still refer to them.
pub fn give_up(areas: Vec<Area>) {
    if areas.is_empty() {
        return;
    }
    let first = {
        let mut waiting = LockClass::Literals.lock(&WAITING);
        let first = waiting.is_empty();
        waiting.extend(areas);
        first
    };
    if first && let Some(tell) = ON_FIRST.get() {
        tell();
    }
}

/// Takes all areas that wait.
pub(crate) fn take_waiting() -> Vec<Area> {
    std::mem::take(&mut *LockClass::Literals.lock(&WAITING))
}
