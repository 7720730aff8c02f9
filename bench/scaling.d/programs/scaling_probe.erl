%% What this emulator is: `@about TEXT`, and whether it runs its one scheduler without the machinery for several: `@sequential
%% true` when system_info(smp_support) is false, as the emulators without SMP answered. `@private true`: a process may have a thread
%% of its own.
-module(scaling_probe).
-export([main/0]).

main() ->
    [Machine, Release, Version, Flavor, Build] = [erlang:system_info(K) || K <- [machine, otp_release, version, emu_flavor, build_type]],
    io:format("@about ~s, OTP ~s, ~s, ~s, ~s build~n", [Machine, Release, Version, Flavor, Build]),
    io:format("@sequential ~w~n", [erlang:system_info(smp_support) =:= false]),
    {Pid, Monitor} = try spawn_opt(fun() -> ok end, [monitor, {thread, private}]) catch error:badarg -> {none, none} end,
    io:format("@private ~w~n", [is_pid(Pid) andalso receive {'DOWN', Monitor, process, Pid, Reason} -> Reason =:= normal end]).
