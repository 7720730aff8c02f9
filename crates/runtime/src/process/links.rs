//! What a process knows of others: links, monitors it made, monitors on it, aliases. Kept outside the heap.

use crate::base::refs::RefId;
use crate::process::remote::RemoteRelations;
use crate::signal::package::Package;
use foldhash::fast::FixedState;
use heddle_term::{Atom, Heap, Term};
use std::collections::HashMap;
use std::sync::OnceLock;

type Map<K, V> = HashMap<K, V, FixedState>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub active: bool,
    /// Identifier of our unlink that is not acknowledged yet, or 0.
    pub unlinking: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AliasMode {
    /// No alias.
    None,
    /// Until unalias (`explicit_unalias`).
    Explicit,
    /// Until demonitor or 'DOWN'.
    Demonitor,
    /// As Demonitor, and ends as soon as a message came through it.
    ReplyDemonitor,
    /// From alias/1 with option reply.
    Reply,
}

/// A monitor that this process made.
pub struct Monitoring {
    /// Pid or port (immediate), or NONE when the target is a name that did not exist.
    pub target: Term,
    /// Set when the monitor was made by name: shows in the message as {Name, Node}.
    pub name: Option<Atom>,
    pub alias: AliasMode,
    /// First element of the message instead of 'DOWN'.
    pub tag: Option<Package>,
    pub kind: MonitorKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MonitorKind {
    Process,
    Port,
    TimeOffset,
}

/// The watcher of a monitor that something outside of all processes has: see `OUTSIDE_DOWN`.
pub const OUTSIDE: Term = Term::NIL;

/// Called when a process ends that something outside of all processes monitors: reference of the monitor, number of the process. It may
/// not wait. Set at the start by what makes such monitors.
pub static OUTSIDE_DOWN: OnceLock<fn(RefId, u64)> = OnceLock::new();

/// Builds the term by which `process_info` shows what has a monitor from outside of all processes; None if it is gone. Set with
/// `OUTSIDE_DOWN`.
pub static OUTSIDE_TERM: OnceLock<fn(RefId, &mut Heap) -> Option<Term>> = OnceLock::new();

fn outside(reference: RefId, heap: &mut Heap) -> Option<Term> {
    OUTSIDE_TERM.get().and_then(|term| term(reference, heap))
}

pub(crate) fn tell_outside(reference: RefId, pid: u64) {
    if let Some(down) = OUTSIDE_DOWN.get() {
        down(reference, pid);
    }
}

/// A monitor on this process.
#[derive(Clone, Copy)]
pub struct Watcher {
    pub watcher: Term,
    pub name: Option<Atom>,
    /// Monitors that were made later have larger numbers.
    made: u64,
}

#[derive(Default)]
pub struct Relations {
    inner: Option<Box<RelationMaps>>,
}

#[derive(Default)]
pub struct RelationMaps {
    /// By raw pid or port term.
    pub links: Map<Term, Link>,
    pub monitoring: Map<RefId, Monitoring>,
    pub watchers: Map<RefId, Watcher>,
    pub aliases: Map<RefId, AliasMode>,
    /// The identifier of the last unlink.
    pub last_unlink: u64,
    /// How many monitors on this process were made.
    watched: u64,
    /// Relations to processes of other nodes.
    pub remote: Option<Box<RemoteRelations>>,
}

impl RelationMaps {
    pub fn remote(&mut self) -> &mut RemoteRelations {
        self.remote.get_or_insert_default()
    }

    /// A monitor on this process was made.
    pub fn watch(&mut self, reference: RefId, watcher: Term, name: Option<Atom>) {
        self.watched += 1;
        self.watchers.insert(reference, Watcher { watcher, name, made: self.watched });
    }

    /// The monitors on this process in the order in which they were made. Their notices are sent in this order, as the stock
    /// emulator does.
    pub(crate) fn watchers_in_order(&self) -> Vec<(RefId, Watcher)> {
        let mut all: Vec<_> = self.watchers.iter().map(|(reference, watcher)| (*reference, *watcher)).collect();
        all.sort_unstable_by_key(|(_, watcher)| watcher.made);
        all
    }

    /// `monitored_by` of `process_info`: the last monitor first.
    pub fn monitored_by(&self, heap: &mut Heap) -> Vec<Term> {
        let all = self.watchers_in_order();
        all.iter()
            .rev()
            .filter_map(|&(reference, w)| if w.watcher == OUTSIDE { outside(reference, heap) } else { Some(w.watcher) })
            .collect()
    }
}

impl Relations {
    pub fn get(&self) -> Option<&RelationMaps> {
        self.inner.as_deref()
    }
    pub fn get_mut(&mut self) -> Option<&mut RelationMaps> {
        self.inner.as_deref_mut()
    }
    pub fn make(&mut self) -> &mut RelationMaps {
        self.inner.get_or_insert_default()
    }
    pub(crate) fn take(&mut self) -> Option<Box<RelationMaps>> {
        self.inner.take()
    }
    #[cfg(test)]
    pub(crate) fn is_linked(&self, other: Term) -> bool {
        self.get().is_some_and(|i| i.links.get(&other).is_some_and(|l| l.active))
    }
}
