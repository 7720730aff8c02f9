//! `+S`: as with stock, more schedulers than there are processors are online only if the flag says so. Needs the libraries of an OTP
//! 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::Command;

fn schedulers(flags: &str) -> Option<(usize, usize)> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("run").arg(place::root().join("crates/cli/tests/online.erl"));
    let output = command.env("HEDDLE_OTP", place::otp()?).env("ERL_FLAGS", flags).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let numbers: Option<(usize, usize)> =
        said.trim().split_once(' ').and_then(|(all, online)| Some((all.parse().ok()?, online.parse().ok()?)));
    Some(numbers.unwrap_or_else(|| panic!("{flags}: {said}\n{}", String::from_utf8_lossy(&output.stderr))))
}

#[test]
fn no_more_than_processors_unless_asked_for() {
    if place::otp().is_none() {
        return;
    }
    let processors = std::thread::available_parallelism().unwrap().get();
    assert_eq!(schedulers("+S 1"), Some((1, 1)));
    assert_eq!(schedulers(&format!("+S {}", processors + 2)), Some((processors + 2, processors)));
    assert_eq!(schedulers(&format!("+S {0}:{0}", processors + 2)), Some((processors + 2, processors + 2)));
    assert_eq!(schedulers("+S 8:1"), Some((8, 1)));
    assert_eq!(schedulers("+S 8:8 +S 1"), Some((1, 1)));
    assert_eq!(schedulers("+SP 400:400"), Some((4 * processors, 4 * processors)));
    assert_eq!(schedulers("+S 0:1"), Some((processors, 1)));
}
