//! Compile errors as programs know them. The library (PCRE2) numbers its errors as its predecessor (PCRE1) did, plus 100, but
//! words and places differ, and some patterns were good that are not any more: those are mended and tried again.

const MISSING_TERMINATOR: &str = "syntax error in subpattern name (missing terminator)";
const RECURSION: &str = "(?R or (?[+-]digits must be followed by )";
pub const UNKNOWN_GROUP: &str = "unrecognized character after (? or (?-";
const NON_HEX: &str = "non-hex character in \\x{} (closing brace missing?)";
pub const NOTHING_TO_REPEAT: &str = "nothing to repeat";
pub const LOOKBEHIND: &str = "lookbehind assertion is not fixed length";
pub const CALLOUT: &str = "closing ) for (?C expected";
pub const VERB: &str = "(*VERB) not recognized or malformed";
const NO_GROUP: &str = "reference to non-existent subpattern";
const ZERO_REFERENCE: &str = "a numbered reference must not be zero";
pub const NO_LETTERS: &str = "PCRE does not support \\L, \\l, \\N{name}, \\U, or \\u";

/// The text for an error of `pcre2_compile`, or None to ask the library.
fn text(code: i32) -> Option<&'static str> {
    Some(match code - 100 {
        1 => "\\ at end of pattern",
        2 => "\\c at end of pattern",
        3 => "unrecognized character follows \\",
        4 => "numbers out of order in {} quantifier",
        5 => "number too big in {} quantifier",
        6 => "missing terminating ] for character class",
        7 => "invalid escape sequence in character class",
        8 => "range out of order in character class",
        9 => NOTHING_TO_REPEAT,
        11 => UNKNOWN_GROUP,
        12 => "POSIX named classes are supported only within a class",
        13 | 31 => "POSIX collating elements are not supported",
        14 => "missing )",
        15 => NO_GROUP,
        18 => "missing ) after comment",
        19 => "regular expression is too complicated",
        20 => "regular expression is too large",
        21 => "failed to get memory",
        22 => "unmatched parentheses",
        24 => "malformed number or name after (?(",
        25 => LOOKBEHIND,
        26 => ZERO_REFERENCE,
        27 => "conditional group contains more than two branches",
        28 => "assertion expected after (?( or (?(?C)",
        29 => "digit expected after (?+",
        30 => "unknown POSIX class name",
        34 => "character value in \\x{} or \\o{} is too large",
        36 => "\\C not allowed in lookbehind assertion",
        37 | 93 => NO_LETTERS,
        38 => "number after (?C is > 255",
        39 | 82 => CALLOUT,
        40 | 60 => VERB,
        41 => "unrecognized character after (?P",
        42 => MISSING_TERMINATOR,
        43 => "two named subpatterns have the same name",
        44 => "group name must start with a non-digit",
        46 => "malformed \\P or \\p sequence",
        47 => "unknown property name after \\P or \\p",
        48 => LONG_NAME,
        49 => "too many named subpatterns (maximum 10000)",
        50 => "invalid range in character class",
        51 => "octal value is greater than \\377 in 8-bit non-UTF-8 mode",
        54 => "DEFINE group contains more than one branch",
        55 => "missing opening brace after \\o",
        57 => "\\g is not followed by a braced, angle-bracketed, or quoted name/number or by a plain number",
        58 => RECURSION,
        61 => "number is too big",
        62 => "subpattern name expected",
        64 => "non-octal character in \\o{} (closing brace missing?)",
        65 => "different names for subpatterns of the same number are not allowed",
        66 => "(*MARK) must have an argument",
        67 => NON_HEX,
        68 => "\\c must be followed by an ASCII character",
        69 => "\\k is not followed by a braced, angle-bracketed, or quoted name",
        71 => "\\N is not supported in a class",
        73 => "disallowed Unicode code point (>= 0xd800 && <= 0xdfff)",
        74 => "setting UTF is disabled by the application",
        76 => "name is too long in (*MARK), (*PRUNE), (*SKIP), or (*THEN)",
        78 => "digits missing in \\x{} or \\o{}",
        _ => return None,
    })
}

pub const LONG_NAME: &str = "subpattern name is too long (maximum 32 characters)";
/// Longest name of a group in the predecessor.
pub const MAX_NAME_BYTES: usize = 32;

