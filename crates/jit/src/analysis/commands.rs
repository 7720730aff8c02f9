//! The commands of `bs_match` that have a translation.

use super::function::FunctionView;
use heddle_beamfile::Operand;
use heddle_term::{Term, list};

/// Largest field in bits that is read into a word and is a small integer for sure.
const MAX_FIELD_BITS: u64 = 56;

/// Far from overflow.
const MAX_SLICE_BITS: u64 = 1 << 40;

#[derive(Clone, Copy, Debug)]
pub enum Command {
    /// At least this number of bits must be left, and the rest must be a multiple of the unit.
    AtLeast {
        bits: u64,
        unit: u64,
    },
    Exactly {
        bits: u64,
    },
    Skip {
        bits: u64,
    },
    Integer {
        bits: u64,
        signed: bool,
        little: bool,
        to: Operand,
    },
    Equal {
        bits: u64,
        value: u64,
    },
    /// A bitstring of whole bytes.
    Slice {
        bits: u64,
        to: Operand,
    },
    /// All that is left.
    Tail {
        to: Operand,
    },
}

/// How the fields of an instruction are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// All are whole bytes, and lie at bytes if the match does.
    Bytes,
    /// All lie in one word, and are shifted out of it.
    Word,
    /// There are none.
    Nothing,
}

impl Command {
    /// Bits that the command takes.
    pub fn bits(&self) -> u64 {
        match *self {
            Command::AtLeast { .. } | Command::Exactly { .. } | Command::Tail { .. } => 0,
            Command::Skip { bits } | Command::Integer { bits, .. } | Command::Equal { bits, .. } | Command::Slice { bits, .. } => bits,
        }
    }

    pub fn may_fail(&self) -> bool {
        matches!(self, Command::AtLeast { .. } | Command::Exactly { .. } | Command::Equal { .. })
    }

    /// True for a command that makes a bitstring.
    pub fn is_slice(&self) -> bool {
        matches!(self, Command::Slice { .. } | Command::Tail { .. })
    }

    fn is_field(&self) -> bool {
        matches!(self, Command::Integer { .. } | Command::Equal { .. })
    }
}

/// The commands of a `bs_match`, or `None` if the first tier must do it.
pub fn of(view: &FunctionView<'_>, operand: Operand) -> Option<(Vec<Command>, Reading)> {
    let mut rest = view.list(operand);
    let mut commands = Vec::new();
    while let [name, args @ ..] = rest {
        let number = |index: usize| args.get(index).and_then(|operand| if let Operand::U(number) = *operand { Some(number) } else { None });
        let Operand::Atom(name) = *name else { return None };
        let (command, used) = match view.source.beam.atoms.get(name)? {
            "ensure_at_least" => (Command::AtLeast { bits: number(0)?, unit: number(1)?.max(1) }, 2),
            "ensure_exactly" => (Command::Exactly { bits: number(0)? }, 1),
            "skip" => (Command::Skip { bits: number(0)? }, 1),
            "integer" => {
                let (signed, little) = flags(view, args[1])?;
                let bits = number(2)?.checked_mul(number(3)?)?;
                (Command::Integer { bits, signed, little: little && bits > 8, to: args[4] }, 5)
            }
            "=:=" => {
                let value = match *args.get(2)? {
                    Operand::U(value) => value,
                    Operand::I(value) => u64::try_from(value).ok()?,
                    _ => return None,
                };
                (Command::Equal { bits: number(1)?, value }, 3)
            }
            "binary" => {
                let bits = number(2)?.checked_mul(number(3)?).filter(|bits| bits % 8 == 0 && *bits <= MAX_SLICE_BITS)?;
                (Command::Slice { bits, to: args[4] }, 5)
            }
            "get_tail" => (Command::Tail { to: args[2] }, 3),
            _ => return None,
        };
        commands.push(command);
        rest = &args[used..];
    }
    let reading = reading(&commands)?;
    Some((commands, reading))
}

fn reading(commands: &[Command]) -> Option<Reading> {
    if commands.iter().any(|command| matches!(*command, Command::AtLeast { bits, unit } if bits > 1 << 40 || !unit.is_power_of_two())) {
        return None;
    }
    let fields = || commands.iter().filter(|command| command.is_field());
    let has_slices = commands.iter().any(Command::is_slice);
    if fields().next().is_none() && !has_slices {
        return Some(Reading::Nothing);
    }
    if fields().any(|field| !(1..=MAX_FIELD_BITS).contains(&field.bits())) {
        return None;
    }
    if commands.iter().all(|command| command.bits().is_multiple_of(8)) {
        return Some(Reading::Bytes);
    }
    if has_slices {
        return None;
    }
    let all: u64 = commands.iter().map(Command::bits).sum();
    let is_little = commands.iter().any(|command| matches!(command, Command::Integer { little: true, .. }));
    // The word is read when nothing was changed yet.
    let first_taken = commands.iter().position(|command| command.bits() > 0).unwrap_or(0);
    let is_ensured_before =
        !commands[first_taken..].iter().any(|command| matches!(command, Command::AtLeast { .. } | Command::Exactly { .. }));
    // Eight bytes hold as many bits from any bit on.
    (all <= 57 && !is_little && is_ensured_before).then_some(Reading::Word)
}

/// Signed and little endian, from a number or a list of names.
pub fn flags(view: &FunctionView<'_>, operand: Operand) -> Option<(bool, bool)> {
    match operand {
        Operand::Nil => Some((false, false)),
        Operand::U(flags) => (flags & !0b110 == 0).then_some((flags & 4 != 0, flags & 2 != 0)),
        Operand::Literal(index) => {
            let mut found = (false, false);
            for flag in list::ListIter::new(view.source.literals[index as usize]).filter_map(Term::as_atom) {
                match flag.name() {
                    "signed" => found.0 = true,
                    "little" | "native" => found.1 = true,
                    _ => {}
                }
            }
            Some(found)
        }
        _ => None,
    }
}
