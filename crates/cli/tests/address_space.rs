//! With little address space (`ulimit -v`) a node starts all the same; with too little it says so in a line. Needs the libraries of an
//! OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::Command;

/// Standard output, standard error, and the exit code.
fn node(kib: u32, flags: &str) -> Option<(String, String, Option<i32>)> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {kib}; exec '{}' erl {flags} -noshell -eval \"$CODE\"", env!("CARGO_BIN_EXE_heddle")));
    command.env("CODE", "L = lists:seq(1, 100000), persistent_term:put(l, L), P = spawn_monitor(fun() -> L end), receive {'DOWN', _, _, _, _} -> io:format(\"~p~n\", [length(persistent_term:get(l))]) end, halt().");
    let output = command.env("HEDDLE_OTP", place::otp()?).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Some((text(output.stdout), text(output.stderr), output.status.code()))
}

#[test]
fn two_gigabytes_are_enough() {
    for kib in [2_000_000, 17_000_000] {
        for flags in ["", "+hmem hybrid", "+hmem shared"] {
            let Some((said, complaint, code)) = node(kib, flags) else { return };
            assert_eq!((said.as_str(), code), ("100000\n", Some(0)), "{kib} {flags}: {complaint}");
        }
    }
}

#[test]
fn too_little_is_said_in_a_line() {
    for kib in [100_000, 200_000, 700_000] {
        let Some((_, complaint, code)) = node(kib, "") else { return };
        assert!(complaint.contains("address space") && complaint.lines().count() == 1 && code == Some(1), "{kib}: {complaint} {code:?}");
    }
}
