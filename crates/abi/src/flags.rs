//! Emulator flags (`+F` on the command line of `erl`): how they are told apart. Their table is in [`crate::settings`]; the help text is
//! made from it too.

pub use crate::settings::FLAGS;
use crate::settings::{Check, Field};

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// The rest of the same argument or, when that is empty, the next argument.
    Value,
    /// As `Value`; the rest of the same argument may be any word.
    Word,
    /// The rest of the same argument, which may be empty.
    Attached,
    /// A boolean in the same or next argument, if there is one.
    Boolean,
}

/// What a flag does.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Sets a field of [`Settings`](crate::settings::Settings), if the check accepts the value.
    Sets(&'static dyn Field, Check),
    /// Honoured by code of `cli`.
    ByCli,
    /// Accepted, without effect: there is nothing here that it could tune.
    None,
}

#[derive(Clone, Copy)]
pub struct Flag {
    pub name: &'static str,
    pub takes: Takes,
    /// How the value is called in the help text.
    pub value: &'static str,
    pub meaning: &'static str,
    pub effect: Effect,
}

impl Flag {
    /// True if the flag does what the help text says.
    pub fn is_honoured(&self) -> bool {
        !matches!(self.effect, Effect::None)
    }
}

/// A flag as found on a command line.
#[derive(Clone)]
pub struct Found {
    pub flag: &'static Flag,
    pub value: Option<String>,
    /// The value was the next argument.
    pub used_next: bool,
}

#[derive(Clone, Copy)]
pub enum Wrong {
    Unknown,
    ValueMissing(&'static Flag),
}

/// Looks at `name` (without `+`) and the argument after it. The longest name wins: `+SDio4` is not `+S` with `Dio4`.
pub fn find(name: &str, next: Option<&str>) -> Result<Found, Wrong> {
    let fits = |f: &&Flag| match name.strip_prefix(f.name) {
        None => false,
        Some("") => true,
        Some(rest) => match f.takes {
            Takes::Nothing => false,
            Takes::Attached | Takes::Word => true,
            Takes::Boolean => matches!(rest, "true" | "false"),
            // Words may be attached to the words of the scheduler flags, numbers to all.
            Takes::Value => {
                f.name.len() > 1 || rest.starts_with(|c: char| c.is_ascii_digit() || c == ':') || matches!(rest, "true" | "false")
            }
        },
    };
    let flag = FLAGS.iter().filter(fits).max_by_key(|f| f.name.len()).ok_or(Wrong::Unknown)?;
    let rest = &name[flag.name.len()..];
    let found = |value: Option<&str>, used_next| Ok(Found { flag, value: value.map(str::to_owned), used_next });
    match flag.takes {
        Takes::Nothing => found(None, false),
        // `+MBas aobf` and `+MBasaobf`.
        Takes::Attached if flag.name == "M" && is_allocator_parameter(rest) => match next {
            Some(_) => found(Some(rest), true),
            None => Err(Wrong::ValueMissing(flag)),
        },
        Takes::Attached => found(Some(rest), false),
        Takes::Boolean if rest.is_empty() => match next {
            Some("true" | "false") => found(next, true),
            _ => found(None, false),
        },
        Takes::Boolean => found(Some(rest), false),
        Takes::Value | Takes::Word if rest.is_empty() => match next {
            Some(next) => found(Some(next), true),
            None => Err(Wrong::ValueMissing(flag)),
        },
        Takes::Value | Takes::Word => found(Some(rest), false),
    }
}

/// The letters of allocators in `+M` flags (documentation of `erts_alloc`).
const ALLOCATORS: &str = "uBIDEFHLRSTZ";
/// What may follow the letter of an allocator.
const OF_ALLOCATORS: [&str; 23] = [
    "as", "asbcst", "atags", "acul", "acnl", "acfml", "acful", "cp", "e", "t", "lmbcs", "mbcgs", "mbsd", "mmbcs", "mmmbc", "mmsbc",
    "msbclt", "ramv", "rmbcmt", "rsbcmt", "rsbcst", "sbct", "smbcs",
];
/// Parameters of no single allocator.
const OTHERS: [&str; 22] = [
    "ea", "ummc", "uycs", "usac", "im", "is", "lpm", "Mamcbf", "Mrmcbf", "Mmcs", "Mscs", "Mscrfsd", "Msco", "Mscrpm", "Mlp", "Ye", "Ym",
    "Ytp", "Ytt", "Iscs", "Xscs", "dai",
];

/// True if the rest of a `+M` flag is the name of a parameter and no more, so that the value is the next argument.
fn is_allocator_parameter(rest: &str) -> bool {
    OTHERS.contains(&rest) || rest.strip_prefix(|letter| ALLOCATORS.contains(letter)).is_some_and(|name| OF_ALLOCATORS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(name: &str, next: Option<&str>) -> Option<(&'static str, Option<String>, bool)> {
        find(name, next).ok().map(|f| (f.flag.name, f.value, f.used_next))
    }

    #[test]
    fn values_attached_or_next() {
        assert_eq!(look("S", Some("2:1")), Some(("S", Some("2:1".into()), true)));
        assert_eq!(look("S1", Some("x")), Some(("S", Some("1".into()), false)));
        assert_eq!(look("S:2", None), Some(("S", Some(":2".into()), false)));
        assert_eq!(look("A0", None), Some(("A", Some("0".into()), false)));
        assert_eq!(look("sbtu", None), Some(("sbt", Some("u".into()), false)));
        assert_eq!(look("SDio", Some("4")), Some(("SDio", Some("4".into()), true)));
        assert_eq!(look("B", Some("i")), Some(("B", Some(String::new()), false)));
        assert_eq!(look("Bi", None), Some(("B", Some("i".into()), false)));
        assert_eq!(look("c", Some("-x")), Some(("c", None, false)));
        assert_eq!(look("c", Some("true")), Some(("c", Some("true".into()), true)));
        assert_eq!(look("MBas", Some("aobf")), Some(("M", Some("Bas".into()), true)));
        assert_eq!(look("MBlmbcs", Some("512")), Some(("M", Some("Blmbcs".into()), true)));
        assert_eq!(look("MMmcs", Some("30")), Some(("M", Some("Mmcs".into()), true)));
        assert_eq!(look("MBasaobf", Some("x")), Some(("M", Some("Basaobf".into()), false)));
        assert_eq!(look("W", Some("w")), Some(("W", Some("w".into()), true)));
        assert_eq!(look("We", Some("x")), Some(("W", Some("e".into()), false)));
        assert_eq!(look("zz", None), None);
        assert_eq!(look("Px", None), None);
        assert!(matches!(find("P", None), Err(Wrong::ValueMissing(f)) if f.name == "P"));
    }

    #[test]
    fn names_are_unique() {
        for (i, f) in FLAGS.iter().enumerate() {
            assert!(FLAGS[..i].iter().all(|g| g.name != f.name), "{} is there twice", f.name);
        }
    }
}
