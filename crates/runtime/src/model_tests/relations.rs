//! Links, monitors and aliases of several processes, whose signals are handled late and in any order between processes, against what the
//! documents promise: see `Relations::quiesce`. Thresholds: none in the structure (hash maps); the numbers are of relations of one process.

use super::processes::make;
use crate::base::refs::RefId;
use crate::base::{qsbr, refs};
use crate::lifecycle::exit;
use crate::lifecycle::handle::{self, After};
use crate::process::links::{AliasMode, MonitorKind};
use crate::process::proctab;
use crate::process::{ProcRef, Process};
use crate::signal::package::Package;
use crate::signal::send;
use crate::signal::{Signal, SignalBody};
use heddle_model::{Random, Subject, run};
use heddle_term::{Atom, Term, am};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Once;

/// What one end of a pair did last since all signals were handled.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Did {
    Nothing,
    Link,
    Unlink,
}

struct Monitor {
    watcher: usize,
    target: Term,
    /// Index of the target, unless it has ended.
    slot: Option<usize>,
    alias: AliasMode,
    demonitored: bool,
    downs: usize,
}

struct Alias {
    owner: usize,
    mode: AliasMode,
    active: bool,
}

struct Relations {
    /// Those with an even number trap exits.
    slots: Vec<ProcRef>,
    /// Pairs whose ends were linked when all signals were last handled, smaller number first.
    linked: BTreeSet<(usize, usize)>,
    did: BTreeMap<(usize, usize), Did>,
    monitors: BTreeMap<RefId, Monitor>,
    aliases: BTreeMap<RefId, Alias>,
    /// Processes that ended: pid, and the reason that others see.
    dead: Vec<(Term, Term)>,
    /// 'EXIT' messages: receiver's and sender's pid to how many.
    exits: BTreeMap<(u64, u64), usize>,
    /// Receiver's and sender's pid, from an unlink of the receiver on until one of the two links again.
    unlinked: BTreeSet<(u64, u64)>,
    /// What a process that ended had to tell: receiver's and sender's pid.
    owed: Vec<(u64, u64)>,
    /// Numbers of messages that came through aliases.
    arrived: BTreeSet<i64>,
    next: i64,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Link(usize, usize),
    Unlink(usize, usize),
    /// To a process that ended.
    LinkGone(usize, u64),
    Monitor(usize, usize, u64),
    MonitorGone(usize, u64),
    Demonitor(u64),
    Alias(usize, bool),
    Unalias(u64),
    SendAlias(u64),
    Handle(usize),
    End(usize, u64),
    Quiesce,
}

const SLOTS: u64 = 40;
const MODES: [AliasMode; 4] = [AliasMode::None, AliasMode::Explicit, AliasMode::Demonitor, AliasMode::ReplyDemonitor];

/// Makes a process that is in the table, and that for others is run by the calling thread.
fn process(traps: bool) -> ProcRef {
    let pid = proctab::reserve().expect("room in the table");
    let p = make(pid);
    // SAFETY: this thread made it, and runs it alone.
    unsafe { p.local() }.trap_exit = traps;
    proctab::publish(p);
    let _ = p.state.wake();
    let _ = p.state.start_running();
    LIVE.with_borrow_mut(|live| live.push(p));
    p
}

thread_local! {
    static LIVE: RefCell<Vec<ProcRef>> = const { RefCell::new(Vec::new()) };
}

fn begin() {
    // Takes the processes that a failed sequence left out of the table; their memory is lost.
    LIVE.take().into_iter().filter(|p| proctab::lookup(p.pid).is_some()).for_each(proctab::remove);
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        proctab::init(1024, 1024);
        // The node ends with its first process: that must be none of these.
        let _ = process(true);
        LIVE.take();
    });
}

