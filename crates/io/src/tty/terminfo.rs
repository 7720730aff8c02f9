//! Compiled terminal descriptions (term(5)): finding them, taking them apart.

use super::capabilities::{FLAGS, NUMBERS, STRINGS};
use std::collections::HashMap;
use std::path::PathBuf;

/// One terminal's capabilities by two-letter code.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Terminal {
    flags: Vec<&'static str>,
    numbers: HashMap<&'static str, i32>,
    strings: HashMap<&'static str, Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// The code that a name means: stock's termcap interface looks at its first two characters only.
fn code(name: &str) -> Option<&str> {
    name.get(..2)
}

impl Terminal {
    pub fn flag(&self, name: &str) -> bool {
        code(name).is_some_and(|c| self.flags.contains(&c))
    }
    pub fn number(&self, name: &str) -> Option<i32> {
        self.numbers.get(code(name)?).copied()
    }
    pub fn string(&self, name: &str) -> Option<&[u8]> {
        self.strings.get(code(name)?).map(Vec::as_slice)
    }
}

const MAGIC_16: u16 = 0o432;
const MAGIC_32: u16 = 0o1036;

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        if n > self.0.len() {
            return Err(Malformed);
        }
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(head)
    }
    fn short(&mut self) -> Result<i16, Malformed> {
        self.take(2).map(|b| i16::from_le_bytes([b[0], b[1]]))
    }
    fn long(&mut self) -> Result<i32, Malformed> {
        self.take(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
    fn size(&mut self) -> Result<usize, Malformed> {
        self.short().and_then(|n| usize::try_from(n).map_err(|_| Malformed))
    }
}

fn codes(table: &'static str) -> impl Iterator<Item = &'static str> {
    (0..table.len() / 2).map(|i| &table[i * 2..i * 2 + 2])
}

/// Header of six shorts; names; flags, a byte each; numbers, of two or four bytes; string offsets; the strings. Extended
/// capabilities may follow, which have no two-letter codes.
pub fn parse(entry: &[u8]) -> Result<Terminal, Malformed> {
    let mut r = Reader(entry);
    let wide = match r.short()? as u16 {
        MAGIC_16 => false,
        MAGIC_32 => true,
        _ => return Err(Malformed),
    };
    let (names, flags, numbers, strings, bytes) = (r.size()?, r.size()?, r.size()?, r.size()?, r.size()?);
    r.take(names)?;
    let mut terminal = Terminal::default();
    for (value, code) in r.take(flags)?.iter().zip(codes(FLAGS)) {
        if *value == 1 {
            terminal.flags.push(code);
        }
    }
    if (names + flags) % 2 == 1 {
        r.take(1)?;
    }
    let mut number_codes = codes(NUMBERS);
    for _ in 0..numbers {
        let value = if wide { r.long()? } else { r.short()?.into() };
        if let Some(code) = number_codes.next()
            && value >= 0
        {
            terminal.numbers.insert(code, value);
        }
    }
    let offsets = r.take(strings * 2)?;
    let table = r.take(bytes)?;
    for (offset, code) in offsets.chunks_exact(2).zip(codes(STRINGS)) {
        // A negative offset: the capability is absent or cancelled.
        let Ok(start) = usize::try_from(i16::from_le_bytes([offset[0], offset[1]])) else { continue };
        let text = table.get(start..).ok_or(Malformed)?;
        let end = text.iter().position(|b| *b == 0).ok_or(Malformed)?;
        terminal.strings.insert(code, text[..end].to_vec());
    }
    Ok(terminal)
}

/// Directories that hold descriptions, in the order they are searched.
fn directories() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
    out.extend(var("TERMINFO").map(PathBuf::from));
    out.extend(var("HOME").map(|h| PathBuf::from(h).join(".terminfo")));
    const SYSTEM: [&str; 4] = ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo"];
    if let Some(list) = var("TERMINFO_DIRS") {
        // An empty element stands for the system's own folder.
        for dir in std::env::split_paths(&list) {
            if dir.as_os_str().is_empty() { out.extend(SYSTEM.map(PathBuf::from)) } else { out.push(dir) }
        }
    }
    out.extend(SYSTEM.map(PathBuf::from));
    out
}

/// The description of a terminal type.
pub fn find(name: &str) -> Option<Terminal> {
    let first = name.bytes().next()?;
    if name.contains('/') || name.contains('\0') || name == "." || name == ".." {
        return None;
    }
    for dir in directories() {
        for sub in [(first as char).to_string(), format!("{first:02x}")] {
            if let Ok(entry) = std::fs::read(dir.join(sub).join(name))
                && let Ok(terminal) = parse(&entry)
            {
                return Some(terminal);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(wide: bool) -> Vec<u8> {
        let mut e: Vec<u8> = Vec::new();
        let short = |e: &mut Vec<u8>, n: i16| e.extend(n.to_le_bytes());
        short(&mut e, if wide { MAGIC_32 } else { MAGIC_16 } as i16);
        for n in [5, 2, 3, 6, 8] {
            short(&mut e, n);
        }
        e.extend(b"tiny\0");
        e.extend([0, 1]); // not bw, but am
        e.push(0); // 7 bytes so far: padding
        for n in [80, -1, 24] {
            if wide { e.extend(i32::to_le_bytes(n)) } else { short(&mut e, n as i16) }
        }
        for offset in [-1, 0, -1, -1, -2, 2] {
            short(&mut e, offset);
        }
        e.extend(b"\x07\0\x1b[H\x1b[\0");
        e
    }

    #[test]
    fn both_number_widths() {
        for wide in [false, true] {
            let t = parse(&entry(wide)).unwrap();
            assert!(t.flag("am") && !t.flag("bw") && !t.flag("zz"));
            assert_eq!((t.number("co"), t.number("it"), t.number("li")), (Some(80), None, Some(24)));
            assert_eq!((t.string("bl"), t.string("bt"), t.string("ct")), (Some(&b"\x07"[..]), None, None));
            assert_eq!(t.string("clear"), Some(&b"\x1b[H\x1b["[..]));
        }
    }

    #[test]
    fn truncated_entries_are_refused() {
        let whole = entry(false);
        for n in 0..whole.len() {
            assert_eq!(parse(&whole[..n]), Err(Malformed), "{n} bytes");
        }
        assert_eq!(parse(b"\x1f\x8bwhatever"), Err(Malformed));
    }

    #[test]
    fn tables_are_whole() {
        assert_eq!((codes(FLAGS).count(), codes(NUMBERS).count(), codes(STRINGS).count()), (44, 39, 414));
    }
}
