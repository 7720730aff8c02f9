//! Prints the cells that the loader makes of `.beam` files, for `tests/same-code`, which names the addresses and keeps a record.
//!
//!     cells [--messages] FILE...
//!
//! A line per cell: its offset in the function, then `op ADDRESS` or `code ADDRESS` (addresses in the program, less that of
//! `main`), `label OFFSET` (in the same function), `label NAME/ARITY+OFFSET`, `export M:F/A`, `fun INDEX/ARITY`, `atom A`, `literal TERM`,
//! `x N` and `y N` (registers that are decoded when the operation runs), or a number. All natives of the inventory count as implemented, by one function.

use heddle_engine::loader::emitter::Emitter;
use heddle_engine::loader::{self, LoadOptions};
use heddle_runtime::code::Function;
use heddle_runtime::process::Process;
use heddle_runtime::{NativeResult, exports};
use heddle_term::text::display;
use heddle_term::{Atom, Mfa, Term, literal};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::atomic::Ordering;

/// Below this a cell that may be a number or one of the first sixteen atoms is shown as a number.
const SMALLEST_ATOM_CELL: u64 = 1024;
/// Addresses of code and memory lie between the two.
const LOWEST_ADDRESS: u64 = 1 << 40;
const HIGHEST_ADDRESS: u64 = 1 << 47;

fn main() {
    // Without the cells that count calls for the second tier.
    heddle_abi::settings::SETTINGS.jit.set(0);
    let (options, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let analyse_messages = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--messages"] => true,
        _ => fail(&format!("the only option is --messages, not {options:?}")),
    };
    heddle_term::atom::set_limit(heddle_term::atom::MAX_LIMIT);
    heddle_engine::init();
    for native in heddle_abi::natives::natives() {
        let mfa = Mfa { module: Atom::new(native.module), function: Atom::new(native.function), arity: native.arity };
        exports::get(mfa).native.store(any_native as *const () as usize, Ordering::Release);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for file in &files {
        let content = std::fs::read(file).unwrap_or_else(|error| fail(&format!("{file}: {error}")));
        let mut text = Vec::new();
        let shown = loader::prepare_shown(&content, LoadOptions { analyse_messages }, |emitter| text = module(emitter));
        let instance = shown.unwrap_or_else(|error| fail(&format!("{file}: {error}")));
        let md5: String = instance.md5.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(out, "module {} {md5}", instance.name.name());
        let _ = out.write_all(&text);
    }
}

fn fail(problem: &str) -> ! {
    eprintln!("cells: {problem}");
    std::process::exit(2)
}

/// Stands for the natives, which are above the engine.
fn any_native(_: &mut Process, _: &[Term]) -> NativeResult {
    Ok(Term::NIL)
}

fn module(emitter: &Emitter) -> Vec<u8> {
    let ops: HashSet<u32> = emitter.ops.iter().copied().collect();
    let labels: HashMap<u32, u32> = emitter.fixups.iter().map(|&(cell, label)| (cell, emitter.labels[label as usize])).collect();
    let mut named = HashMap::new();
    exports::for_each(|export| {
        let Mfa { module, function, arity } = export.mfa;
        named.insert(export as *const _ as u64, format!("export {}:{}/{arity}", module.name(), function.name()));
    });
    for fun in &emitter.lambdas {
        named.insert(*fun as *const _ as u64, format!("fun {}/{}", fun.index, fun.arity));
    }
    let mut text = Vec::new();
    for (index, function) in emitter.functions.iter().enumerate() {
        let end = emitter.functions.get(index + 1).map_or(emitter.cells.len(), |next| next.start as usize);
        let _ = writeln!(text, "function {}/{}", function.name.name(), function.arity);
        for at in function.start..end as u32 {
            let cell = emitter.cells[at as usize];
            let shown = match (labels.get(&at), named.get(&cell)) {
                (Some(&to), _) => label(&emitter.functions, function, end as u32, to),
                (None, Some(name)) => name.clone(),
                (None, None) if ops.contains(&at) => format!("op {}", from_main(cell)),
                (None, None) => operand(cell),
            };
            let _ = writeln!(text, "{} {shown}", at - function.start);
        }
    }
    text
}

fn label(functions: &[Function], here: &Function, end: u32, to: u32) -> String {
    if (here.start..end).contains(&to) {
        return format!("label {}", to - here.start);
    }
    let there = &functions[functions.partition_point(|function| function.start <= to) - 1];
    format!("label {}/{}+{}", there.name.name(), there.arity, to - there.start)
}

fn operand(cell: u64) -> String {
    let term = Term::from_raw(cell);
    if literal::is_literal(term) {
        return format!("literal {}", display::to_string(term).replace('\n', " "));
    }
    if (LOWEST_ADDRESS..HIGHEST_ADDRESS).contains(&cell) {
        return format!("code {}", from_main(cell));
    }
    match (cell & 0b1111, cell >> 11) {
        (0b0101, index) if cell < LOWEST_ADDRESS => format!("x {index}"),
        (0b1101, index) if cell < LOWEST_ADDRESS => format!("y {index}"),
        _ if cell >= SMALLEST_ATOM_CELL && term.is_atom() && cell >> 6 < heddle_term::atom::count() as u64 => {
            format!("atom {}", display::to_string(term))
        }
        _ => format!("{}", cell as i64),
    }
}

/// The address less that of `main`, which the symbol table of the program names wherever the system loaded it.
fn from_main(address: u64) -> i64 {
    address.wrapping_sub(main as *const () as u64) as i64
}