impl Relations {
    fn local(&self, slot: usize) -> &'static mut Process {
        // SAFETY: this thread made it, and runs it alone; no two references to one are used at the same time.
        unsafe { self.slots[slot].local() }
    }

    fn pid(&self, slot: usize) -> Term {
        Term::local_pid(self.slots[slot].pid)
    }

    fn handle(&mut self, slot: usize) {
        let p = self.local(slot);
        let ends = handle::drain(p) == After::Exit;
        self.read(slot);
        if ends {
            assert!(!p.trap_exit, "an exit signal ends one that traps exits");
            let reason = p.exit_reason;
            self.ended(slot, reason);
        }
    }

    /// Counts the messages, which are taken from the queue.
    fn read(&mut self, slot: usize) {
        let p = self.local(slot);
        let me = p.pid();
        let all: Vec<Term> = p.messages.terms().collect();
        for message in all {
            if let Some(number) = message.as_small() {
                assert!(self.arrived.insert(number), "message {number} came twice");
                continue;
            }
            let elements = message.as_tuple().expect("a tuple");
            if elements[0].is_atom_of(am::EXIT_UPPER) {
                let from = elements[1];
                let known = self.dead.iter().find(|d| d.0 == from).expect("only a process that ended sends it").1;
                assert!(elements[2].is_atom_of(am::NOPROC) || elements[2] == known);
                assert!(!self.unlinked.contains(&(me, from.payload())), "an exit signal over a link that was taken back");
                *self.exits.entry((me, from.payload())).or_default() += 1;
            } else {
                assert!(elements[0].is_atom_of(am::DOWN_UPPER));
                let id = RefId::of(elements[1]).expect("a reference");
                let monitor = self.monitors.get_mut(&id).expect("a monitor that was made");
                assert_eq!((elements[3], self.slots[monitor.watcher].pid), (monitor.target, me));
                assert!(!monitor.demonitored, "a message of a monitor that is none any more");
                let known = self.dead.iter().find(|d| d.0 == monitor.target).expect("it ended").1;
                assert!(elements[4].is_atom_of(am::NOPROC) || elements[4] == known);
                monitor.downs += 1;
                if matches!(monitor.alias, AliasMode::Demonitor | AliasMode::ReplyDemonitor) {
                    self.aliases.entry(id).and_modify(|alias| alias.active = false);
                }
            }
        }
        p.messages.clear();
    }

    /// That process ends, and another one takes its place.
    fn ended(&mut self, slot: usize, reason: Term) {
        let (pid, raw) = (self.pid(slot), self.slots[slot].pid);
        self.dead.push((pid, reason));
        let linked: Vec<(usize, usize)> = self.linked.iter().copied().filter(|l| l.0 == slot || l.1 == slot).collect();
        for both in linked {
            self.linked.remove(&both);
            let other = if both.0 == slot { both.1 } else { both.0 };
            let untouched = [(slot, other), (other, slot)].iter().all(|ends| !self.did.contains_key(ends));
            if untouched && self.local(other).trap_exit {
                self.owed.push((self.slots[other].pid, raw));
            }
        }
        self.did.retain(|ends, _| ends.0 != slot && ends.1 != slot);
        self.monitors.retain(|_, m| m.watcher != slot);
        self.monitors.values_mut().filter(|m| m.slot == Some(slot)).for_each(|m| m.slot = None);
        self.aliases.retain(|_, alias| alias.owner != slot);
        self.exits.retain(|ends, _| ends.0 != raw);
        self.owed.retain(|ends| ends.0 != raw);
        self.finish(slot, reason);
        self.slots[slot] = process(slot.is_multiple_of(2));
    }

    fn finish(&mut self, slot: usize, reason: Term) {
        LIVE.with_borrow_mut(|live| live.retain(|p| p.pid != self.slots[slot].pid));
        let p = self.local(slot);
        p.exit_reason = reason;
        exit::finish(p);
    }

    /// All signals are handled, and then:
    /// - two processes are linked on both sides or on none: as before if neither end did anything, as an end said last if the other did
    ///   nothing or the same;
    /// - a process that ended told each process linked to it once, if that one traps exits;
    /// - a monitor is known to both ends, or its watcher got one message, or it was removed and there was none;
    /// - aliases are those that were not removed, used up or ended with their monitor.
    fn quiesce(&mut self) {
        while (0..self.slots.len()).any(|slot| self.slots[slot].state.has_signals()) {
            (0..self.slots.len()).for_each(|slot| self.handle(slot));
        }
        let all = self.slots.len();
        for (a, b) in (0..all).flat_map(|a| (a + 1..all).map(move |b| (a, b))) {
            let (one, other) = (self.local(a).relations.is_linked(self.pid(b)), self.local(b).relations.is_linked(self.pid(a)));
            assert_eq!(one, other, "{a} and {b}");
            let did = |ends| self.did.get(&ends).copied().unwrap_or(Did::Nothing);
            let expected = match (did((a, b)), did((b, a))) {
                (Did::Nothing, Did::Nothing) => Some(self.linked.contains(&(a, b))),
                (Did::Nothing, last) | (last, Did::Nothing) => Some(last == Did::Link),
                (one, other) => (one == other).then_some(one == Did::Link),
            };
            assert!(expected.is_none_or(|expected| expected == one), "{a} and {b}: {one}");
            if one {
                self.linked.insert((a, b));
            } else {
                self.linked.remove(&(a, b));
            }
        }
        self.did.clear();
        for owed in self.owed.drain(..) {
            assert!(self.exits.get(&owed).is_some_and(|&n| n >= 1), "{owed:?}: no exit signal came");
        }
        for (id, monitor) in &self.monitors {
            let watching = self.local(monitor.watcher).relations.get().is_some_and(|inner| inner.monitoring.contains_key(id));
            let watched =
                monitor.slot.is_some_and(|slot| self.local(slot).relations.get().is_some_and(|inner| inner.watchers.contains_key(id)));
            assert_eq!(watching, watched);
            let ended = monitor.slot.is_none();
            assert_eq!(watching, !monitor.demonitored && !ended);
            assert!(monitor.downs <= 1 && (monitor.demonitored || monitor.downs == usize::from(ended)), "{} messages", monitor.downs);
        }
        self.monitors.retain(|_, m| !m.demonitored && m.downs == 0);
        for slot in 0..all {
            let Some(inner) = self.local(slot).relations.get() else { continue };
            let there: BTreeSet<RefId> = inner.aliases.keys().copied().collect();
            let expected: BTreeSet<RefId> = self.aliases.iter().filter(|(_, a)| a.owner == slot && a.active).map(|(&id, _)| id).collect();
            assert_eq!(there, expected);
            assert!(inner.links.values().all(|link| link.active), "an unlink that nothing answered");
            assert_eq!(inner.links.len(), self.linked.iter().filter(|l| l.0 == slot || l.1 == slot).count());
            assert_eq!(inner.monitoring.len(), self.monitors.values().filter(|m| m.watcher == slot).count());
            assert_eq!(inner.watchers.len(), self.monitors.values().filter(|m| m.slot == Some(slot)).count());
        }
        self.aliases.retain(|_, alias| alias.active);
        self.exits.clear();
        self.unlinked.clear();
        self.dead.drain(..self.dead.len().saturating_sub(20));
        self.arrived.clear();
        qsbr::quiescent();
    }

    fn nth<T>(all: &BTreeMap<RefId, T>, which: u64) -> Option<RefId> {
        all.keys().nth(which as usize % all.len().max(1)).copied()
    }
}

