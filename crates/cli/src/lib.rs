//! `heddle`: the command line. Called by the name of `erl`, `erlc` or `escript` it behaves as they do.
//!
//! A library, so that a program of one's own can be the same VM with more in it: it registers its types of tasks
//! (`heddle_runtime::task::register`) and calls `main`. See `examples/task`.

mod code_file;
mod crash;
mod disassemble;
mod emulator;
mod epmd;
mod erl;
mod front;
mod heart;
mod help;
mod inventory;
mod listing;
mod messages;
mod otp;
mod precompile;
mod run;
mod run_erl;
mod threads;
mod tools;

use listing::list;
use std::ffi::OsString;

#[global_allocator]
static ALLOCATOR: heddle_memory::Allocator = heddle_memory::Allocator;

const COMMANDS: [&str; 11] =
    ["run", "shell", "erl", "erlc", "escript", "natives", "messages", "disassemble", "precompile", "help", "version"];

/// Does what the program's arguments say. To be called before there is any other thread.
pub fn main() {
    heddle_memory::configure();
    // A reader that goes away ends our listings quietly; the emulator ignores this signal once it runs.
    // SAFETY: no other thread runs yet.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let program = if args.is_empty() { OsString::new() } else { args.remove(0) };
    match std::path::Path::new(&program).file_name().and_then(|n| n.to_str()) {
        Some("erl") => erl::main(args, None),
        Some("erlc") => front::erlc(args, None),
        Some("escript") => front::escript(args, None),
        Some(name) if tools::NAMES.contains(&name) => tools::main(name, args, None),
        _ => {}
    }
    let mut otp = None;
    while args.first().is_some_and(|a| a == "--otp") {
        args.remove(0);
        if args.is_empty() {
            erl::fail("heddle: --otp needs a directory");
        }
        otp = Some(args.remove(0));
    }
    let Some(command) = args.first().map(|a| a.to_string_lossy().into_owned()) else { help::print(None) };
    // Flags without a command: those of erl.
    let is_flag = command.starts_with(['-', '+']);
    if !matches!(command.as_str(), "--help" | "-h" | "--version") && is_flag {
        erl::main(args, otp);
    }
    args.remove(0);
    match command.as_str() {
        "run" => run::main(args, otp),
        "shell" | "erl" => erl::main(args, otp),
        "erlc" => front::erlc(args, otp),
        "escript" => front::escript(args, otp),
        name if tools::NAMES.contains(&name) => tools::main(name, args, otp),
        "natives" => inventory::main(args),
        "messages" => messages::main(args, otp),
        "disassemble" => disassemble::main(args, otp),
        "precompile" => precompile::main(args, otp),
        "help" | "--help" | "-h" => help::print(args.first().and_then(|a| a.to_str())),
        "version" | "--version" => version(otp),
        other => unknown(other),
    }
}

fn version(otp: Option<OsString>) {
    list!("heddle {}", env!("CARGO_PKG_VERSION"));
    match otp::find(otp.as_deref().map(std::path::Path::new)) {
        Ok(otp) => list!("Erlang/OTP {} (erts {}) in {}", otp.release, otp.erts_version, otp.root.display()),
        Err(message) => list!("{message}"),
    }
}

fn unknown(command: &str) -> ! {
    let near = COMMANDS.iter().map(|c| (distance(command, c), c)).min().filter(|(d, _)| *d <= 2);
    let hint = match near {
        Some((_, name)) => format!("did you mean `heddle {name}`?"),
        None if command.ends_with(".erl") || command.ends_with(".beam") => format!("to run a program: heddle run {command}"),
        None => format!("commands are {}; `heddle --help` explains them", COMMANDS.join(", ")),
    };
    erl::fail(&format!("heddle: no command {command}: {hint}"))
}

/// Insertions, deletions and replacements from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn distances() {
        assert_eq!(super::distance("shel", "shell"), 1);
        assert_eq!(super::distance("rnu", "run"), 2);
        assert_eq!(super::distance("", "erl"), 3);
    }
}