pub enum Verdict {
    /// No error in the predecessor: replace `removed` bytes at a place by `inserted`.
    Mend { at: usize, removed: usize, inserted: &'static [u8] },
    /// An error that the predecessor reports only if it finds no other one: go on, with `removed` bytes at a place replaced by `inserted`.
    Later { at: usize, removed: usize, inserted: &'static [u8], words: &'static str },
    /// An error, with its text (None: ask the library) and place.
    Error(Option<&'static str>, usize),
}

fn last(pattern: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(pattern, needle)
}

/// Index of the parenthesis that closes the group that opens at or after `from`.
fn closing(pattern: &[u8], from: usize) -> usize {
    let (mut depth, mut at, mut in_class) = (0, from, false);
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => depth += 1,
            b')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    pattern.len()
}

fn skip(pattern: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    from + pattern[from.min(pattern.len())..].iter().take_while(|&&b| wanted(b)).count()
}

/// Where a reference by number lies, whose number begins at a place: `\12`, `\g12`, `\g{12}`.
fn numbered_reference(pattern: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    // The library's place is before the number, or after it if the number is in braces.
    let at = match pattern.get(at) {
        Some(b'{') => at + 1,
        Some(b'}') => at - pattern[..at].iter().rev().take_while(|b| b.is_ascii_digit()).count(),
        _ => at,
    };
    let end = skip(pattern, at, |b| b.is_ascii_digit());
    let opening = [b"\\g{".as_slice(), b"\\g", b"\\"].into_iter().find(|opening| pattern[..at].ends_with(opening))?;
    let is_braced = opening.ends_with(b"{");
    let is_whole = end > at && (!is_braced || pattern.get(end) == Some(&b'}'));
    is_whole.then(|| at - opening.len()..end + is_braced as usize)
}

/// Index after the first digit with which the number at the end of a text is larger than a quantifier may be.
fn too_big(text: &[u8]) -> usize {
    const MAX: u32 = 65535;
    let start = text.len() - text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let mut number = 0;
    for (at, digit) in text.iter().enumerate().skip(start) {
        number = number * 10 + u32::from(digit - b'0');
        if number > MAX {
            return at + 1;
        }
    }
    text.len()
}

/// What the predecessor would have said where the library finds this error at this place of the pattern.
pub fn judge(pattern: &[u8], code: i32, at: usize) -> Verdict {
    use Verdict::{Error, Later, Mend};
    let at = at.min(pattern.len());
    let before = &pattern[..at];
    let own = text(code);
    let plain = Error(own, at);
    let back = Error(own, at.saturating_sub(1));
    match code - 100 {
        // Delete could be a control character's letter; what it makes is a question mark.
        68 => match last(&pattern[..(at + 1).min(pattern.len())], b"\\c\x7f") {
            Some(start) => Mend { at: start, removed: 3, inserted: b"\\x3f" },
            None => plain,
        },
        5 => Error(own, too_big(before)),
        // An escape without meaning in a class stood for its letter.
        7 => match before.iter().rposition(|&b| b == b'\\') {
            Some(escape) => Mend { at: escape, removed: 1, inserted: b"" },
            None => plain,
        },
        // An escaped letter without meaning stood for itself.
        3 if before.last() == Some(&b'\\') => Mend { at: at - 1, removed: 1, inserted: b"" },
        15 if before.last() == Some(&b'\\') && matches!(pattern.get(at), Some(b'8' | b'9')) => {
            Mend { at: at - 1, removed: 1, inserted: b"" }
        }
        15 if before.ends_with(b"(?(0") => Error(Some("invalid condition (?(0)"), at + 1),
        15 if before.ends_with(b"(?(") || before.ends_with(b"(?(<") || before.ends_with(b"(?('") => {
            Error(own, (skip(pattern, at, |b| b != b')') + 1).min(pattern.len()))
        }
        15 if before.ends_with(b"(?") && pattern.get(at) == Some(&b'(') => {
            Error(own, (skip(pattern, at, |b| b != b')') + 1).min(pattern.len()))
        }
        95 => {
            let open = last(before, b"(*").unwrap_or(at);
            Error(Some(VERB), skip(pattern, open, |b| b != b')'))
        }
        15 if before.ends_with(b"{0}") => Error(Some(ZERO_REFERENCE), at - 1),
        15 if let Some(reference) = numbered_reference(pattern, at) => {
            Later { at: reference.start, removed: reference.len(), inserted: b"(?:)", words: NO_GROUP }
        }
        15 => Error(own, skip(pattern, at, |b| b.is_ascii_alphanumeric() || b"_{-".contains(&b))),
        78 if before.last() == Some(&b'{') => Error(Some(NON_HEX), at),
        78 if before.ends_with(b"\\x") => Mend { at, removed: 0, inserted: b"00" },
        67 if !pattern[at..].contains(&b'}') => Error(own, pattern.len()),
        // A hyphen beside a class within a class stood for itself.
        50 if before.last() == Some(&b'-') => Mend { at: at - 1, removed: 0, inserted: b"\\" },
        50 => match last(before, b"-[:") {
            Some(hyphen) => Error(own, hyphen + 1),
            None => back,
        },
        30 => match last(before, b"[:") {
            Some(open) => Error(own, open + 2 + (pattern.get(open + 2) == Some(&b'^')) as usize),
            None => plain,
        },
        13 | 31 => Error(own, last(before, b"[.").or_else(|| last(before, b"[=")).unwrap_or(at)),
        25 | 87 | 100 => Error(text(125), closing(pattern, at)),
        27 | 54 => Error(own, closing(pattern, last(before, b"(?(").unwrap_or(at))),
        28 | 29 => Error(own, at + 1),
        37 | 43 | 47 | 51 | 69 | 71 | 93 => back,
        57 if at == pattern.len() => Error(Some(ZERO_REFERENCE), at.saturating_sub(1)),
        62 if before.ends_with(b"(?P<") || before.ends_with(b"(?'") => Error(Some(MISSING_TERMINATOR), at),
        62 => Error(Some("unrecognized character after (?<"), at),
        74 => Error(own, 0),
        14 => match last(pattern, b"(?").map(|open| &pattern[open + 2..]) {
            Some(rest) if rest.iter().all(|b| b"imsxJUX-".contains(b)) => Error(Some(UNKNOWN_GROUP), at),
            Some(rest) if rest.iter().all(|b| b"+-0123456789".contains(b)) => Error(Some(RECURSION), at),
            _ => plain,
        },
        _ => plain,
    }
}
