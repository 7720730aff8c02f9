//! The inventory of natives: every function that the Erlang side of OTP 27 expects the VM itself to provide.
//!
//! `natives.tsv` is the table; the crate that implements natives checks completeness against it, and `system_info`-like reports count
//! from it.

use std::sync::LazyLock;

/// How a native is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeKind {
    /// Allowed in guards; comes as an operand of `bif0`-`bif2` and `gc_bif1`-`gc_bif3`, or by a call.
    GuardBif,
    /// Documented, called like any function.
    Bif,
    /// Undocumented, called by OTP's own libraries.
    Internal,
    /// Replaces a function of a module when that module loads its native library.
    Nif,
}

/// One row of the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeRow {
    pub module: &'static str,
    pub function: &'static str,
    pub arity: u8,
    pub kind: NativeKind,
    /// 0: the smallest boot needs it, 1: the shell, 2: compiler and test tools, 3: the rest.
    pub tier: u8,
}

static TABLE: &str = include_str!("../natives.tsv");
static ROWS: LazyLock<Vec<NativeRow>> = LazyLock::new(|| TABLE.lines().skip(1).map(parse_row).collect());

/// All natives, ordered by kind of module as in the table.
pub fn natives() -> &'static [NativeRow] {
    &ROWS
}

/// True if the inventory lists this function as part of a NIF library.
pub fn is_nif(module: &str, function: &str, arity: u8) -> bool {
    natives().iter().any(|n| n.kind == NativeKind::Nif && n.module == module && n.function == function && n.arity == arity)
}

/// True if the inventory lists this function as one of the emulator itself, with a stub in its module.
pub fn is_bif(module: &str, function: &str, arity: u8) -> bool {
    let known = natives().iter().find(|n| n.module == module && n.function == function && n.arity == arity);
    known.is_some_and(|n| n.kind != NativeKind::Nif)
}

fn parse_row(line: &'static str) -> NativeRow {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let &[module, function, arity, kind, tier] = fields.as_slice() else {
        panic!("natives.tsv: five columns wanted in `{line}`");
    };
    let kind = match kind {
        "guard_bif" => NativeKind::GuardBif,
        "bif" => NativeKind::Bif,
        "internal" => NativeKind::Internal,
        "nif" => NativeKind::Nif,
        _ => panic!("natives.tsv: unknown kind in `{line}`"),
    };
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("natives.tsv: bad number in `{line}`"));
    NativeRow { module, function, arity: number(arity), kind, tier: number(tier.trim_start_matches('T')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inventory_is_complete_and_sorted_out() {
        let count = |kind| natives().iter().filter(|row| row.kind == kind).count();
        assert_eq!(natives().len(), 659);
        assert_eq!(count(NativeKind::GuardBif), 67);
        assert_eq!(count(NativeKind::Internal), 132);
        assert_eq!(count(NativeKind::Nif), 134);
        assert!(natives().iter().all(|row| row.tier <= 3));
        let spawn = natives().iter().find(|row| (row.module, row.function, row.arity) == ("erlang", "self", 0));
        assert_eq!(spawn.map(|row| row.kind), Some(NativeKind::GuardBif));
    }
}
