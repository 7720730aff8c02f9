//! Owners of tables: gifts, heirs, and what happens when a process ends.

use super::access::{self, Right, cause};
use super::registry::{self, Belongings};
use super::table::{Heir, Table};
use heddle_runtime::lock_order::Ordered;
use heddle_runtime::locks::LockClass;
use heddle_runtime::process::{FLAG_ETS, NativeResult, Process};
use heddle_runtime::{Package, proctab, send};
use heddle_term::{Atom, Term};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

heddle_runtime::natives! { TABLE:
    "ets" => {
        "give_away"/3 => give_away,
    }
}

pub fn heir(table: &Table) -> Ordered<MutexGuard<'_, Option<Heir>>> {
    LockClass::EtsTable.lock(&table.heir)
}

/// Makes `pid` the owner and tells it. False if that process is gone; then no process owns the table.
fn transfer(table: &Arc<Table>, pid: u64, from: u64, data: Term) -> bool {
    registry::TRANSFERRED.store(true, Ordering::SeqCst);
    let Some(to) = proctab::lookup(pid) else { return false };
    table.owner.store(pid, Ordering::Release);
    registry::own(pid, Arc::clone(table));
    // A process that is ending may have looked at its tables already: the one that takes ours out of its holdings has it.
    if to.state.load().is_exiting() && registry::disown(pid, table) {
        return false;
    }
    send::message_from(
        Term::local_pid(from),
        pid,
        Package::build(|heap| {
            let id = table.public_id(heap);
            let data = heap.copy(data);
            heap.tuple(&[Atom::new("ETS-TRANSFER").into(), id, Term::local_pid(from), data])
        }),
    );
    true
}

fn give_away(p: &mut Process, a: &[Term]) -> NativeResult {
    let table = access::table(p, &a[0], Right::Write)?;
    if !a[1].is_local_pid() {
        return Err(p.badarg());
    }
    if table.owner() != p.pid() {
        return Err(cause(p, "not_owner"));
    }
    let pid = a[1].payload();
    if pid == p.pid() {
        return Err(cause(p, "owner"));
    }
    if proctab::lookup(pid).is_none() {
        return Err(p.badarg());
    }
    let table = table.shared();
    registry::disown(p.pid(), &table);
    if !transfer(&table, pid, p.pid(), a[2]) {
        table.owner.store(p.pid(), Ordering::Release);
        registry::own(p.pid(), table);
        return Err(p.badarg());
    }
    Ok(Term::bool(true))
}

/// Called for every ending process.
pub fn at_exit(p: &mut Process) {
    if p.flags & FLAG_ETS == 0 && !registry::TRANSFERRED.load(Ordering::SeqCst) {
        return;
    }
    let me = p.pid();
    let Belongings { owned, fixed } = registry::holdings(me, std::mem::take);
    for table in fixed {
        super::fix::release_all(&table, me);
    }
    for table in owned {
        if !table.is_alive() {
            continue;
        }
        // The heir stays what it is, should the table come back to a process that ends before it.
        let heir = heir(&table).as_ref().map(|heir| (heir.pid, Package::new(heir.data.term())));
        if let Some((heir, data)) = heir
            && heir != me
            && transfer(&table, heir, me, data.term())
        {
            continue;
        }
        if table.kill() {
            let (count, removed) = registry::remove(&table);
            super::reap::reap(count, removed);
        }
    }
}