impl Subject for Relations {
    type Operation = Operation;
    const THRESHOLDS: &'static [u64] = &[2, 3, 8, 16, 24];

    fn new() -> Self {
        begin();
        Relations {
            slots: (0..SLOTS as usize).map(|slot| process(slot.is_multiple_of(2))).collect(),
            linked: BTreeSet::new(),
            did: BTreeMap::new(),
            monitors: BTreeMap::new(),
            aliases: BTreeMap::new(),
            dead: Vec::new(),
            exits: BTreeMap::new(),
            unlinked: BTreeSet::new(),
            owed: Vec::new(),
            arrived: BTreeSet::new(),
            next: 0,
        }
    }

    fn operation(random: &mut Random) -> Operation {
        let (a, b) = ((random.key() % SLOTS) as usize, (random.key() % SLOTS) as usize);
        match random.below(100) {
            0..3 => Operation::Quiesce,
            3..20 => Operation::Handle(a),
            20 => Operation::End(a, random.below(3)),
            21 => Operation::LinkGone(a, random.bits()),
            22 => Operation::MonitorGone(a, random.bits()),
            23..33 => Operation::SendAlias(random.bits()),
            33..37 if random.grows() => Operation::Alias(a, random.chance(50)),
            33..37 => Operation::Unalias(random.bits()),
            37..60 if random.grows() => Operation::Monitor(a, b, random.below(4)),
            37..60 => Operation::Demonitor(random.bits()),
            _ if random.grows() => Operation::Link(a, b),
            _ => Operation::Unlink(a, b),
        }
    }

