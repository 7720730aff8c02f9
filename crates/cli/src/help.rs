//! What `heddle --help` teaches.

use crate::listing::{list, list_part};
use heddle_abi::flags::{FLAGS, Flag, Takes};

const TEXT: &str = "\
Heddle runs Erlang: a virtual machine for unmodified Erlang/OTP 27 libraries.

Usage: heddle [--otp DIR] COMMAND [ARGUMENTS]

Commands:
  run FILE.erl [ARGS]     compile in memory, call main/1 with ARGS (strings); also FILE.beam
  shell [FLAGS]           the Erlang shell
  erl [FLAGS]             like erl: all its flags
  erlc [OPTIONS] FILES    like erlc: compile to .beam files
  escript FILE [ARGS]     like escript: run a script
  dialyzer, typer, ct_run like the programs of these names
  run_erl, to_erl         a program in a terminal of its own, with logs, and the way to it
  epmd, heart             like the programs of these names
  natives [--missing] [--json]
                          which of the functions that OTP calls are there
  messages [--json] FILE.beam|MODULE...
                          which constructions of a module are judged to be sent, and why
  disassemble [--clif] [--json] MODULE:FUNCTION/ARITY...
                          the machine code of functions
  precompile [NAME...]    machine code of libraries, so that programs need not wait for it
  help [flags]            this text, or the table of emulator flags

`heddle run --help`, `natives --help`, `messages --help`, `disassemble --help` and `precompile --help` say more.

Options:
  --otp DIR               Erlang/OTP libraries to use
  --version, --help

Environment:
  HEDDLE_OTP              Erlang/OTP libraries, if --otp is not given
  HEDDLE_ZEAL             modes that find errors of the VM: gc (collect at every opportunity), verify (verify a heap now and then),
                          yield (switch processes as often as possible); separated by commas
  HEDDLE_CRASH_DUMP       where a report on an internal error goes (heddle_crash.dump)
  ERL_FLAGS, ERL_AFLAGS, ERL_ZFLAGS, ERL_LIBS, ERL_CRASH_DUMP and so on, as for erl

Examples:
  heddle run hello.erl            -module(hello). -export([main/1]). main(_) -> io:format(\"hello~n\").
  heddle run +S 1 examples/ring.erl 100 1000
  heddle shell -pa ebin           the shell, with modules from ebin
  heddle erl -noshell -eval 'io:format(\"~p~n\", [erlang:system_info(otp_release)]), halt().'
  heddle erlc -o ebin src/my.erl

The files in bin stand in for the programs of the same names.
";

pub fn print(topic: Option<&str>) -> ! {
    match topic {
        None => list_part!("{TEXT}"),
        Some("flags") => flags(),
        Some(other) => crate::erl::fail(&format!("heddle help: no topic {other}; there is: flags")),
    }
    std::process::exit(0)
}

/// Columns of a flag with its value; a longer one has a line of its own.
const FLAG_COLUMNS: usize = 24;

fn flag_line(f: &Flag) -> String {
    let between = if matches!(f.takes, Takes::Attached | Takes::Word | Takes::Nothing) { "" } else { " " };
    let flag = format!("+{}{between}{}", f.name, f.value);
    let gap = if flag.len() < FLAG_COLUMNS { " ".repeat(FLAG_COLUMNS - flag.len()) } else { format!("\n{}", " ".repeat(FLAG_COLUMNS + 2)) };
    format!("  {flag}{gap}{}", f.meaning)
}

fn flags() {
    list!("Emulator flags, before or between the other arguments of erl and after `heddle run`:\n");
    for (is_honoured, title) in [(true, ""), (false, "\nAccepted without effect:\n")] {
        if !title.is_empty() {
            list!("{title}");
        }
        for f in FLAGS.iter().filter(|f| f.is_honoured() == is_honoured) {
            list!("{}", flag_line(f));
        }
    }
}
