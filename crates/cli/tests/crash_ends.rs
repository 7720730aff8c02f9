//! A crash of the program that runs ends with status 1 whatever standard error is, and its dump is not readable by all users. Needs the
//! libraries of an OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// What a crash ends with that complains to this, and the dump's permissions.
fn crash(name: &str, code: &str, complaints: Stdio) -> Option<(Option<i32>, u32)> {
    let dump = std::env::temp_dir().join(format!("heddle-crash-ends-{name}-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.args(["erl", "-noshell", "-eval", code]).env("HEDDLE_OTP", place::otp()?).env("ERL_CRASH_DUMP", &dump);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints).status().unwrap();
    let mode = std::fs::metadata(&dump).unwrap().permissions().mode() & 0o777;
    std::fs::remove_file(&dump).unwrap();
    Some((status.code(), mode & 0o137))
}

fn without_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    OwnedFd::from(writer).into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn standard_error_that_takes_nothing_changes_no_status() {
    for (name, code) in [("halt", "halt(\"slogan\")"), ("kill", "exit(whereis(init), kill)"), ("error", "error(oops)")] {
        for complaints in [without_reader(), full()] {
            let Some(end) = crash(name, code, complaints) else { return };
            assert_eq!(end, (Some(1), 0), "{name}");
        }
    }
}
