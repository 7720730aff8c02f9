//! `+JDdump true`: for each module that is loaded a file MODULE.asm in the working directory, with what the second tier makes of each function. (Stock
//! writes there what its JIT made.)

use super::{Kept, Mode, host, mode, show_at};
use heddle_abi::settings::SETTINGS;
use heddle_jit::Compiler;
use heddle_runtime::code::Instance;
use std::fmt::Write;

/// Writes the file. That takes as long as compiling the module.
pub fn write(instance: &Instance) {
    if !SETTINGS.dump_code.is_on() {
        return;
    }
    let path = format!("{}.asm", instance.name.name());
    let text = text(instance).unwrap_or_else(|problem| format!("# {problem}\n"));
    if let Err(error) = std::fs::write(&path, text) {
        heddle_runtime::exit::log_message("warning", &format!("Machine code is not written (+JDdump): {path}: {error}"));
    }
}

/// For each function a label and its machine code, or why it has none.
fn text(instance: &Instance) -> Result<String, String> {
    let tables = instance.machine_code.as_deref().and_then(Kept::of).and_then(|kept| kept.tables.as_ref());
    let beam = tables.map(|tables| tables.beam().map_err(|error| error.to_string())).transpose()?;
    let operation = |cell: u32| instance.code[cell as usize];
    let source = tables.zip(beam.as_ref()).map(|(tables, beam)| (tables, tables.source(beam, instance.code.as_ptr() as usize, &operation)));
    let mut compiler = host().map(Compiler::new);
    let mut text = String::new();
    for (index, function) in instance.functions.iter().enumerate() {
        let _ = writeln!(text, "{}/{}:", function.name.name(), function.arity);
        let shown = match (&source, &mut compiler) {
            (Some((tables, source)), Some(compiler)) => show_at(compiler, tables, &source.borrow(), index),
            _ if mode() == Mode::Eager => Err("see +JPperf: the module keeps nothing of it (+jit eager)"),
            _ => Err("there is no second tier (+jit N)"),
        };
        match shown {
            Ok(segments) => {
                // The entry first.
                for segment in segments.iter().rev() {
                    let line = instance.line_at(segment.cell).map_or(String::new(), |(file, line)| format!(", {file}:{line}"));
                    let _ =
                        writeln!(text, "# segment at cell {}{line}: {} bytes\n{}", segment.cell, segment.bytes, segment.code.trim_end());
                }
            }
            Err(why) => {
                let _ = writeln!(text, "# left to the first tier: {why}");
            }
        }
    }
    Ok(text)
}
