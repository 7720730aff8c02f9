//! `heddle messages`: which constructions of a module are judged to be sent, and why.

use crate::listing::{list, list_part};
use crate::{erl, otp};
use heddle_beamfile::messages::{Construction, Kind, constructions};
use heddle_beamfile::{Location, Verified};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Usage: heddle messages [--json] FILE.beam|MODULE...

Shows for every construction of a module (of a tuple, list cell, map, record, binary, fun with an environment) whether it is
judged `message`, so that the hybrid heap (+hmem hybrid) would build it where messages are, or `local`; for a message also
which place in the module sends it, and through which functions. A module is looked for here and in OTP's libraries.

A construction is a message if on some way from it, before its process waits for a message again, its value becomes a message
or a part of one: by `!`, by functions of OTP known to send, as an argument of a new process, or in the reply of a callback. What
is not known counts as local. The judgement changes where terms are built, never what they are.

  --json    the same for machines: an array with an object per module
  --help    this text
";

pub fn main(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let (mut json, mut names) = (false, Vec::new());
    for arg in args {
        match arg.to_str() {
            Some("--json") => json = true,
            Some("--help" | "-h") => {
                list_part!("{HELP}");
                std::process::exit(0)
            }
            Some(option) if option.starts_with('-') => erl::fail(&format!("heddle messages: unknown option {option} (--json, --help)")),
            _ => names.push(arg),
        }
    }
    if names.is_empty() {
        erl::fail("heddle messages: a file or a module is wanted: heddle messages FILE.beam|MODULE...");
    }
    let mut shown = Vec::new();
    for name in &names {
        let path = find(name, otp.as_deref()).unwrap_or_else(|problem| erl::fail(&format!("heddle messages: {problem}")));
        let loaded = std::fs::read(&path).map_err(|error| error.to_string());
        let beam = loaded.and_then(|bytes| Verified::load(&bytes).map_err(|error| error.to_string()));
        let beam = beam.unwrap_or_else(|problem| erl::fail(&format!("heddle messages: {}: {problem}", path.display())));
        let module = Module { beam: &beam, found: constructions(&beam) };
        shown.push(if json { module.json() } else { module.text() });
    }
    if json {
        list!("[\n{}\n]", shown.join(",\n"));
    } else {
        list!("{}", shown.join("\n"));
    }
    std::process::exit(0)
}

/// A file, or the file of a module.
pub fn find(name: &OsStr, otp: Option<&OsStr>) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|extension| extension == "beam") || path.components().count() > 1 {
        return Ok(path);
    }
    let mut file_name = name.to_owned();
    file_name.push(".beam");
    let here = PathBuf::from(&file_name);
    if here.is_file() {
        return Ok(here);
    }
    let lib = otp::find(otp.map(Path::new))?.root.join("lib");
    let applications = std::fs::read_dir(&lib).map_err(|error| format!("{}: {error}", lib.display()))?;
    let mut files: Vec<PathBuf> =
        applications.flatten().map(|dir| dir.path().join("ebin").join(&file_name)).filter(|file| file.is_file()).collect();
    files.sort();
    files.pop().ok_or_else(|| format!("no file {} here, nor in {}/*/ebin", here.display(), lib.display()))
}

struct Module<'a> {
    beam: &'a Verified,
    found: Vec<Construction>,
}

