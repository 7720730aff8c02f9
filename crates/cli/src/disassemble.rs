//! `heddle disassemble`: what becomes of a function in the second tier.

use crate::listing::{list, list_part};
use crate::messages::find;
use crate::{emulator, erl};
use heddle_engine::loader::{self, LoadOptions};
use heddle_engine::second_tier::{self, Shown};
use heddle_runtime::code::Instance;
use heddle_term::Atom;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;

const HELP: &str = "\
Usage: heddle disassemble [--clif] [--json] FILE.beam|MODULE FUNCTION/ARITY...
       heddle disassemble [--clif] [--json] MODULE:FUNCTION/ARITY...

Shows the machine code that the second tier (+jit) makes of a function. A module is looked for here and in OTP's libraries.

A function becomes several segments: one from its entry, one from each place where a call comes back, and one after each instruction that is left
to the interpreter. For each segment it shows the instructions of the compiler that it does, with their lines, and the machine code. Where the
code jumps by `return_call_unknown` it leaves the segment: to a callee, to the caller, or to the interpreter (the blocks at the end). The registers are
rsi: the register file, rdx: heap top, rcx: stack top, r8: reductions left.

  --clif    also Cranelift's intermediate code
  --json    the same for programs: an array with an object per function
  --help    this text

Example:
  heddle disassemble lists:nth/2
";

pub fn main(args: Vec<OsString>, otp: Option<OsString>) -> ! {
    let (mut clif, mut json, mut names) = (false, false, Vec::new());
    for arg in args {
        match arg.to_str() {
            Some("--clif") => clif = true,
            Some("--json") => json = true,
            Some("--help" | "-h") => {
                list_part!("{HELP}");
                std::process::exit(0)
            }
            Some(option) if option.starts_with('-') => {
                erl::fail(&format!("heddle disassemble: unknown option {option} (--clif, --json, --help)"))
            }
            Some(name) => names.push(name.to_owned()),
            None => erl::fail("heddle disassemble: names must be UTF-8"),
        }
    }
    let wanted = wanted(&names).unwrap_or_else(|problem| erl::fail(&format!("heddle disassemble: {problem}")));
    emulator::ready_to_compile();
    let mut shown = Vec::new();
    for (module, function, arity) in wanted {
        let failed = |problem: String| -> ! { erl::fail(&format!("heddle disassemble: {module} {function}/{arity}: {problem}")) };
        let path = find(OsStr::new(&module), otp.as_deref()).unwrap_or_else(|problem| failed(problem));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| failed(format!("{}: {error}", path.display())));
        let instance =
            loader::prepare_with(&bytes, LoadOptions::default()).unwrap_or_else(|error| failed(format!("{}: {error}", path.display())));
        let segments = second_tier::show(&instance, Atom::new(&function), arity).unwrap_or_else(|problem| failed(problem));
        let name = format!("{}:{function}/{arity}", instance.name.name());
        shown.push(if json { as_json(&name, &instance, &segments) } else { as_text(&name, &instance, &segments, clif) });
    }
    if json {
        list!("[\n{}\n]", shown.join(",\n"));
    } else {
        list!("{}", shown.join("\n"));
    }
    std::process::exit(0)
}

/// Files or modules, functions, arities.
fn wanted(names: &[String]) -> Result<Vec<(String, String, u8)>, String> {
    let function = |text: &str| -> Option<(String, u8)> {
        let (name, arity) = text.rsplit_once('/')?;
        Some((name.to_owned(), arity.parse().ok()?))
    };
    // A name such as lists:reverse/2, and not a path such as C:/x/2.
    let all = |text: &String| -> Option<(String, String, u8)> {
        let (module, rest) = text.split_once(':')?;
        let (name, arity) = function(rest)?;
        Some((module.to_owned(), name, arity))
    };
    if let Some(found) = names.iter().map(all).collect::<Option<Vec<_>>>()
        && !found.is_empty()
    {
        return Ok(found);
    }
    match names {
        [module, functions @ ..] if !functions.is_empty() => functions
            .iter()
            .map(|text| {
                let (name, arity) = function(text).ok_or_else(|| format!("{text} is no function: NAME/ARITY is wanted"))?;
                Ok((module.clone(), name, arity))
            })
            .collect(),
        _ => Err("a function is wanted: heddle disassemble MODULE:FUNCTION/ARITY".into()),
    }
}

/// The line of the source at an offset of the cells, if there is one.
fn line(instance: &Instance, cell: u32) -> Option<u32> {
    instance.line_at(cell).map(|(_, line)| line)
}

fn as_text(name: &str, instance: &Instance, segments: &[Shown], clif: bool) -> String {
    let bytes: usize = segments.iter().map(|segment| segment.bytes).sum();
    let mut text = format!("{name}: {} segments, {bytes} bytes\n", segments.len());
    // In the order of the instructions: the entry first.
    for segment in segments.iter().rev() {
        let place = line(instance, segment.cell).map_or(String::new(), |line| format!(", line {line}"));
        let frame = if segment.has_frame { ", with a native frame" } else { "" };
        let _ = writeln!(text, "\nsegment at cell {}{place}: {} bytes{frame}", segment.cell, segment.bytes);
        for (at, instr) in &segment.instrs {
            let _ = writeln!(text, "    {at:5}  {instr}");
        }
        for part in [(clif, &segment.clif), (true, &segment.code)].into_iter().filter(|part| part.0) {
            let _ = writeln!(text, "\n{}", part.1.trim_end());
        }
    }
    text
}

fn as_json(name: &str, instance: &Instance, segments: &[Shown]) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t"));
    let segment = |segment: &Shown| {
        let instrs: Vec<String> =
            segment.instrs.iter().map(|(at, text)| format!("{{\"index\": {at}, \"text\": {}}}", quoted(text))).collect();
        format!(
            "{{\"cell\": {}, \"line\": {}, \"bytes\": {}, \"has_frame\": {}, \"instructions\": [{}], \"clif\": {}, \"code\": {}}}",
            segment.cell,
            line(instance, segment.cell).map_or("null".into(), |line| line.to_string()),
            segment.bytes,
            segment.has_frame,
            instrs.join(", "),
            quoted(&segment.clif),
            quoted(&segment.code)
        )
    };
    let segments: Vec<String> = segments.iter().rev().map(segment).collect();
    format!("{{\"function\": {}, \"segments\": [\n  {}\n]}}", quoted(name), segments.join(",\n  "))
}
