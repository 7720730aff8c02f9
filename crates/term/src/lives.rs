//! Which lives of which nodes terms have named: a node that starts must not take a name and creation that pids and references of an earlier
//! life, which are still in use, have. No entry goes, so that terms need not be counted.

use foldhash::fast::FixedState;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Creations remembered of a node, the latest ones: a peer can make up many.
const MAX: usize = 64;
/// Lives that a thread remembers having entered.
const RECENT: usize = 8;

static LIVES: LazyLock<Mutex<HashMap<u32, VecDeque<u32>, FixedState>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Atom number in the low half, creation above, as in `node`. The atom of all ones is none.
    static ENTERED: [Cell<u64>; RECENT] = const { [const { Cell::new(u64::MAX) }; RECENT] };
}

fn lives() -> MutexGuard<'static, HashMap<u32, VecDeque<u32>, FixedState>> {
    LIVES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A term names this life of the node whose atom has this number.
#[inline]
pub(crate) fn enter(node: u32, creation: u32) {
    let life = node as u64 | (creation as u64) << 32;
    let is_known = ENTERED.with(|entered| entered[(node ^ creation) as usize % RECENT].replace(life) == life);
    if !is_known {
        enter_new(node, creation);
    }
}

#[cold]
fn enter_new(node: u32, creation: u32) {
    let mut lives = lives();
    let creations = lives.entry(node).or_default();
    if !creations.contains(&creation) {
        if creations.len() == MAX {
            creations.pop_front();
        }
        creations.push_back(creation);
    }
}

/// True if a term has named this life of a node.
pub fn is_named(node: u32, creation: u32) -> bool {
    lives().get(&node).is_some_and(|creations| creations.contains(&creation))
}
