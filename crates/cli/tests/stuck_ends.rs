//! The VM ends when it is told to, though a process does not come back from a native or an instruction. Needs the libraries of an
//! OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// A VM that hangs is there for so long.
const HANG: Duration = Duration::from_secs(30);

struct Machine {
    child: Child,
    complaints: BufReader<ChildStderr>,
}

impl Machine {
    /// Runs once the process is stuck. Nothing reads its standard output.
    fn start(arguments: &[&str], flags: &str, address_space: Option<u64>) -> Option<Machine> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.arg("run").arg(place::root().join("crates/cli/tests/stuck_ends.erl")).args(arguments);
        command.env("HEDDLE_OTP", place::otp()?).env("ERL_FLAGS", format!("-kernel logger_level none {flags}"));
        command.env("ERL_CRASH_DUMP_SECONDS", "0").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(bytes) = address_space {
            // SAFETY: the closure makes one system call.
            unsafe {
                command.pre_exec(move || {
                    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
                    if libc::setrlimit(libc::RLIMIT_AS, &limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
                });
            }
        }
        let mut child = command.spawn().unwrap();
        let mut complaints = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        complaints.read_line(&mut line).unwrap();
        assert_eq!(line, "stuck\n");
        Some(Machine { child, complaints })
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: the child is ours, and not waited for yet.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// The exit code, or less than zero the signal that ended it; and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        let began = Instant::now();
        let mut code = None;
        while code.is_none() && began.elapsed() < HANG {
            code = self.child.try_wait().unwrap().map(|status| status.code().unwrap_or_else(|| -status.signal().unwrap()));
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let mut said = String::new();
        self.complaints.read_to_string(&mut said).unwrap();
        (code, said)
    }
}

fn soon() {
    std::thread::sleep(Duration::from_millis(200));
}

const CASES: [(&str, &str); 5] =
    [("instruction", "+S 2"), ("instruction", "+S 1"), ("instruction", "-smp disable"), ("native", "+S 2"), ("output", "+S 2")];

#[test]
fn the_second_sigterm_ends_it_if_the_first_could_not() {
    for (what, flags) in CASES {
        let Some(machine) = Machine::start(&[what], flags, None) else { return };
        soon();
        machine.signal(libc::SIGTERM);
        soon();
        machine.signal(libc::SIGTERM);
        let (code, said) = machine.end();
        assert_eq!(code, Some(-libc::SIGTERM), "{what} {flags}: {said}");
        assert!(said.starts_with("heddle: SIGTERM came again, and scheduler "), "{what} {flags}: {said}");
    }
}

#[test]
fn the_first_sigterm_stops_it_in_order_if_it_can() {
    for signals in 1..=2 {
        let Some(machine) = Machine::start(&["dirty"], "", None) else { return };
        soon();
        for _ in 0..signals {
            machine.signal(libc::SIGTERM);
            soon();
        }
        assert_eq!(machine.end(), (Some(0), String::new()));
    }
}

#[test]
fn the_second_interrupt_ends_it() {
    for (what, flags) in CASES {
        let Some(machine) = Machine::start(&[what], flags, None) else { return };
        soon();
        machine.signal(libc::SIGINT);
        soon();
        machine.signal(libc::SIGINT);
        assert_eq!(machine.end(), (Some(0), String::new()), "{what} {flags}");
    }
}

#[test]
fn another_process_halts_it() {
    for (what, _) in CASES.into_iter().filter(|(_, flags)| *flags == "+S 2") {
        for (way, status) in [("halt", 3), ("at_once", 3), ("slogan", 1)] {
            let Some(machine) = Machine::start(&[what, way], "+S 2", None) else { return };
            let (code, said) = machine.end();
            assert_eq!(code, Some(status), "{what} {way}: {said}");
        }
    }
}

/// The ports are not told that the VM halts before the scheduler comes back that one of them is on.
#[test]
fn a_port_that_does_not_come_back_is_not_waited_for() {
    let Some(machine) = Machine::start(&["port", "halt"], "+S 2", None) else { return };
    let (code, said) = machine.end();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("the machine ends without it"), "{said}");
}

#[test]
fn it_ends_while_memory_fills() {
    for ms in [100, 400, 800] {
        let Some(machine) = Machine::start(&["memory"], "", Some(2_600_000 << 10)) else { return };
        std::thread::sleep(Duration::from_millis(ms));
        machine.signal(libc::SIGTERM);
        let (code, said) = machine.end();
        let fits = match code {
            Some(0) => said.is_empty(),
            Some(1) => said.starts_with("heddle: cannot allocate "),
            _ => false,
        };
        assert!(fits, "{ms}: {code:?} {said}");
    }
}
