//! What was sent to a port goes out before the VM ends, however it ends, if that is a way that brings it out; and no reader that
//! does not read keeps a VM that has a limit for that. Needs the libraries of an OTP 27 as `task_example` does; without them it is
//! skipped.

mod place;

use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SENT_BYTES: usize = 6_000_000;
/// A reader that never reads is there for so long.
const HANG: Duration = Duration::from_secs(20);

fn start(kind: &str, way: &str, flags: &str, port: Option<u16>) -> Option<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("run").arg(place::root().join("crates/cli/tests/ends.erl")).args([kind, way]);
    command.args(port.map(|port| port.to_string())).env("HEDDLE_OTP", place::otp()?).env("ERL_FLAGS", flags);
    command.env("ERL_CRASH_DUMP_SECONDS", "0").stderr(Stdio::null()).stdin(Stdio::null()).stdout(Stdio::piped());
    Some(command.spawn().unwrap())
}

/// The exit code, once it has ended; None if it does not within the limit.
fn end(child: &mut Child, limit: Duration) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// What a reader gets that reads nothing for two seconds, or until the VM has ended, and the exit code.
fn late_reader(kind: &str, way: &str) -> Option<(usize, Option<i32>)> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = (kind != "descriptor").then(|| listener.local_addr().unwrap().port());
    let mut child = start(kind, way, "-kernel logger_level none", port)?;
    let mut reader: Box<dyn Read> = match port {
        Some(_) => Box::new(listener.accept().unwrap().0),
        None => Box::new(child.stdout.take().unwrap()),
    };
    end(&mut child, Duration::from_secs(2));
    let mut got = Vec::new();
    // A VM that ends with unsent bytes may reset the connection.
    let _ = reader.read_to_end(&mut got);
    Some((got.len(), end(&mut child, HANG)))
}

#[test]
fn all_goes_out() {
    for kind in ["socket", "closed", "descriptor"] {
        for (way, status) in [("stop", 3), ("halt", 3), ("terminated", 0)] {
            let Some(got) = late_reader(kind, way) else { return };
            assert_eq!(got, (SENT_BYTES, Some(status)), "{kind} {way}");
        }
    }
}

#[test]
fn what_ends_at_once_brings_nothing_out() {
    for (way, status) in [("at once", 3), ("slogan", 1)] {
        let Some((bytes, code)) = late_reader("descriptor", way) else { return };
        assert!(bytes < SENT_BYTES && code == Some(status), "{way}: {bytes} bytes, {code:?}");
    }
}

#[test]
fn a_reader_that_does_not_read_keeps_no_machine_with_a_limit() {
    for (way, flags) in [("limit", ""), ("halt", "+zhft 300"), ("stop", "+zhft 300"), ("limit", "+zhft infinity")] {
        for kind in ["socket", "descriptor"] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let Some(mut child) = start(kind, way, flags, Some(listener.local_addr().unwrap().port()).filter(|_| kind == "socket")) else {
                return;
            };
            let code = end(&mut child, HANG);
            let _ = child.kill();
            assert_eq!(code, Some(255), "{kind} {way} {flags}");
        }
    }
}

/// As in stock: what the terminal's process has to write does not keep the VM, whose processes are ended meanwhile.
#[test]
fn a_reader_that_does_not_read_what_processes_print_keeps_no_machine_that_stops() {
    let put = "io:put_chars(binary:copy(<<\"abcdefgh\\n\">>, 500000))";
    let write = "begin {ok, F} = file:open(\"/dev/stdout\", [write]), file:write(F, binary:copy(<<0>>, 4000000)) end";
    for (what, flags) in [(put, "+S 2"), (put, "+S 1"), (put, "-smp disable"), (put, "+hmem shared"), (write, "+S 2")] {
        let Some(otp) = place::otp() else { return };
        let code = format!("P = spawn(fun() -> {what} end), receive after 300 -> P end, init:stop(3).");
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.args(["erl", "-noshell", "-eval", &code]).args(flags.split(' ')).env("HEDDLE_OTP", otp);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let code = end(&mut child, HANG);
        let _ = child.kill();
        assert_eq!(code, Some(3), "{what} {flags}");
    }
}
