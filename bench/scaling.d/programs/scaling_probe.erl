%% What this emulator is: `@about TEXT`, and whether it runs its one scheduler without the machinery for several: `@sequential
%% true` when system_info(smp_support) is false, as the emulators without SMP answered.
-module(scaling_probe).
-export([main/0]).

main() ->
    [Machine, Release, Version, Flavor, Build] = [erlang:system_info(K) || K <- [machine, otp_release, version, emu_flavor, build_type]],
    io:format("@about ~s, OTP ~s, ~s, ~s, ~s build~n", [Machine, Release, Version, Flavor, Build]),
    io:format("@sequential ~w~n", [erlang:system_info(smp_support) =:= false]).
