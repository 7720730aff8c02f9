//! `heddle natives`: which of the functions that OTP expects from the VM are there.

use crate::listing::{list, list_part};
use heddle_abi::natives::{NativeKind, NativeRow, natives};
use heddle_runtime::exports;
use heddle_term::Atom;
use heddle_term::code_cell::Mfa;
use std::ffi::OsString;
use std::sync::atomic::Ordering;

const HELP: &str = "\
Usage: heddle natives [--missing] [--json]

Lists every function that the libraries of OTP 27 expect the VM to have (BIFs, internal functions, NIFs of OTP's libraries), and whether
it is there. The tier says what needs it:

  T0   the smallest boot: a boot file and one plain program
  T1   kernel, stdlib and the shell
  T2   the compiler and test tools
  T3   the rest, such as distribution, sockets of the module socket, and debugging of the emulator

  --missing    only those that are not there
  --json       the same for programs: an array with an object per function
  --c          instead the functions that NIF libraries can call (erl_nif.h)
  --help       this text
";

/// Done by instructions of the engine, not by functions.
const OPERATIONS: &[(&str, &str, u8)] = &[
    ("erlang", "load_nif", 2),
    ("erlang", "call_on_load_function", 1),
    ("erlang", "apply", 2),
    ("erlang", "apply", 3),
    ("erlang", "yield", 0),
    ("erlang", "hibernate", 3),
    ("erlang", "raise", 3),
    ("erts_internal", "hibernate", 3),
    ("os", "perf_counter", 0),
];

fn is_present(row: &NativeRow) -> bool {
    if OPERATIONS.contains(&(row.module, row.function, row.arity)) {
        return true;
    }
    let mfa = Mfa { module: Atom::new(row.module), function: Atom::new(row.function), arity: row.arity };
    exports::find(mfa).is_some_and(|e| e.native.load(Ordering::Acquire) != 0)
}

/// Lists the functions of `erl_nif.h` and `erl_driver.h`.
fn of_libraries() -> ! {
    for name in heddle_linkin::functions::ALL {
        list!("{} {name}", if heddle_linkin::functions::is_there(name) { "present" } else { "missing" });
    }
    for name in heddle_nif::functions::ALL {
        list!("{} {name}", if heddle_nif::functions::is_there(name) { "present" } else { "missing" });
    }
    let missing = heddle_nif::functions::missing().len() + heddle_linkin::functions::missing().len();
    let all = heddle_nif::functions::ALL.len() + heddle_linkin::functions::ALL.len();
    list!("all: {} of {all}", all - missing);
    std::process::exit(0)
}

pub fn main(args: Vec<OsString>) -> ! {
    let (mut json, mut missing_only) = (false, false);
    for arg in &args {
        match arg.to_str() {
            Some("--json") => json = true,
            Some("--missing") => missing_only = true,
            Some("--c") => of_libraries(),
            Some("--help" | "-h") => {
                list_part!("{HELP}");
                std::process::exit(0)
            }
            _ => crate::erl::fail(&format!("heddle natives: unknown option {} (--json, --missing, --c, --help)", arg.display())),
        }
    }
    crate::emulator::register_natives();
    let rows: Vec<(&NativeRow, bool)> = natives().iter().map(|row| (row, is_present(row))).collect();
    let shown = rows.iter().filter(|(_, present)| !(missing_only && *present));
    if json {
        let lines: Vec<String> = shown
            .map(|(r, present)| {
                let kind = match r.kind {
                    NativeKind::GuardBif => "guard_bif",
                    NativeKind::Bif => "bif",
                    NativeKind::Internal => "internal",
                    NativeKind::Nif => "nif",
                };
                // Names of functions hold no characters that JSON would escape.
                format!(
                    "  {{\"module\": \"{}\", \"function\": \"{}\", \"arity\": {}, \"kind\": \"{kind}\", \"tier\": {}, \"present\": {present}}}",
                    r.module, r.function, r.arity, r.tier
                )
            })
            .collect();
        list!("[\n{}\n]", lines.join(",\n"));
    } else {
        for (r, present) in shown {
            list!("{} T{} {}:{}/{}", if *present { "present" } else { "missing" }, r.tier, r.module, r.function, r.arity);
        }
        const TIERS: [&str; 4] = ["smallest boot", "shell", "compiler, test tools", "the rest"];
        for (tier, what) in TIERS.iter().enumerate() {
            let of_tier = rows.iter().filter(|(r, _)| r.tier as usize == tier);
            let (all, present) = of_tier.fold((0, 0), |(all, n), (_, present)| (all + 1, n + usize::from(*present)));
            list!("tier {tier} ({what}): {present} of {all}");
        }
        list!("all: {} of {}", rows.iter().filter(|(_, present)| *present).count(), rows.len());
    }
    std::process::exit(0)
}
