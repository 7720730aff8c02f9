//! Control messages with identifiers of all kinds, and what comes with them.

use crate::random_pid::{self, Own, of_node, reference_of_node};
use crate::target::Target;
use heddle_dist::wire::{Control, SPAWN_FLAG_LINK, SPAWN_FLAG_MONITOR, Spawned, Target as Receiver};
use heddle_model::Random;
use heddle_term::{Atom, Heap, Term, am};

/// What victims are asked to do with a process of the peer (`hostile_node.erl`).
const ORDERS: &[&str] =
    &["link", "unlink", "monitor", "alias", "demonitor", "spawn", "spawn_monitor", "exit", "send", "send_name", "leader", "die", "trap"];

/// Those that have the victim send much.
const LARGE_ORDERS: &[&str] = &["burst", "large"];

fn receiver(target: &Target, random: &mut Random) -> Receiver {
    if random.chance(50) { Receiver::Pid(of_node(target, random)) } else { Receiver::Name(random_pid::name(random)) }
}

/// The terms are in `heap`.
pub fn control(heap: &mut Heap, target: &Target, own: &Own, random: &mut Random) -> Control {
    let (from, to) = (own.pid(random), of_node(target, random));
    let token = if random.chance(3) { Some(crate::random::term(heap, random, 1)) } else { None };
    match random.below(22) {
        0..4 => Control::Send { from: random.chance(80).then_some(from), to, token },
        4 | 5 => Control::SendName { from, to: random_pid::name(random), token },
        6 => Control::SendAlias { from, alias: reference_of_node(target, random), token },
        7 | 8 => Control::Link { from, to },
        9 => {
            let shift = random.below(64);
            Control::Unlink { id: (random.bits() >> shift).max(1), from, to }
        }
        10 => {
            let shift = random.below(64);
            Control::UnlinkAck { id: random.bits() >> shift, from, to }
        }
        11 => Control::Exit { from, to, token, reason: None },
        12 => Control::Exit2 { from, to, token, reason: if random.chance(20) { Some(reason(heap, random)) } else { None } },
        13 => {
            let leader = if random.chance(50) { from } else { of_node(target, random) };
            Control::GroupLeader { leader, to }
        }
        14 | 15 => Control::Monitor { from, to: receiver(target, random), reference: own.reference(random) },
        16 => Control::Demonitor { from, to: receiver(target, random), reference: own.reference(random) },
        17 => {
            let from = if random.chance(50) { Receiver::Pid(from) } else { Receiver::Name(random_pid::name(random)) };
            let reason = if random.chance(20) { Some(reason(heap, random)) } else { None };
            Control::MonitorExit { from, to, reference: reference_of_node(target, random), reason }
        }
        18..21 => spawn_request(heap, target, own, random),
        _ => {
            let result = if random.chance(50) { Spawned::Pid(from) } else { Spawned::Error(random_pid::name(random)) };
            let flags = random.below(4) as u32 & (SPAWN_FLAG_LINK | SPAWN_FLAG_MONITOR);
            Control::SpawnReply { reference: reference_of_node(target, random), to, flags, result, token }
        }
    }
}

fn spawn_request(heap: &mut Heap, target: &Target, own: &Own, random: &mut Random) -> Control {
    let (module, function) = random_pid::function(random);
    let from = own.pid(random);
    let group_leader = match random.below(4) {
        0 => of_node(target, random),
        1 => crate::random::pid(random),
        _ => from,
    };
    let options = spawn_options(heap, target, random);
    let arity = random.one(&[0, 1, 2, 3, 255, 256, -1, 1 << 40]);
    Control::SpawnRequest { reference: own.reference(random), from, group_leader, module, function, arity, options, token: None }
}

