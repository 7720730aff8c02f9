//! Commands whose standard output takes nothing say so in a sentence, with status 1. Those that need the libraries of an OTP 27 are left
//! out without them, as in `task_example`.

mod place;

use std::fs::File;
use std::process::{Command, Stdio};

fn end(command: &mut Command) -> (Option<i32>, String) {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_sentence_and_status_1() {
    let sentence = "heddle: cannot write to standard output: No space left on device (os error 28)\n";
    let alone = [
        "--help",
        "--help flags",
        "natives",
        "natives --missing",
        "natives --json",
        "messages --help",
        "run --help",
        "natives --help",
        "--version",
    ];
    let with_libraries =
        ["messages lists", "messages --json lists", "erl -emu_args_exit", "erl -emu_qouted_cmd_exit", "erl -emu_name_exit"];
    for line in alone.into_iter().chain(with_libraries.into_iter().filter(|_| place::otp().is_some())) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.args(line.split(' '));
        command.envs(place::otp().map(|otp| ("HEDDLE_OTP", otp)));
        assert_eq!(end(&mut command), (Some(1), sentence.to_owned()), "{line}");
    }
}

/// As `head` does: no failure to complain of.
#[test]
fn a_reader_that_goes_away_is_heard_nothing_of() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_heddle")).arg("natives").stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (None, &b""[..]));
}
