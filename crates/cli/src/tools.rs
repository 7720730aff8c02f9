//! `dialyzer`, `typer` and `ct_run`: arguments for `erl`. `run_erl`, `to_erl`, `epmd` and `heart`: Heddle's own.

use crate::erl;
use std::ffi::OsString;

/// The names of programs that this module stands in for.
pub const NAMES: [&str; 7] = ["dialyzer", "typer", "ct_run", "run_erl", "to_erl", "epmd", "heart"];

/// Behaves as the program of this name, which is one of `NAMES`.
pub fn main(name: &str, args: Vec<OsString>, otp: Option<OsString>) -> ! {
    match name {
        "dialyzer" => erl::main(dialyzer(args), otp),
        "typer" => erl::main(analysis(&["+B", "-boot", "no_dot_erlang", "-run", "typer", "start", "-extra"], args), otp),
        "ct_run" => erl::main(ct_run(args), otp),
        "epmd" => crate::epmd::main(&args),
        "heart" => crate::heart::main(&args),
        "run_erl" => crate::run_erl::main(&args),
        _ => crate::run_erl::to_erl::main(&args),
    }
}

fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

/// Without a terminal, unless `--shell` is among the arguments.
fn analysis(first: &[&str], args: Vec<OsString>) -> Vec<OsString> {
    let with_shell = args.iter().any(|arg| arg == "--shell");
    let mut all = if with_shell { Vec::new() } else { words(&["-noinput"]) };
    all.extend(words(first));
    all.extend(args.into_iter().filter(|arg| arg != "--shell"));
    all
}

/// Flags of the emulator come first, as its C program has it.
fn dialyzer(args: Vec<OsString>) -> Vec<OsString> {
    let mut rest = args.into_iter().peekable();
    let mut flags = Vec::new();
    rest.next_if(|arg| arg == "-smp");
    for (flag, default) in [("+S", None), ("+P", Some("1000000")), ("+sbt", None)] {
        if rest.next_if(|arg| arg == flag).is_some() {
            flags.push(flag.into());
            flags.extend(rest.next());
        } else if let Some(default) = default {
            flags.extend(words(&[flag, default]));
        }
    }
    flags.extend(analysis(&["+B", "-boot", "no_dot_erlang", "-run", "dialyzer", "plain_cl", "-extra"], rest.collect()));
    flags
}

/// What follows `-erl_args` is the emulator's.
fn ct_run(args: Vec<OsString>) -> Vec<OsString> {
    let has_shell = args.iter().any(|arg| arg == "-shell" || arg == "-ctmaster");
    let mut all = words(&["-s", "ct_run", "script_start"]);
    if !has_shell {
        all.extend(words(&["-s", "erlang", "halt"]));
    }
    let mut is_ours = true;
    for arg in args {
        match arg.to_str() {
            Some("-erl_args") => {
                is_ours = false;
                all.push("-ct_erl_args".into());
            }
            Some(option @ ("-config" | "-decrypt_key" | "-decrypt_file")) if is_ours => {
                all.push(option.replacen('-', "-ct_", 1).into());
            }
            _ => all.push(arg),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{ct_run, dialyzer};
    use std::ffi::OsString;

    fn line(words: &str) -> Vec<OsString> {
        words.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn arguments() {
        let common = "+B -boot no_dot_erlang -run dialyzer plain_cl -extra";
        assert_eq!(dialyzer(line("--apps stdlib")), line(&format!("+P 1000000 -noinput {common} --apps stdlib")));
        assert_eq!(dialyzer(line("+S 2 +P 5 --shell x")), line(&format!("+S 2 +P 5 {common} x")));
        let run = "-s ct_run script_start";
        assert_eq!(
            ct_run(line("-config a -erl_args -config b")),
            line(&format!("{run} -s erlang halt -ct_config a -ct_erl_args -config b"))
        );
        assert_eq!(ct_run(line("-shell -sname n -dir d")), line(&format!("{run} -shell -sname n -dir d")));
    }
}
