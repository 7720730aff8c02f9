//! The watch says once what does not come back, on standard error and to the process that asked for it, and says nothing of those that do,
//! nor of a machine that was stopped. Needs the libraries of an OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// One after the other: with too few cores for all of them a process that comes back may do so late.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|failed| failed.into_inner())
}

fn command(what: &str, flags: &str) -> Option<Command> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("run").arg(place::root().join("crates/cli/tests/watch.erl")).arg(what);
    command.env("HEDDLE_OTP", place::otp()?).env("ERL_FLAGS", format!("-kernel logger_level none {flags}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

/// The lines on standard output after the first, and on standard error.
fn lines(output: Output) -> (Vec<String>, Vec<String>) {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (mut out, complaints) = (lines(&output.stdout), lines(&output.stderr));
    assert!(output.status.success() && !out.is_empty(), "{:?}: {out:?} {complaints:?}", output.status);
    assert_eq!(out.remove(0), "[heddle_stuck,busy_port]");
    (out, complaints)
}

fn run(what: &str, flags: &str) -> Option<(Vec<String>, Vec<String>)> {
    Some(lines(command(what, flags)?.output().unwrap()))
}

const ARCHITECTURES: [&str; 5] = ["+S 2", "+S 1", "-smp disable", "+S 64:64", "+S 2 +hmem shared"];

#[test]
fn a_native_that_does_not_come_back_is_told_of_once() {
    let _alone = alone();
    for flags in ARCHITECTURES {
        let Some((out, complaints)) = run("block", &format!("+hwatch 0.3 {flags}")) else { return };
        let call = "[{native,{erts_debug,set_internal_state,2}}, {function,{watch,block,1}}, {initial_call,{watch,block,1}}]";
        let told: String = out[1..out.len() - 1].join("").replace(' ', "");
        assert_eq!(out[0], "normal");
        assert_eq!(told, format!("scheduler{}", call.replace(' ', "")), "{flags}");
        let [line] = &complaints[..] else { panic!("{flags}: {complaints:?}") };
        assert!(line.starts_with("heddle: scheduler ") && line.contains("(holder)"), "{line}");
        assert!(line.contains("erts_debug:set_internal_state/2") && line.contains("watch:block/1"), "{line}");
    }
}

#[test]
fn an_instruction_that_does_not_come_back_is_told_of() {
    let _alone = alone();
    let Some((_, complaints)) = run("compare", "+hwatch 0.3") else { return };
    let [line] = &complaints[..] else { panic!("{complaints:?}") };
    assert!(line.starts_with("heddle: scheduler ") && line.contains("watch:took/1"), "{line}");
}

#[test]
fn a_dirty_native_is_told_of_where_it_should_compute() {
    let _alone = alone();
    let Some((out, complaints)) = run("dirty", "+hwatch 0.3") else { return };
    assert!(out[1].starts_with("dirty_cpu_scheduler [{native,{erts_debug,dirty_cpu,2}}"), "{out:?}");
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    let Some((out, complaints)) = run("blocking", "+hwatch 0.3") else { return };
    assert_eq!((out[1].as_str(), &complaints[..]), ("done", &[][..]), "what may block may");
    let Some((out, complaints)) = run("blocking_all", "+hwatch 0.3") else { return };
    assert!(out[1].starts_with("dirty_io_scheduler [{native,{erts_debug,dirty_io,2}}"), "{out:?}");
    assert!(complaints.len() == 1 && complaints[0].contains("processes wait"), "no thread is left: {complaints:?}");
}

#[test]
fn what_comes_back_or_is_not_watched_is_not_told_of() {
    let _alone = alone();
    for (what, flags) in [("quick", "+hwatch 1"), ("block", "+hwatch off"), ("block", "+hwatch 0"), ("block", "")] {
        let Some((out, complaints)) = run(what, flags) else { return };
        assert_eq!((&out[..], &complaints[..]), (&["normal".to_owned(), "done".to_owned()][..], &[][..]), "{what} {flags}");
    }
}

#[test]
fn a_machine_that_was_stopped_is_not_told_of() {
    let _alone = alone();
    let Some(mut command) = command("busy", "+hwatch 3") else { return };
    let child = command.spawn().unwrap();
    let signal = |signal: libc::c_int| {
        // SAFETY: the child is ours, and not waited for yet.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    };
    // While it is busy.
    std::thread::sleep(Duration::from_millis(2000));
    signal(libc::SIGSTOP);
    std::thread::sleep(Duration::from_millis(4000));
    signal(libc::SIGCONT);
    let (_, complaints) = lines(child.wait_with_output().unwrap());
    assert_eq!(complaints, [""; 0]);
}

#[test]
fn a_limit_that_is_none_is_refused_with_a_sentence() {
    for value in ["x", "-1", "0.05", "nan", "1e9"] {
        let Some(mut command) = command("block", &format!("+hwatch {value}")) else { return };
        let output = command.output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            (output.status.code(), complaint.trim_end()),
            (Some(1), &*format!("heddle: +hwatch {value}: seconds, from 0.1 to 86400, or off"))
        );
    }
}
