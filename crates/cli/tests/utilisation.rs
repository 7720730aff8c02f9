//! `+sub true` against the usual load compaction, on a VM with too little to do for two schedulers: the one has both work the
//! same part of the time, the other one of them. Needs the libraries of an OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::Command;

/// What part of the time both schedulers worked, in thousandths.
fn parts(flags: &str) -> [usize; 2] {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("run").arg(place::root().join("crates/cli/tests/utilisation.erl"));
    let output = command.env("HEDDLE_OTP", place::otp().unwrap()).env("ERL_FLAGS", format!("+S 2:2 {flags}")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let numbers = said.trim().trim_matches(['[', ']']).split(',').map(|n| n.parse().ok());
    let parts: Option<Vec<usize>> = numbers.collect();
    let Some(parts) = parts.and_then(|parts| parts.try_into().ok()) else {
        panic!("{flags}: {said}\n{}", String::from_utf8_lossy(&output.stderr))
    };
    parts
}

#[test]
fn utilisation_is_evened_out_only_if_asked_for() {
    if place::otp().is_none() {
        return;
    }
    // A busy computer gives threads their turns late, which looks like work: the first of some that shows it.
    let least_of_most = |flags| {
        let [a, b] = parts(flags);
        println!("{flags}: {a} {b}");
        a.min(b) * 1000 / a.max(b).max(1)
    };
    assert!((0..8).any(|_| least_of_most("+sub true") > 600), "+sub true does not even it out");
    assert!((0..8).any(|_| least_of_most("+scl true") < 400), "+scl true does not keep it on one");
}
