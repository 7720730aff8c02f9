//! Identifiers, names and functions, known and made up.

use crate::target::Target;
use heddle_model::Random;
use heddle_term::ident::{PidView, RefView};
use heddle_term::{Atom, node};

/// Names that every node has, and those of the victims.
const NAMES: &[&str] = &[
    "init",
    "kernel_sup",
    "net_kernel",
    "global_name_server",
    "rex",
    "code_server",
    "logger",
    "user",
    "file_server_2",
    "application_controller",
    "inet_db",
    "auth",
    "erl_prim_loader",
    "error_logger",
    "no_process",
    "",
];
/// Victims of `hostile_node.erl`.
pub const VICTIMS: u64 = 16;

/// Functions that a spawned process may run.
const FUNCTIONS: &[(&str, &str)] = &[
    ("erlang", "self"),
    ("erlang", "exit"),
    ("erlang", "error"),
    ("erlang", "length"),
    // Not `seq`: a long list fills the memory of any node.
    ("lists", "last"),
    ("lists", "reverse"),
    ("erlang", "group_leader"),
    ("hostile_node", "sleeps"),
    ("hostile_node", "unknown"),
    ("no_module", "no_function"),
    ("", ""),
];

pub fn name(random: &mut Random) -> Atom {
    if random.chance(70) {
        return Atom::new(&format!("hostile_{}", random.below(VICTIMS)));
    }
    Atom::new(random.one(NAMES))
}

/// True for the names that every node has.
pub fn is_of_node(name: Atom) -> bool {
    NAMES.contains(&name.name())
}

pub fn function(random: &mut Random) -> (Atom, Atom) {
    let (module, function) = random.one(FUNCTIONS);
    (Atom::new(module), Atom::new(function))
}

/// True for functions of the list, and of modules that no node has.
pub fn is_harmless(module: Atom, function: Atom) -> bool {
    FUNCTIONS.iter().any(|known| *known == (module.name(), function.name())) || module.name().starts_with("atom_")
}

/// The peer's own identifiers.
#[derive(Clone, Copy)]
pub struct Own {
    pub node: Atom,
    pub creation: u32,
}

impl Own {
    /// One of a few, so that a process that links may unlink, too.
    pub fn pid(&self, random: &mut Random) -> PidView {
        let below = random.one(&[4, 40, 40, 1 << 28]);
        let creation = if random.chance(95) { self.creation } else { self.creation ^ 1 };
        let serial = if random.chance(95) { 0 } else { random.bits() as u32 };
        PidView { node: self.node, creation, number: random.below(below) as u32, serial }
    }

    /// One of a few.
    pub fn reference(&self, random: &mut Random) -> RefView {
        let below = random.one(&[4, 40, 40, 1 << 18]);
        let count = random.one(&[3, 3, 3, 5, 1, 2]);
        let mut words = [random.below(below) as u32, 1, 1, 1, 1];
        words[count..].fill(0);
        RefView { node: self.node, creation: self.creation, count, words }
    }
}

/// A pid of the node: mostly of a victim.
pub fn of_node(target: &Target, random: &mut Random) -> PidView {
    let (node, creation) = node::current();
    let victims = target.victims();
    let (kind, index, number) = (random.below(100), random.bits(), random.below(1 << 28) as u32);
    let victim = victims.get(index as usize % victims.len().max(1)).copied();
    let dead = PidView { node, creation, number, serial: (index % 9) as u32 };
    match (kind, victim) {
        (0..75, Some(victim)) => victim,
        // Of an earlier life of the node, or with a wrong serial.
        (75..80, Some(victim)) => PidView { creation: creation ^ number, ..victim },
        (80..85, Some(victim)) => PidView { serial: victim.serial.wrapping_add(1 + number), ..victim },
        (85..93, _) => target.some_protected(index).unwrap_or(dead),
        _ => dead,
    }
}

/// A reference of the node, perhaps of the form of an alias. It names a victim, or a process or port by chance.
pub fn reference_of_node(target: &Target, random: &mut Random) -> RefView {
    let (node, creation) = node::current();
    let pid = of_node(target, random);
    let number = pid.number as u64 | (pid.serial as u64) << 28;
    let process = match random.below(10) {
        0 => random.bits(),
        // The bit that the node has in numbers of ports.
        1 => random.below(300) | 1 << 58,
        2 => number | random.bits() << 57,
        _ => number,
    };
    let count = random.one(&[3, 5, 5]);
    let mut words = [random.below(1 << 18) as u32, random.bits() as u32, random.bits() as u32, process as u32, (process >> 32) as u32];
    words[count..].fill(0);
    RefView { node, creation, count, words }
}