/// Mostly some that a node sends; else none that make sense.
fn spawn_options(heap: &mut Heap, target: &Target, random: &mut Random) -> Term {
    let atom = |name: &str| Term::atom(Atom::new(name));
    let mut options = Vec::new();
    for _ in 0..random.below(4) {
        let value = random.one(&[0, 1, 300, 70_000, 1 << 30, 1 << 40, 1 << 58, -1]);
        let number = heap.integer(value);
        let pair = match random.below(12) {
            0 | 1 => {
                options.push(atom("link"));
                continue;
            }
            2 | 3 => {
                options.push(atom("monitor"));
                continue;
            }
            4 => [atom("priority"), atom(random.one(&["low", "normal", "high", "max", "none"]))],
            // Room that is asked for may be room that is taken: with more than the machine has, stock stops as well.
            5 if value > 70_000 => continue,
            // Stock stops when it is to count to such a size.
            6 if value > 70_000 && target.is_stock => continue,
            5 => [atom("min_heap_size"), number],
            6 => [atom("min_bin_vheap_size"), number],
            7 => [atom("max_heap_size"), number],
            8 => [atom("fullsweep_after"), number],
            9 => [atom("message_queue_data"), atom(random.one(&["on_heap", "off_heap", "nowhere"]))],
            10 => [atom("async_dist"), atom(random.one(&["true", "false", "maybe"]))],
            _ => [crate::random::term(heap, random, 1), crate::random::term(heap, random, 1)],
        };
        options.push(heap.tuple(&pair));
    }
    if random.chance(3) {
        return crate::random::term(heap, random, 2);
    }
    let tail = if random.chance(3) { Term::small(1) } else { Term::NIL };
    heap.list_with_tail(&options, tail)
}

fn reason(heap: &mut Heap, random: &mut Random) -> Term {
    match random.below(6) {
        0 => am::KILL.into(),
        1 => am::NORMAL.into(),
        2 => am::NOPROC.into(),
        3 => am::NOCONNECTION.into(),
        _ => crate::random::term(heap, random, 2),
    }
}

/// What comes with the control message: of the kind that belongs to it, or any term.
pub fn payload(heap: &mut Heap, control: &Control, own: &Own, random: &mut Random) -> Term {
    match control {
        Control::SpawnRequest { .. } if random.chance(90) => {
            let count = random.one(&[0, 0, 1, 1, 2, 3, 255, 256]);
            let arguments: Vec<Term> = (0..count).map(|_| Term::small(random.below(30) as i64)).collect();
            heap.list(&arguments)
        }
        Control::Exit { .. } | Control::Exit2 { .. } | Control::MonitorExit { .. } if random.chance(80) => reason(heap, random),
        Control::Send { .. } | Control::SendName { .. } if random.chance(30) => {
            let (process, more) = (own.pid(random).to_term(heap), crate::random::term(heap, random, 1));
            let order = if random.chance(1) { random.one(LARGE_ORDERS) } else { random.one(ORDERS) };
            heap.tuple(&[Atom::new("hostile").into(), Atom::new(order).into(), process, more])
        }
        _ if random.below(5000) == 0 => large(heap, random),
        _ => {
            let depth = random.one(&[0, 0, 0, 1, 1, 2, 3]);
            crate::random::term(heap, random, depth)
        }
    }
}

/// A term that is deep, wide or long. Its message has several fragments.
fn large(heap: &mut Heap, random: &mut Random) -> Term {
    let mut term = crate::random::term(heap, random, 1);
    match random.below(6) {
        0 => {
            for _ in 0..50_000 {
                term = heap.list(&[term]);
            }
        }
        1 => {
            for _ in 0..50_000 {
                term = heap.tuple(&[term]);
            }
        }
        2 => {
            for _ in 0..30_000 {
                term = heap.list_with_tail(&[Term::small(1)], term);
            }
        }
        3 => {
            let wide = vec![term; 20_000];
            term = heap.tuple(&wide);
        }
        4 => {
            let pairs: Vec<(Term, Term)> = (0..3000).map(|key| (Term::small(key), term)).collect();
            term = heddle_term::map::from_pairs(heap, &pairs);
        }
        _ => {
            let bytes = vec![9; random.one(&[70_000, 200_000, 500_000])];
            let binary = heap.binary(&bytes);
            term = heap.tuple(&[term, binary]);
        }
    }
    term
}
