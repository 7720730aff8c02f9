//! Which values a flag takes, and what is said of others. The texts that do not begin with the flag are those of stock, word by word:
//! programs look for them.

/// Flushing at a halt takes as long as it takes (`+zhft infinity`).
pub const FOREVER_MS: usize = usize::MAX;

/// Which values a flag takes. In a text `{}` stands for the value.
#[derive(Clone, Copy)]
pub enum Check {
    /// Any number that is not negative.
    Any,
    /// A number from the first to the second, or the text.
    Within(usize, usize, &'static str),
    /// `true` or `false`, or the text.
    Bool(&'static str),
    /// `true`; all else is false.
    IsTrue,
    /// One of the names, each with its number, or the text.
    OneOf(&'static [(&'static str, usize)], &'static str),
    /// One of the names, each with its number, or a number from the first to the second, or the text.
    NamedOrWithin(&'static [(&'static str, usize)], usize, usize, &'static str),
    /// Seconds, with a fraction if need be, from 0.1 to 86,400, as nanoseconds; `off` and 0 are 0.
    Seconds(&'static str),
    /// Milliseconds in 31 bits, or `infinity` for [`FOREVER_MS`].
    Milliseconds(&'static str),
    /// A number of MiB up to this one, or of KiB with a `K` after it, as bytes.
    Mebibytes(usize, &'static str),
    /// A seed in 32 bits, not 0, and after a colon a number up to this one, which is the default: the seed is the upper half.
    Seed(usize, &'static str),
}

impl Check {
    /// The number that the value stands for, or what is wrong with it.
    pub fn value(self, flag: &str, value: &str) -> Result<usize, String> {
        let number = || value.parse::<usize>().map_err(|_| format!("+{flag} {value}: a number is needed"));
        let (found, problem) = match self {
            Check::Any => return number(),
            Check::Within(min, max, problem) => (Some(number()?).filter(|n| (min..=max).contains(n)), problem),
            Check::Bool(problem) => (value.parse::<bool>().ok().map(usize::from), problem),
            Check::IsTrue => return Ok(usize::from(value == "true")),
            Check::OneOf(names, problem) => (names.iter().find(|(name, _)| *name == value).map(|(_, number)| *number), problem),
            Check::NamedOrWithin(names, min, max, problem) => {
                let named = names.iter().find(|(name, _)| *name == value).map(|(_, number)| *number);
                (named.or_else(|| value.parse().ok().filter(|n| (min..=max).contains(n))), problem)
            }
            Check::Seconds(problem) => (nanoseconds(value), problem),
            Check::Milliseconds(problem) => (milliseconds(value), problem),
            Check::Mebibytes(max, problem) => (bytes(value).filter(|&bytes| bytes <= max << 20), problem),
            Check::Seed(max, problem) => (seed(value, max), problem),
        };
        found.ok_or_else(|| problem.replace("{}", value))
    }
}

fn nanoseconds(seconds: &str) -> Option<usize> {
    if seconds == "off" {
        return Some(0);
    }
    match seconds.parse::<f64>().ok()? {
        0.0 => Some(0),
        seconds @ 0.1..=86_400.0 => usize::try_from(std::time::Duration::from_secs_f64(seconds).as_nanos()).ok(),
        _ => None,
    }
}

fn milliseconds(text: &str) -> Option<usize> {
    if text == "infinity" { Some(FOREVER_MS) } else { text.parse::<i32>().ok()?.try_into().ok() }
}

fn bytes(text: &str) -> Option<usize> {
    match text.strip_suffix('K') {
        Some(kibibytes) => kibibytes.parse::<usize>().ok()?.checked_mul(1 << 10),
        None => text.parse::<usize>().ok()?.checked_mul(1 << 20),
    }
}

fn seed(text: &str, max: usize) -> Option<usize> {
    let (seed, number) = match text.split_once(':') {
        Some((seed, number)) => (seed, number.parse().ok().filter(|&number| number <= max)?),
        None => (text, max),
    };
    let seed = seed.parse::<u32>().ok().filter(|&seed| seed != 0)?;
    Some((seed as usize) << 32 | number)
}
