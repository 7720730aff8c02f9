%% Runs a program's work and says how long it took, without the start of the emulator:
%% `@time NAME GROUP MICROSECONDS HASH`, where the hash of the result shows that both emulators computed the same.
-module(bench).
-export([time/2]).

time(Module, Work) ->
    Start = erlang:monotonic_time(),
    Result = Work(),
    Micros = erlang:convert_time_unit(erlang:monotonic_time() - Start, native, microsecond),
    io:format("@time ~w ~w ~w ~w~n", [Module, Module:group(), Micros, erlang:phash2(Result)]).