    fn step(&mut self, operation: &Operation) {
        match *operation {
            Operation::Link(a, b) if a != b => {
                assert!(send::link(self.local(a), self.pid(b)), "it is there");
                self.did.insert((a, b), Did::Link);
                for ends in [(a, b), (b, a)] {
                    self.unlinked.remove(&(self.slots[ends.0].pid, self.slots[ends.1].pid));
                }
            }
            Operation::Unlink(a, b) if a != b => {
                let was = self.local(a).relations.is_linked(self.pid(b));
                send::unlink(self.local(a), self.pid(b));
                assert!(!self.local(a).relations.is_linked(self.pid(b)));
                // Without a link on its side nothing is done.
                if was {
                    self.did.insert((a, b), Did::Unlink);
                    self.unlinked.insert((self.slots[a].pid, self.slots[b].pid));
                }
            }
            Operation::LinkGone(a, which) => {
                let Some(&(gone, _)) = self.dead.get(which as usize % self.dead.len().max(1)) else { return };
                self.handle(a);
                let traps = self.local(a).trap_exit;
                self.unlinked.remove(&(self.slots[a].pid, gone.payload()));
                let before = self.exits.get(&(self.slots[a].pid, gone.payload())).copied().unwrap_or(0);
                assert_eq!(send::link(self.local(a), gone), traps);
                assert!(!self.local(a).relations.is_linked(gone));
                self.handle(a);
                let after = self.exits.get(&(self.slots[a].pid, gone.payload())).copied().unwrap_or(0);
                assert!(!traps || after > before);
            }
            Operation::Monitor(a, b, mode) if a != b => {
                let (id, target, alias) = (refs::fresh(), self.pid(b), MODES[mode as usize]);
                send::monitor(self.local(a), MonitorKind::Process, target, None, id, alias, None);
                self.monitors.insert(id, Monitor { watcher: a, target, slot: Some(b), alias, demonitored: false, downs: 0 });
                if alias != AliasMode::None {
                    self.aliases.insert(id, Alias { owner: a, mode: alias, active: true });
                }
            }
            Operation::MonitorGone(a, which) => {
                let Some(&(target, _)) = self.dead.get(which as usize % self.dead.len().max(1)) else { return };
                let id = refs::fresh();
                send::monitor(self.local(a), MonitorKind::Process, target, None, id, AliasMode::None, None);
                self.monitors.insert(id, Monitor { watcher: a, target, slot: None, alias: AliasMode::None, demonitored: false, downs: 0 });
            }
            Operation::Demonitor(which) => {
                let Some(id) = Self::nth(&self.monitors, which) else { return };
                let monitor = &self.monitors[&id];
                let there = !monitor.demonitored && monitor.downs == 0;
                assert_eq!(send::demonitor(self.local(monitor.watcher), id), there);
                if there {
                    self.monitors.get_mut(&id).expect("just seen").demonitored = true;
                    if let Some(alias) = self.aliases.get_mut(&id).filter(|a| a.mode != AliasMode::Explicit) {
                        alias.active = false;
                    }
                }
            }
            Operation::Alias(owner, reply) => {
                let (id, mode) = (refs::fresh(), if reply { AliasMode::Reply } else { AliasMode::Explicit });
                self.local(owner).relations.make().aliases.insert(id, mode);
                self.aliases.insert(id, Alias { owner, mode, active: true });
            }
            Operation::Unalias(which) => {
                let Some(id) = Self::nth(&self.aliases, which) else { return };
                let alias = self.aliases.get_mut(&id).expect("just seen");
                let owner = alias.owner;
                let was = std::mem::replace(&mut alias.active, false);
                let inner = self.local(owner).relations.make();
                assert_eq!(inner.aliases.remove(&id).is_some(), was);
            }
            Operation::SendAlias(which) => {
                let Some(id) = Self::nth(&self.aliases, which) else { return };
                // In order: what was on its way before is handled, then this message alone.
                let owner = self.aliases[&id].owner;
                self.handle(owner);
                let Some(alias) = self.aliases.get(&id).filter(|alias| alias.owner == owner) else { return };
                let (active, mode, number) = (alias.active, alias.mode, self.next);
                self.next += 1;
                let data = Package::immediate(Term::small(number));
                let body = SignalBody::AliasMessage { alias: id.words(), from: Term::NONE, data, token: None };
                assert!(send::deliver(self.slots[owner], Signal::new(body)).is_ok());
                self.handle(owner);
                assert_eq!(self.arrived.contains(&number), active, "{mode:?}");
                if active && matches!(mode, AliasMode::Reply | AliasMode::ReplyDemonitor) {
                    self.aliases.get_mut(&id).expect("just seen").active = false;
                    if let Some(monitor) = self.monitors.get_mut(&id).filter(|m| m.downs == 0) {
                        monitor.demonitored = true;
                    }
                }
            }
            Operation::Handle(a) => self.handle(a),
            Operation::End(a, kind) => {
                let reason = match kind {
                    0 => Term::atom(am::NORMAL),
                    1 => Term::atom(Atom::new("model")),
                    _ => Term::small(17),
                };
                self.ended(a, reason);
            }
            Operation::Quiesce => self.quiesce(),
            Operation::Link(..) | Operation::Unlink(..) | Operation::Monitor(..) => {}
        }
    }

    fn end(&mut self) {
        self.quiesce();
        (0..self.slots.len()).for_each(|slot| self.finish(slot, am::NORMAL.into()));
        qsbr::quiescent();
    }
}

#[test]
fn links_monitors_and_aliases_keep_what_is_promised() {
    qsbr::online();
    run::<Relations>();
    qsbr::offline();
}
