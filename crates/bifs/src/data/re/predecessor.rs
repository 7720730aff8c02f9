//! What patterns meant to the library's predecessor (PCRE 8, which is in OTP 27) where they mean something else now, and what it refused
//! that is good now. `docs/re-differences.md` lists all differences, and what was decided for each.

use super::errors::{CALLOUT, LOOKBEHIND, NO_LETTERS, NOTHING_TO_REPEAT, UNKNOWN_GROUP, VERB};

/// Settings at the start of a pattern that the predecessor does not know.
const NEW_SETTINGS: [&str; 5] = ["NOTEMPTY", "NO_JIT", "NO_DOTSTAR_ANCHOR", "LIMIT_HEAP", "LIMIT_DEPTH"];

/// A pattern as the library gets it.
pub struct Translated {
    pub text: Vec<u8>,
    /// Places in `text` of bytes that the given pattern has not.
    inserted: Vec<usize>,
    /// What the predecessor refused that the library takes, or refuses in other words: the place in the given pattern, and the words.
    pub refused: Option<(usize, &'static str)>,
}

impl Translated {
    /// The place in the given pattern of one in `text`.
    pub fn original(&self, at: usize) -> usize {
        at - self.inserted.iter().filter(|&&place| place < at).count()
    }
}

/// A group that has begun.
struct Open {
    at: usize,
    /// Its number and name, if it captures.
    number: Option<usize>,
    name: Vec<u8>,
    refers_to_itself: bool,
    is_lookbehind: bool,
    /// There is a reference in a lookbehind.
    is_varying: bool,
    /// True if blanks and comments were left out before the group began.
    was_extended: bool,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
    groups: usize,
    /// Blanks and comments are left out here.
    is_extended: bool,
    /// Bytes to put in, and where.
    insertions: Vec<(usize, &'static [u8])>,
    refused: Option<(usize, &'static str)>,
}

/// `plain_groups`: parentheses alone capture. `is_extended`: blanks and comments are left out.
pub fn translate(text: &[u8], plain_groups: bool, is_extended: bool) -> Translated {
    let mut scanner = Scanner { text, at: 0, open: Vec::new(), groups: 0, is_extended, insertions: Vec::new(), refused: None };
    scanner.scan(plain_groups);
    let Scanner { mut insertions, refused, .. } = scanner;
    // Where several go to one place they keep their order.
    insertions.sort_by_key(|insertion| insertion.0);
    let mut out = Translated { text: Vec::with_capacity(text.len()), inserted: Vec::new(), refused };
    let mut from = 0;
    for (at, bytes) in insertions {
        out.text.extend_from_slice(&text[from..at]);
        out.inserted.extend(out.text.len()..out.text.len() + bytes.len());
        out.text.extend_from_slice(bytes);
        from = at;
    }
    out.text.extend_from_slice(&text[from..]);
    out
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at.min(self.text.len())..]
    }

