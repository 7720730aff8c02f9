//! `system_flag(multi_scheduling, _)`: while a process blocks, only the first scheduler runs processes, also those that have
//! threads of their own; dirty threads take turns with it unless only normal schedulers are blocked (`runtime::blocking`). And how
//! many schedulers, normal ones and dirty ones for CPU, are said to be online meanwhile.
//!
//! A process that blocks goes on when that holds: every other thread has been through its loop since, and runs no process any more.

use heddle_runtime::process::{NativeResult, Process, Thrown};
use heddle_runtime::{blocking, dirty, placement, qsbr, sched, send, zeal};
use heddle_term::{Atom, Term};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

struct Blocks {
    /// The processes that block, how often, and true if only normal schedulers are meant.
    by: Vec<(u64, u32, bool)>,
    /// How many schedulers were online before.
    online: usize,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { by: Vec::new(), online: 0 });
/// True if a process blocks. Each ending process asks this.
/// Release under the lock of `BLOCKS`, Acquire in ending processes: a process sees its own block.
static ANY: AtomicBool = AtomicBool::new(false);

pub fn init() {
    heddle_runtime::exit::add_hook(|p| {
        // Acquire: a process sees its own block.
        if ANY.load(Ordering::Acquire) {
            let mut blocks = BLOCKS.lock().unwrap();
            blocks.by.retain(|(pid, _, _)| *pid != p.pid());
            settle(&mut blocks);
        }
    });
}

fn settle(blocks: &mut Blocks) {
    blocking::set(blocks.by.iter().any(|(_, _, normal)| !normal));
    if blocks.by.is_empty() && blocks.online != 0 {
        sched::set_online(std::mem::take(&mut blocks.online));
        placement::block_private(false);
        ANY.store(false, Ordering::Release);
    }
}

impl Blocks {
    /// How many would be online without the block.
    fn online(&self) -> usize {
        if self.online == 0 { sched::online() } else { self.online }
    }
}

/// How many are said to be online.
pub fn online() -> usize {
    BLOCKS.lock().unwrap().online()
}

/// Sets how many are online, at once or after a block, and of dirty ones for CPU as many in proportion; returns what it was. None: that many
/// cannot be.
pub fn set_online(n: usize) -> Option<usize> {
    let options = sched::options();
    let mut blocks = BLOCKS.lock().unwrap();
    let before = blocks.online();
    if n == 0 || n > options.schedulers {
        return None;
    }
    if n != before {
        dirty::set_online(dirty::online_for(n, (before, dirty::online()), (options.schedulers, options.dirty_cpu)));
        if blocks.online == 0 {
            sched::set_online(n);
        } else {
            blocks.online = n;
        }
    }
    Some(before)
}

/// The same for the dirty ones for CPU alone, which are never more than the normal ones.
pub fn set_dirty_online(n: usize) -> Option<usize> {
    // Held so that the number of normal ones stays.
    let blocks = BLOCKS.lock().unwrap();
    (n > 0 && n <= blocks.online().min(sched::options().dirty_cpu)).then(|| dirty::set_online(n))
}

/// How many of the normal, the CPU and the I/O schedulers may run processes now.
pub fn active() -> [usize; 3] {
    let dirty = if blocking::is_on() { [0, 0] } else { [dirty::online(), sched::options().dirty_io] };
    [sched::online(), dirty[0], dirty[1]]
}

pub fn state() -> Term {
    let blocks = BLOCKS.lock().unwrap();
    let name = match (blocks.by.is_empty(), sched::options().schedulers) {
        (_, 1) => "disabled",
        (true, _) => "enabled",
        (false, _) if blocks.by.iter().all(|(_, _, normal)| *normal) => "blocked_normal",
        (false, _) => "blocked",
    };
    Atom::new(name).into()
}

/// Pids of the processes that block; `normal`: only normal schedulers.
pub fn blockers(normal: bool) -> Vec<Term> {
    BLOCKS.lock().unwrap().by.iter().filter(|(_, _, n)| *n == normal).map(|(pid, _, _)| Term::local_pid(*pid)).collect()
}

/// `system_flag(multi_scheduling, Request)`, with the request in `a[1]`.
pub fn change(p: &mut Process, a: &[Term]) -> NativeResult {
    if a[1].is_catch_marker() {
        return if qsbr::passed(a[1].payload()) { Ok(state()) } else { Err(wait(p, a[0], a[1])) };
    }
    let (block, normal) = match a[1].as_atom().map_or("", |r| r.name()) {
        "block" => (true, false),
        "unblock" => (false, false),
        "block_normal" => (true, true),
        "unblock_normal" => (false, true),
        _ => return Err(p.badarg()),
    };
    if sched::options().schedulers == 1 {
        return Ok(state());
    }
    {
        let mut blocks = BLOCKS.lock().unwrap();
        let mine = blocks.by.iter_mut().find(|(pid, _, n)| *pid == p.pid() && *n == normal);
        match (block, mine) {
            (true, Some((_, count, _))) => *count += 1,
            (true, None) => blocks.by.push((p.pid(), 1, normal)),
            (false, Some((_, count, _))) => *count -= 1,
            (false, None) => {}
        }
        blocks.by.retain(|(_, count, _)| *count > 0);
        if !blocks.by.is_empty() && blocks.online == 0 {
            ANY.store(true, Ordering::Release);
            blocks.online = sched::set_online(1);
            placement::block_private(true);
        }
        settle(&mut blocks);
    }
    // A process that unblocks waits too: from then on it and others may run on other schedulers.
    let epoch = qsbr::next();
    // The native is called again on its scheduler, with the epoch after which all others have looked.
    p.bump(zeal::slice() as usize);
    Err(p.again(&[a[0], Term::catch_marker(epoch)]))
}

/// Waits until all other threads have looked. One that does not come back from a native may delay that for long.
fn wait(p: &mut Process, flag: Term, epoch: Term) -> Thrown {
    let me = p.pid();
    qsbr::retire(move || send::wake(me));
    p.again(&[flag, epoch]);
    Thrown::WaitAgain
}
