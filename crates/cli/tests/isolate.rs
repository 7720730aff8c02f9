//! Schedulers are closed and opened while processes come and go: those that work may all be closed, and an open one has to run the others. Needs
//! the libraries of an OTP 27; without them it is skipped.

mod place;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: &str = "Me = self(),
    Round = fun(R) ->
        N = 1 + rand:uniform(4),
        [heddle_sched:isolate(I, []) || I <- lists:seq(1, N)],
        Ps = [spawn(fun() -> receive {From, go} -> lists:sum(lists:seq(1, 3000)), From ! done end end) || _ <- lists:seq(1, 50)],
        [P ! {Me, go} || P <- Ps],
        [receive done -> ok end || _ <- Ps],
        (R rem 3 =:= 0) andalso timer:sleep(3),
        [heddle_sched:release(I) || I <- lists:seq(1, N)],
        (R rem 5 =:= 0) andalso timer:sleep(3)
    end,
    lists:foreach(Round, lists:seq(1, 1000)), halt(42).";

#[test]
fn open_schedulers_run_the_processes_of_those_that_were_closed() {
    let Some(otp) = place::otp() else { return };
    for heap in ["private", "shared"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
        command.args(["erl", "+S", "64:64", "+hmem", heap, "-noshell", "-eval", ROUNDS]).env("HEDDLE_OTP", &otp).stdin(Stdio::null());
        let (mut machine, began) = (command.spawn().unwrap(), Instant::now());
        // It takes some seconds; if no scheduler ran a process it would never end.
        let status = loop {
            match machine.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > Duration::from_secs(300) => {
                    machine.kill().unwrap();
                    panic!("{heap}: it stands still");
                }
                None => std::thread::sleep(Duration::from_millis(100)),
            }
        };
        assert_eq!(status.code(), Some(42), "{heap}");
    }
}