impl Module<'_> {
    fn function(&self, index: usize) -> String {
        let function = &self.beam.code.functions[index];
        format!("{}/{}", self.beam.atoms.get(function.name).unwrap_or("?"), function.arity)
    }

    /// `line 7`, with the file's name if it is another one than the module's.
    fn place(&self, location: Location) -> String {
        match (location.line, location.file.checked_sub(1).and_then(|file| self.beam.lines.names.get(file as usize))) {
            (0, _) => "line ?".into(),
            (line, Some(name)) if Path::new(name).file_stem() != Some(OsStr::new(self.beam.module())) => format!("{name}, line {line}"),
            (line, _) => format!("line {line}"),
        }
    }

    fn of_kind(&self, kind: Kind) -> (usize, usize) {
        let of_kind = || self.found.iter().filter(|found| found.kind == kind);
        (of_kind().filter(|found| found.reason.is_some()).count(), of_kind().count())
    }

    fn messages(&self) -> usize {
        self.found.iter().filter(|found| found.reason.is_some()).count()
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {} constructions, {} judged messages", self.beam.module(), self.found.len(), self.messages());
        let kinds = KINDS.iter().map(|&kind| (kind, self.of_kind(kind))).filter(|(_, (_, all))| *all > 0);
        let kinds: Vec<String> = kinds.map(|(kind, (messages, all))| format!("{messages} of {all} {}", plural(kind))).collect();
        if !kinds.is_empty() {
            write!(text, " ({})", kinds.join(", ")).expect("to a string");
        }
        text.push('\n');
        let mut last = None;
        for found in &self.found {
            if last.replace(found.function) != Some(found.function) {
                writeln!(text, "\n{}:{}", self.beam.module(), self.function(found.function)).expect("to a string");
            }
            let reason = found.reason.as_ref().map_or("local".into(), |reason| {
                let mut words = format!("message  {} in {}", reason.sends, self.place(reason.location));
                let through: Vec<String> = reason.through.iter().skip(1).map(|&function| self.function(function)).collect();
                if !through.is_empty() {
                    write!(words, ", through {}", through.join(", ")).expect("to a string");
                }
                words
            });
            writeln!(text, "  {:<10} {:<7} {reason}", self.place(found.location), found.kind.name()).expect("to a string");
        }
        text
    }

    fn json(&self) -> String {
        let found: Vec<String> = self.found.iter().map(|found| self.one_json(found)).collect();
        let kinds: Vec<String> = KINDS
            .iter()
            .map(|&kind| {
                let (messages, all) = self.of_kind(kind);
                format!("\"{}\": {{\"messages\": {messages}, \"constructions\": {all}}}", kind.name())
            })
            .collect();
        format!(
            "{{\"module\": {}, \"constructions\": {}, \"messages\": {}, \"kinds\": {{{}}}, \"found\": [\n  {}\n]}}",
            quoted(self.beam.module()),
            self.found.len(),
            self.messages(),
            kinds.join(", "),
            found.join(",\n  ")
        )
    }

    fn one_json(&self, found: &Construction) -> String {
        let mut text = format!(
            "{{\"function\": {}, \"line\": {}, \"instruction\": {}, \"kind\": \"{}\", \"judgement\": \"{}\"",
            quoted(&self.function(found.function)),
            found.location.line,
            found.instr,
            found.kind.name(),
            if found.reason.is_some() { "message" } else { "local" }
        );
        if let Some(reason) = &found.reason {
            let through: Vec<String> = reason.through.iter().map(|&function| quoted(&self.function(function))).collect();
            let (sends, line) = (quoted(&reason.sends), reason.location.line);
            write!(text, ", \"sends\": {sends}, \"sends_line\": {line}, \"through\": [{}]", through.join(", ")).expect("to a string");
        }
        text.push('}');
        text
    }
}

const KINDS: [Kind; 6] = [Kind::Tuple, Kind::Cons, Kind::Map, Kind::Record, Kind::Binary, Kind::Fun];

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Tuple => "tuples",
        Kind::Cons => "list cells",
        Kind::Map => "maps",
        Kind::Record => "records",
        Kind::Binary => "binaries",
        Kind::Fun => "funs",
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => write!(out, "\\u{:04x}", u32::from(c)).expect("to a string"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn json_strings() {
        assert_eq!(super::quoted("a\"\\\n\u{e5}"), "\"a\\\"\\\\\\u000a\u{e5}\"");
    }
}
