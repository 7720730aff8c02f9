//! Emulator flags (`+F` on the command line of `erl`): one table that the parser and the help text read.

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// The rest of the same argument or, when that is empty, the next argument.
    Value,
    /// The rest of the same argument, which may be empty.
    Attached,
    /// A boolean in the same or next argument, if there is one.
    Boolean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Does what it says.
    Honoured,
    /// Accepted, without effect: there is nothing here that it could tune.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    pub name: &'static str,
    pub takes: Takes,
    pub support: Support,
    /// How the value is called in the help text.
    pub value: &'static str,
    pub meaning: &'static str,
}

use Support::{Honoured, Ignored};
use Takes::{Attached, Boolean, Nothing, Value};

const fn flag(name: &'static str, takes: Takes, support: Support, value: &'static str, meaning: &'static str) -> Flag {
    Flag { name, takes, support, value, meaning }
}

pub const FLAGS: &[Flag] = &[
    flag(
        "S",
        Value,
        Honoured,
        "N[:M]",
        "schedulers (default: processors), and how many of them are online (default: no more than processors)",
    ),
    flag("SP", Value, Honoured, "P[:Q]", "the same in percent of the processors"),
    flag("SDcpu", Value, Honoured, "N[:M]", "threads for long computations in natives"),
    flag("SDPcpu", Value, Honoured, "P[:Q]", "the same in percent of the schedulers"),
    flag("SDio", Value, Honoured, "N", "threads for files and other blocking calls (default 10)"),
    flag("P", Value, Honoured, "N", "how many processes there may be at a time"),
    flag("t", Value, Honoured, "N", "how many atoms there may be"),
    flag(
        "hmem",
        Value,
        Honoured,
        "private|shared|hybrid",
        "where terms lie: in a heap for each process, in one for all, or messages in an area for all (default private)",
    ),
    flag("hmarea", Value, Honoured, "MIB", "with +hmem hybrid: room for messages that are not copied; further ones are (default 15360)"),
    flag(
        "hdirect",
        Value,
        Honoured,
        "never|large|always",
        "with +hmem hybrid: which messages are built where they will be sent from, instead of copied (default large)",
    ),
    flag(
        "hgct",
        Value,
        Honoured,
        "N",
        "with +hmem shared: how many threads may collect at a time (default 0: as many as there are processors)",
    ),
    flag(
        "hgcp",
        Value,
        Honoured,
        "PERCENT",
        "with +hmem shared: the part of the time that garbage_collect may take, as it collects all (default 25; 100: any)",
    ),
    flag("hpause", Value, Honoured, "MICROSECONDS", "with +hmem shared: how long a minor collection should take at most (default 1000)"),
    flag(
        "hwatch",
        Value,
        Honoured,
        "SECONDS|off",
        "after how long a scheduler that does not come back from a native or a slice is named on standard error (default 10)",
    ),
    flag("hms", Value, Honoured, "WORDS", "smallest heap of a process"),
    flag("hmax", Value, Honoured, "WORDS", "largest heap of a process; 0: no limit"),
    flag("pc", Value, Honoured, "latin1|unicode", "which characters io functions print as they are"),
    flag(
        "JPcover",
        Value,
        Honoured,
        "MODE",
        "native coverage of what is loaded: [function|line][_counters], true (line_counters) or false",
    ),
    flag("i", Value, Honoured, "MODULE", "module that boots the VM (default init)"),
    flag("B", Attached, Honoured, "[c|d|i]", "Ctrl-C: goes to the shell, ends the VM, is ignored (default: break menu)"),
    flag("W", Attached, Honoured, "{i|w|e}", "what warnings are logged as"),
    flag("fnu", Attached, Honoured, "[w|i|e]", "file names are UTF-8; how names that are not are treated"),
    flag("fna", Attached, Honoured, "[w|i|e]", "file names: encoding from the locale"),
    flag("fnl", Nothing, Honoured, "", "file names are Latin-1"),
    flag("V", Nothing, Honoured, "", "print the version"),
    flag(
        "zhft",
        Value,
        Honoured,
        "MS|infinity",
        "how long a VM that halts may take to write what ports were sent; then it ends with status 255 (default infinity)",
    ),
    flag("Q", Value, Ignored, "N", "how many ports there may be"),
    flag("e", Value, Ignored, "N", "how many ETS tables there may be (there is no limit)"),
    flag("A", Value, Ignored, "N", "asynchronous threads"),
    flag("a", Value, Ignored, "KWORDS", "their stack"),
    flag("c", Boolean, Honoured, "BOOL", "time correction (default true)"),
    flag(
        "C",
        Value,
        Honoured,
        "no_time_warp|single_time_warp|multi_time_warp",
        "when the time offset may change (default multi_time_warp)",
    ),
    flag("d", Nothing, Ignored, "", "no crash dump for internal errors"),
    flag("dcg", Value, Ignored, "N", "groups of decentralised counters"),
    flag("hmbs", Value, Honoured, "WORDS", "smallest binary heap"),
    flag("hmaxk", Value, Honoured, "BOOL", "kill a process at its largest heap"),
    flag("hmaxel", Value, Honoured, "BOOL", "log a process at its largest heap"),
    flag("hmaxib", Value, Honoured, "BOOL", "count binaries in the largest heap"),
    flag("hpds", Value, Ignored, "N", "first size of process dictionaries"),
    flag("hmqd", Value, Honoured, "on_heap|off_heap", "where message queues live"),
    flag("IOt", Value, Ignored, "N", "poll threads"),
    flag("IOp", Value, Ignored, "N", "poll sets"),
    flag("IOPt", Value, Ignored, "P", "poll threads, percent"),
    flag("IOPp", Value, Ignored, "P", "poll sets, percent"),
    flag("IOs", Value, Ignored, "BOOL", "scheduler poll sets"),
    flag("JDdump", Value, Ignored, "BOOL", "machine code dumps"),
    flag("JPperf", Value, Ignored, "MODE", "support for perf"),
    flag("JMsingle", Value, Ignored, "BOOL", "one mapping for code"),
    flag("K", Value, Ignored, "BOOL", "kernel poll (always on)"),
    flag("L", Nothing, Ignored, "", "no line numbers in stack traces"),
    flag("M", Attached, Ignored, "...", "memory allocators"),
    flag("n", Attached, Ignored, "{s|a|d}", "signals to ports"),
    flag("pad", Value, Ignored, "BOOL", "asynchronous distribution"),
    flag("R", Value, Ignored, "N", "compatibility release"),
    flag("r", Nothing, Ignored, "", "always move"),
    flag("rg", Value, Ignored, "N", "reader groups"),
    flag("sal", Value, Honoured, "BOOL", "a scheduler that is alone at work uses no atomic instructions (default true)"),
    flag("sbt", Value, Honoured, "u|ns|ts|ps|s|nnts|nnps|tnnps|db", "binding of schedulers to processors (default u: none)"),
    flag("sbwt", Value, Honoured, "none|very_short|short|medium|long|very_long", "how long schedulers look for work before they sleep"),
    flag("sbwtdcpu", Value, Ignored, "HOW", "busy wait of SDcpu threads"),
    flag("sbwtdio", Value, Ignored, "HOW", "busy wait of SDio threads"),
    flag("scl", Value, Honoured, "BOOL", "keep the load on few schedulers, the others sleep (default true)"),
    flag("sct", Value, Honoured, "TOPOLOGY", "processor topology, such as L0-3t0-1,0-1c0,0,1,1p0"),
    flag("ssrct", Nothing, Ignored, "", "do not look at the processor topology"),
    flag("secio", Value, Ignored, "BOOL", "eager look for input"),
    flag("sfwi", Value, Ignored, "MS", "forced wake-up interval"),
    flag("spp", Value, Ignored, "BOOL", "port parallelism"),
    flag("sss", Value, Ignored, "KWORDS", "stack of scheduler threads"),
    flag("sssdcpu", Value, Ignored, "KWORDS", "stack of SDcpu threads"),
    flag("sssdio", Value, Ignored, "KWORDS", "stack of SDio threads"),
    flag("stbt", Value, Honoured, "TYPE", "as +sbt"),
    flag("sub", Value, Honoured, "BOOL", "instead of +scl: all schedulers work the same part of the time (default false)"),
    flag("swc", Value, Honoured, "BOOL", "a process that the running process just woke is next, if no scheduler is idle (default true)"),
    flag("swct", Value, Ignored, "HOW", "wake-up clean-up"),
    flag("sws", Value, Ignored, "HOW", "wake-up strategy"),
    flag("swt", Value, Honoured, "very_low|low|medium|high|very_high", "how much work has to wait before one more scheduler is active"),
    flag("swtdcpu", Value, Ignored, "HOW", "wake-up threshold of SDcpu threads"),
    flag("swtdio", Value, Ignored, "HOW", "wake-up threshold of SDio threads"),
    flag("T", Value, Ignored, "N", "modified timing"),
    flag("v", Attached, Ignored, "", "verbose"),
    flag("zdbbl", Value, Ignored, "KB", "busy limit of distribution buffers"),
    flag("zdntgc", Value, Ignored, "S", "collection of node tables"),
    flag("zebwt", Value, Ignored, "HOW", "busy wait in ETS"),
    flag("zosrl", Value, Ignored, "N", "outstanding requests"),
];

/// A flag as found on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub flag: &'static Flag,
    pub value: Option<String>,
    /// The value was the next argument.
    pub used_next: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            Takes::Attached => true,
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
        // `+MBas aobf` and `+MBasaobf`: the parameter of an allocator has two or three letters after that of the allocator.
        Takes::Attached if flag.name == "M" && rest.len() <= 5 && next.is_some_and(|n| !n.starts_with(['-', '+'])) => {
            found(Some(rest), true)
        }
        Takes::Attached => found(Some(rest), false),
        Takes::Boolean if rest.is_empty() => match next {
            Some("true" | "false") => found(next, true),
            _ => found(None, false),
        },
        Takes::Boolean => found(Some(rest), false),
        Takes::Value if rest.is_empty() => match next {
            Some(next) => found(Some(next), true),
            None => Err(Wrong::ValueMissing(flag)),
        },
        Takes::Value => found(Some(rest), false),
    }
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