    fn scan(&mut self, plain_groups: bool) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\\' => self.escape(),
                b'[' => self.class(),
                b'{' => self.brace(),
                b'(' => self.open(plain_groups),
                b')' => self.close(),
                b'#' if self.is_extended => self.at += memchr::memchr2(b'\n', b'\r', self.rest()).unwrap_or(self.text.len()),
                _ => self.at += 1,
            }
        }
    }

    /// An escape: a quoted part is skipped, a reference is looked at.
    fn escape(&mut self) {
        let rest = &self.text[self.at + 1..];
        match rest.first() {
            Some(b'Q') => {
                let end = memchr::memmem::find(rest, b"\\E").map_or(rest.len(), |end| end + 2);
                self.at += 1 + end;
            }
            Some(b'1'..=b'9') => {
                let digits = digits(rest);
                let number = number(&rest[..digits]);
                // Above seven it is a reference only if the pattern has that group; else an octal number, or a digit for itself.
                if number.is_some_and(|n| n < 8 || n <= self.groups) {
                    self.refer(number, b"");
                } else if rest[0] >= b'8' {
                    self.insertions.push((self.at + 1, b"x3"));
                }
                self.at += 1 + digits;
            }
            Some(b'g' | b'k') => {
                let (name, len) = reference(&rest[1..]);
                // With angle brackets or quotes `\g` calls a group.
                let calls = rest[0] == b'g' && matches!(rest.get(1), Some(b'<' | b'\''));
                if !calls {
                    let number = match name {
                        [b'-', back @ ..] => number(back).and_then(|back| (self.groups + 1).checked_sub(back)),
                        name => number(name),
                    };
                    self.refer(number, name);
                }
                self.at += 2 + len;
            }
            // A control character may be anything.
            Some(b'c') => self.at += 3,
            Some(b'p' | b'P') if rest.get(1) == Some(&b'{') => {
                let len = memchr::memchr(b'}', rest).map_or(2, |end| end + 1);
                // Without case these are all letters now, unless they stand where there is case.
                if matches!(rest[2..].strip_prefix(b"^").unwrap_or(&rest[2..]).first_chunk(), Some(b"Lu}" | b"Ll}" | b"Lt}")) {
                    self.insertions.push((self.at, b"(?-i:"));
                    self.insertions.push((self.at + 1 + len, b")"));
                }
                self.at += 1 + len;
            }
            Some(b'N') if rest.get(1) == Some(&b'{') => {
                if quantifier(&rest[1..]).is_none() {
                    self.refuse(self.at + 1, NO_LETTERS);
                }
                self.at += 2;
            }
            // What names a character: its braces are no quantifier.
            Some(b'x' | b'o') if rest.get(1) == Some(&b'{') => {
                self.at += 1 + memchr::memchr(b'}', rest).map_or(2, |end| end + 1);
            }
            _ => self.at += 2,
        }
    }

    /// A reference to a group that has not ended is one to itself.
    fn refer(&mut self, number: Option<usize>, name: &[u8]) {
        let is_meant = |open: &&mut Open| match number {
            Some(number) => open.number == Some(number),
            None => !name.is_empty() && open.name == name,
        };
        if let Some(open) = self.open.iter_mut().find(is_meant) {
            open.refers_to_itself = true;
        }
        if let Some(lookbehind) = self.open.iter_mut().rfind(|open| open.is_lookbehind) {
            lookbehind.is_varying = true;
        }
    }

    /// Notes what the predecessor refused. Only the first is reported.
    fn refuse(&mut self, at: usize, words: &'static str) {
        self.refused = self.refused.or(Some((at, words)));
    }

    fn class(&mut self) {
        let mut at = self.at + 1;
        at += (self.text.get(at) == Some(&b'^')) as usize;
        // A closing bracket in front stands for itself.
        at += (self.text.get(at) == Some(&b']')) as usize;
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b']' => {
                    self.at = at + 1;
                    return;
                }
                b'\\' if self.text.get(at + 1) == Some(&b'Q') => {
                    at += memchr::memmem::find(&self.text[at..], b"\\E").map_or(self.text.len(), |end| end + 2);
                }
                b'\\' => at += 2,
                b'[' if self.text.get(at + 1) == Some(&b':') => {
                    let name = self.text[at + 2..].iter().take_while(|b| b.is_ascii_lowercase() || **b == b'^').count();
                    at += if self.text[at + 2 + name..].starts_with(b":]") { name + 4 } else { 1 };
                }
                _ => at += 1,
            }
        }
        self.at = self.text.len();
    }

    /// `{,2}` and `{1, 2}` stood for themselves.
    fn brace(&mut self) {
        let Some(end) = memchr::memchr(b'}', self.rest()) else {
            self.at += 1;
            return;
        };
        let inside = &self.rest()[1..end];
        let is_quantifier = inside.iter().all(|b| b.is_ascii_digit() || matches!(b, b',' | b' ' | b'\t'));
        let was_one = digits(inside) > 0 && !inside.contains(&b' ') && !inside.contains(&b'\t');
        if is_quantifier && !was_one {
            self.insertions.push((self.at, b"\\"));
        }
        self.at += 1;
    }

    fn open(&mut self, plain_groups: bool) {
        let rest = &self.rest()[1..];
        if rest.first() == Some(&b'*') {
            if rest.get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b':') {
                return self.verb();
            }
            self.refuse(self.at + 1, NOTHING_TO_REPEAT);
        }
        if rest.first() == Some(&b'?') {
            self.options(&rest[1..]);
        }
        if let Some(callout) = rest.strip_prefix(b"?C") {
            let digits = digits(callout);
            if callout.get(digits).is_some_and(|&b| b != b')') {
                self.refuse(self.at + 3 + digits, CALLOUT);
            }
        }
        if rest.starts_with(b"?#") {
            self.at += memchr::memchr(b')', self.rest()).map_or(self.text.len(), |end| end + 1);
            return;
        }
        if let Some(name) = rest.strip_prefix(b"?P=") {
            let name = &name[..name.iter().position(|&b| b == b')').unwrap_or(name.len())];
            self.refer(None, name);
        }
        let name = ["?<", "?'", "?P<"].iter().find_map(|start| rest.strip_prefix(start.as_bytes()));
        let name = name.filter(|name| !matches!(name.first(), None | Some(b'=' | b'!')));
        let name: Vec<u8> =
            name.map_or(Vec::new(), |name| name.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').copied().collect());
        let captures = !name.is_empty() || plain_groups && !matches!(rest.first(), Some(b'?' | b'*'));
        self.groups += captures as usize;
        let number = captures.then_some(self.groups);
        self.open.push(Open {
            at: self.at,
            number,
            name,
            refers_to_itself: false,
            is_lookbehind: rest.starts_with(b"?<=") || rest.starts_with(b"?<!"),
            is_varying: false,
            was_extended: self.is_extended,
        });
        self.at += 1;
        self.switch(rest);
        if rest.starts_with(b"?(") {
            // A condition is no group, unless it is an assertion.
            let is_assertion = rest.get(2) == Some(&b'?');
            self.at += if is_assertion { 1 } else { memchr::memchr(b')', rest).map_or(self.text.len(), |end| end + 1) };
        }
    }

    /// Refuses letters after `(?` that switch options on or off and that the predecessor does not know.
    fn options(&mut self, text: &[u8]) {
        let mut letters = text.iter().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'^'));
        if matches!(text.first(), Some(b'P' | b'R' | b'C')) {
            return;
        }
        if let Some(at) = letters.position(|b| b"anr^".contains(b)) {
            self.refuse(self.at + 2 + at, UNKNOWN_GROUP);
        }
    }

    /// `(?x)`, `(?-x)`, and the same with a colon: `rest` is what follows the parenthesis.
    fn switch(&mut self, rest: &[u8]) {
        let Some(letters) = rest.strip_prefix(b"?") else { return };
        let len = letters.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
        if !matches!(letters.get(len), Some(b')' | b':')) {
            return;
        }
        let (on, off) = letters[..len].split_at(letters[..len].iter().position(|&b| b == b'-').unwrap_or(len));
        self.is_extended = (self.is_extended || on.contains(&b'x')) && !off.contains(&b'x');
        if letters[len] == b')' {
            // It is no group: what it switches lasts to the end of the one around it.
            self.open.pop();
            self.at += 1 + len + 1;
        }
    }

    fn verb(&mut self) {
        let rest = self.rest();
        let end = memchr::memchr(b')', rest);
        // Small letters begin assertions and groups now; some settings are new.
        let is_new = rest[2].is_ascii_lowercase() || NEW_SETTINGS.iter().any(|name| rest[2..].starts_with(name.as_bytes()));
        if is_new {
            let name = rest[2..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let has_argument = rest.get(2 + name) == Some(&b':');
            self.refuse(self.at + if has_argument { end.unwrap_or(rest.len()) } else { 2 + name }, VERB);
        }
        let Some(end) = end else {
            self.at = self.text.len();
            return;
        };
        self.at += end + 1;
        if let Some(len) = quantifier(self.rest()) {
            self.refuse(self.at + len - 1, NOTHING_TO_REPEAT);
        }
    }

    fn close(&mut self) {
        let open = self.open.pop();
        self.is_extended = open.as_ref().map_or(self.is_extended, |open| open.was_extended);
        if open.as_ref().is_some_and(|open| open.is_varying) {
            self.refuse(self.at, LOOKBEHIND);
        }
        if let Some(open) = open.filter(|open| open.refers_to_itself) {
            // Such a group was atomic in the predecessor.
            self.insertions.push((open.at, b"(?>"));
            self.insertions.push((self.at + 1, b")"));
        }
        self.at += 1;
    }
}

