//! `+hmem`: what it takes, what programs are told, that messages are not copied where they are said to be shared, and that a process that asks for
//! collections of the shared heap has a part of the time and gets them in the end. Needs the
//! libraries of an OTP 27 as `task_example` does; without them it is skipped.

mod place;

use std::process::{Command, Output};

fn erl(flags: &[&str], eval: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("erl").args(flags).args(["-noshell", "-eval", eval]);
    command.env("HEDDLE_OTP", place::otp().unwrap()).output().unwrap()
}

fn says(flags: &[&str], eval: &str) -> String {
    let output = erl(flags, &format!("{eval}, halt()."));
    assert!(output.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn the_architecture_is_told() {
    if place::otp().is_none() {
        return;
    }
    let told = "io:format(\"~p\", [erlang:system_info(heap_type)])";
    assert_eq!(says(&[], told), "private");
    assert_eq!(says(&["+hmem", "private"], told), "private");
    assert_eq!(says(&["+hmem", "hybrid"], told), "hybrid");
    assert_eq!(says(&["+hmem", "shared"], told), "shared");
    let output = erl(&["+hmem", "large"], "halt().");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("+hmem large: private, shared or hybrid"), "{said}");
}

/// Words that are copied while a list of 10,000 elements goes to and fro a hundred times.
#[test]
fn a_message_is_copied_once_if_it_is_shared() {
    if place::otp().is_none() {
        return;
    }
    let ping_pong = "Echo = spawn(fun Loop() -> receive {From, X} -> From ! X, Loop() end end),
        Words = fun() -> #{words := W} = heddle_stats:messages(), W end,
        Before = Words(),
        Last = lists:foldl(fun(_, X) -> Echo ! {self(), X}, receive Y -> Y end end, lists:seq(1, 10_000), lists:seq(1, 100)),
        Copied = Words() - Before,
        true = Last =:= lists:seq(1, 10_000),
        io:format(\"~p\", [Copied])";
    let copied = |flags: &[&str]| says(flags, ping_pong).parse::<usize>().unwrap();
    // Once a way, each time; and once.
    let (private, hybrid) = (copied(&[]), copied(&["+hmem", "hybrid"]));
    assert!(private >= 200 * 20_000, "{private}");
    assert!((20_000..30_000).contains(&hybrid), "{hybrid}");
}

/// A hundred lists of 200,000 words are sent and come back. With the smallest area most are copied the second time as well, and arrive.
#[test]
fn beyond_the_area_messages_are_copied() {
    if place::otp().is_none() {
        return;
    }
    let program = "Me = self(),
        Loop = fun Loop(Kept) -> receive {keep, [X]} -> Me ! kept, Loop([X | Kept]);
                                         back -> [Me ! {back, X} || X <- lists:reverse(Kept)] end end,
        Keeper = spawn(fun() -> Loop([]) end),
        Keep = fun(N) -> Keeper ! {keep, [lists:seq(N, N + 99_999)]}, receive kept -> ok end end,
        lists:foreach(Keep, lists:seq(1, 100)),
        #{words := Before} = heddle_stats:messages(),
        Keeper ! back,
        Back = fun(N) -> receive {back, X} -> X =:= lists:seq(N, N + 99_999) end end,
        true = lists:all(Back, lists:seq(1, 100)),
        #{words := After} = heddle_stats:messages(),
        io:format(\"~p\", [After - Before])";
    let copied = |flags: &[&str]| says(&[&["+hmem", "hybrid"], flags].concat(), program).parse::<usize>().unwrap();
    let (large, small) = (copied(&[]), copied(&["+hmarea", "64"]));
    assert!(large < 10_000, "{large}");
    assert!((10_000_000..20_010_000).contains(&small), "{small}");
    assert!(!erl(&["+hmem", "hybrid", "+hmarea", "63"], "halt().").status.success());
}

/// 50 MB live while a process asks for 300 collections: far more than there is time for. What then dies is found all the same.
#[test]
fn collections_of_all_that_are_asked_for_have_a_part_of_the_time() {
    if place::otp().is_none() {
        return;
    }
    let program = "Me = self(),
        Holder = spawn(fun() -> put(list, lists:seq(1, 3_000_000)), Me ! made, receive drop -> Me ! length(erase(list)) end,
            receive stop -> ok end end),
        receive made -> ok end,
        #{major := Before} = heddle_stats:gc(),
        [true = erlang:garbage_collect() || _ <- lists:seq(1, 300)],
        #{major := After} = heddle_stats:gc(),
        Holder ! drop, receive 3_000_000 -> ok end,
        true = erlang:garbage_collect(Holder),
        Wait = fun Wait(0) -> not_found; Wait(N) -> case process_info(Holder, total_heap_size) of
            {_, Words} when Words > 100_000 -> timer:sleep(100), Wait(N - 1);
            _ -> ok end end,
        ok = Wait(600),
        io:format(\"~p\", [After - Before])";
    let collections = |flags: &[&str]| says(&[&["+hmem", "shared"], flags].concat(), program).parse::<usize>().unwrap();
    let few = collections(&[]);
    assert!((1..150).contains(&few), "{few}");
    assert!(collections(&["+hgcp", "100"]) >= 300);
    assert!(!erl(&["+hgcp", "0"], "halt().").status.success());
}
