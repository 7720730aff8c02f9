//! The shapes of list operands.

use super::check::Checker;
use super::kinds::Kind;
use crate::operand::Operand;

pub(super) fn check(checker: &Checker<'_>, kind: Kind, list: &[Operand]) -> Result<(), String> {
    match kind {
        Kind::Srcs => each(checker, list, &[Kind::Src]),
        Kind::SrcPairs => each(checker, list, &[Kind::Src, Kind::Src]),
        Kind::Slots => each(checker, list, &[Kind::Slot]),
        Kind::KeysAndDsts => each(checker, list, &[Kind::Src, Kind::Dst]),
        Kind::ArityChoices => each(checker, list, &[Kind::Num, Kind::Fail]),
        Kind::Choices => {
            each(checker, list, &[Kind::Src, Kind::Fail])?;
            match list.iter().step_by(2).find(|value| value.reg().is_some()) {
                Some(value) => Err(format!("{value:?} is not a constant")),
                None => Ok(()),
            }
        }
        Kind::Updates => pairs(list).and_then(|()| list.iter().skip(1).step_by(2).try_for_each(|&value| checker.operand(Kind::Src, value))),
        Kind::Segments => segments(checker, list),
        Kind::Commands => commands(checker, list),
        _ => Err(format!("a list does not do as {kind:?}")),
    }
}

fn each(checker: &Checker<'_>, list: &[Operand], kinds: &[Kind]) -> Result<(), String> {
    if !list.len().is_multiple_of(kinds.len()) {
        return Err(format!("a list of {} elements, groups of {} wanted", list.len(), kinds.len()));
    }
    for (index, (&operand, &kind)) in list.iter().zip(kinds.iter().cycle()).enumerate() {
        checker.operand(kind, operand).map_err(|problem| format!("list element {}: {problem}", index + 1))?;
    }
    Ok(())
}

fn pairs(list: &[Operand]) -> Result<(), String> {
    if list.len().is_multiple_of(2) { Ok(()) } else { Err(format!("a list of {} elements, pairs wanted", list.len())) }
}

/// Positions of `update_record` lie inside a tuple of that size.
pub(super) fn positions(list: &[Operand], size: u64) -> Result<(), String> {
    for position in list.iter().step_by(2) {
        let inside = match *position {
            Operand::U(position) => (1..=size).contains(&position),
            Operand::I(position) => u64::try_from(position).is_ok_and(|position| (1..=size).contains(&position)),
            _ => false,
        };
        if !inside {
            return Err(format!("{position:?} is not a position in a tuple of size {size}"));
        }
    }
    Ok(())
}

/// Segments of `bs_create_bin`: type, number, unit, flags, source, size.
fn segments(checker: &Checker<'_>, list: &[Operand]) -> Result<(), String> {
    if !list.len().is_multiple_of(6) {
        return Err(format!("a list of {} elements, groups of six wanted", list.len()));
    }
    for (index, segment) in list.chunks_exact(6).enumerate() {
        one_segment(checker, segment, index).map_err(|problem| format!("segment {}: {problem}", index + 1))?;
    }
    Ok(())
}

fn one_segment(checker: &Checker<'_>, segment: &[Operand], index: usize) -> Result<(), String> {
    let &[kind, number, unit, flags, source, size] = segment else {
        return Err("six operands wanted".into());
    };
    let Operand::Atom(kind) = kind else {
        return Err(format!("{kind:?} is not a segment type"));
    };
    checker.operand(Kind::Num, number)?;
    checker.operand(Kind::Num, unit)?;
    check_flags(flags)?;
    let kind = checker.beam.atoms.get(kind).unwrap_or_default();
    match kind {
        "string" => match (source, size) {
            (Operand::U(offset), Operand::U(bytes)) => checker.string(offset, bytes),
            (Operand::U(offset), Operand::I(bytes)) => checker.string(offset, bytes.try_into().unwrap_or(u64::MAX)),
            (Operand::I(offset), Operand::I(bytes)) => {
                checker.string(offset.try_into().unwrap_or(u64::MAX), bytes.try_into().unwrap_or(u64::MAX))
            }
            _ => Err("a string needs two numbers".into()),
        },
        "append" | "private_append" if index > 0 => Err(format!("{kind} is only for the first segment")),
        "integer" | "float" | "binary" | "append" | "private_append" | "utf8" | "utf16" | "utf32" => {
            checker.operand(Kind::Src, source)?;
            checker.operand(Kind::Src, size)
        }
        _ => Err(format!("segment type {kind} does not exist")),
    }
}