/// Bytes of the quantifier in front, if there is one, without what makes it lazy or possessive.
fn quantifier(text: &[u8]) -> Option<usize> {
    match text {
        [b'*' | b'+' | b'?', ..] => Some(1),
        [b'{', inside @ ..] => {
            let min = digits(inside);
            let rest = &inside[min..];
            let rest = rest.strip_prefix(b",").map_or(rest, |max| &max[digits(max)..]);
            (min > 0 && rest.first() == Some(&b'}')).then(|| text.len() - rest.len() + 1)
        }
        _ => None,
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn number(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Name or number that follows `\g` or `\k`, and how many bytes it takes, with its brackets.
fn reference(text: &[u8]) -> (&[u8], usize) {
    let close = match text.first() {
        Some(b'{') => b'}',
        Some(b'<') => b'>',
        Some(b'\'') => b'\'',
        _ => {
            let sign = (text.first() == Some(&b'-')) as usize;
            let len = sign + digits(&text[sign..]);
            return (&text[..len], len);
        }
    };
    match memchr::memchr(close, &text[1..]) {
        Some(end) => (&text[1..1 + end], end + 2),
        None => (&[], 0),
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTHING_TO_REPEAT, translate};

    fn text(pattern: &str) -> String {
        String::from_utf8(translate(pattern.as_bytes(), true, false).text).unwrap()
    }

    #[test]
    fn braces_that_were_no_quantifiers() {
        for same in ["a{2}", "a{2,}", "a{2,3}", "{x}", "\\x{61}", "[{,2}]", "\\Q{,2}\\E", "a{", "\\{,2}", "{}a", "(?#{,2})", "\\g{ 1}"] {
            assert_eq!(text(same).replace("\\{}", "{}"), same.replace("\\{}", "{}"));
        }
        assert_eq!(text("a{,2}b"), "a\\{,2}b");
        assert_eq!(text("a{ 1, 2 }"), "a\\{ 1, 2 }");
        assert_eq!(text("[]{,2}]a{1 }"), "[]{,2}]a\\{1 }");
    }

    #[test]
    fn groups_that_refer_to_themselves_are_atomic() {
        assert_eq!(text("((1)\\1|a*?)"), "(?>((1)\\1|a*?))");
        assert_eq!(text("(?<n>a|b\\k<n>)+"), "(?>(?<n>a|b\\k<n>))+");
        assert_eq!(text("(a|b(?:\\g{-1}))"), "(?>(a|b(?:\\g{-1})))");
        assert_eq!(text("(a)(b\\1)\\2"), "(a)(b\\1)\\2");
        assert_eq!(text("(?:(?(1)a)(a|\\1))"), "(?:(?(1)a)(?>(a|\\1)))");
    }

    #[test]
    fn places_are_those_of_the_given_pattern() {
        let translated = translate(b"a{,2}(b\\1)c", true, false);
        let c = translated.text.len() - 1;
        assert_eq!(translated.original(c), 10);
        assert_eq!(translated.original(1), 1);
    }

    #[test]
    fn comments_are_left_out() {
        let refused = |pattern: &[u8], extended| translate(pattern, true, extended).refused.is_some();
        assert!(refused(b"#(*F)+", false) && !refused(b"#(*F)+", true) && refused(b"#\n(*F)+", true));
        assert!(!refused(b"(?x)#(*F)+", false) && refused(b"(?x:a)#(*F)+", false) && refused(b"((?x)a)#(*F)+", false));
        assert!(refused(b"(?-x)#(*F)+", true) && !refused(b"(?:(?-x)a)#(*F)+", true));
    }

    #[test]
    fn digits_that_stand_for_themselves() {
        assert_eq!(text("\\81\\9"), "\\x381\\x39");
        assert_eq!(text("(a)(a)(a)(a)(a)(a)(a)(a)\\8"), "(a)(a)(a)(a)(a)(a)(a)(a)\\8");
    }

    #[test]
    fn verbs_cannot_be_repeated() {
        assert_eq!(translate(b"a(*ACCEPT)+", true, false).refused, Some((10, NOTHING_TO_REPEAT)));
        assert_eq!(translate(b"a(*F){,2}(*F){2}", true, false).refused, Some((15, NOTHING_TO_REPEAT)));
        assert_eq!(translate(b"a(*ACCEPT)b+", true, false).refused, None);
    }
}