/// No flags, or a literal list of flag names.
fn check_flags(flags: Operand) -> Result<(), String> {
    match flags {
        Operand::Nil | Operand::Literal(_) | Operand::U(_) => Ok(()),
        _ => Err(format!("{flags:?} does not do as segment flags")),
    }
}

/// One command of `bs_match`, with what the data flow needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// X registers in use, when it may allocate.
    pub live: Option<u32>,
    pub dst: Option<Operand>,
    pub may_fail: bool,
    /// Bits that are there after it (`None`: as before), and bits it takes of those.
    ensures: Option<u64>,
    takes: u64,
}

fn commands(checker: &Checker<'_>, list: &[Operand]) -> Result<(), String> {
    let mut rest = list;
    let mut ensured = 0;
    while !rest.is_empty() {
        let (command, size) = command(checker.beam.atoms.get(atom(rest[0])), rest)?;
        ensured = command.ensures.unwrap_or(ensured);
        ensured = match ensured.checked_sub(command.takes) {
            // More bits than any bitstring has: the test before always fails, what follows never runs.
            _ if ensured == u64::MAX => ensured,
            Some(left) => left,
            None => return Err(format!("{} bits are taken by bs_match, but only {ensured} ensured", command.takes)),
        };
        if let Some(dst) = command.dst {
            checker.operand(Kind::Dst, dst)?;
        }
        rest = &rest[size..];
    }
    Ok(())
}

fn atom(operand: Operand) -> u32 {
    if let Operand::Atom(atom) = operand { atom } else { 0 }
}

/// Decodes the command that a list starts with, and says how many elements it has.
pub fn command(name: Option<&str>, list: &[Operand]) -> Result<(Command, usize), String> {
    let number = |index: usize| match list[index].number() {
        Some(number) => Ok(number),
        None => Err(format!("{:?} in a command of bs_match, a number wanted", list[index])),
    };
    let bits = |index: usize| match list[index] {
        Operand::U(bits) => Ok(if bits > u64::from(u32::MAX) { u64::MAX } else { bits }),
        other => Err(format!("{other:?} in a command of bs_match, a size wanted")),
    };
    let name = name.unwrap_or_default();
    let size = match name {
        "skip" | "ensure_exactly" => 2,
        "ensure_at_least" => 3,
        "get_tail" | "=:=" => 4,
        "integer" | "binary" => 6,
        _ => return Err(format!("{:?} {name} is not a command of bs_match", list[0])),
    };
    if list.len() < size {
        return Err(format!("command {name} of bs_match takes {} operands, {} are left", size - 1, list.len() - 1));
    }
    let mut command = Command { live: None, dst: None, may_fail: false, ensures: None, takes: 0 };
    match name {
        "ensure_exactly" | "ensure_at_least" => {
            command.ensures = Some(bits(1)?);
            command.may_fail = true;
            if size > 2 {
                number(2)?;
            }
        }
        "skip" => command.takes = bits(1)?,
        "get_tail" => {
            number(2)?;
            command.live = Some(number(1)?);
            command.dst = Some(list[3]);
        }
        "=:=" => {
            command.takes = number(2)?.into();
            command.may_fail = true;
            if !matches!(list[3], Operand::U(_) | Operand::I(_) | Operand::Big(_)) {
                return Err(format!("{:?} is not a value to compare bits with", list[3]));
            }
        }
        _ => {
            check_flags(list[2])?;
            command.takes = bits(3)?.saturating_mul(bits(4)?);
            command.live = Some(number(1)?);
            command.dst = Some(list[5]);
        }
    }
    if command.live.is_some_and(|live| live >= u32::from(crate::operand::X_REGS)) {
        return Err("too many live registers".into());
    }
    Ok((command, size))
}
