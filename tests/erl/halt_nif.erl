%% A halt with flush tells NIF libraries that want that, and then waits for their functions (tests/nif/halt_nif.c).
-module(halt_nif).
-export([main/1, start/1, on_scheduler/1, on_dirty_cpu/1, on_dirty_io/1]).
-nifs([on_scheduler/1, on_dirty_cpu/1, on_dirty_io/1, too_late/0]).

on_scheduler(_) -> not_loaded.
on_dirty_cpu(_) -> not_loaded.
on_dirty_io(_) -> not_loaded.
too_late() -> not_loaded.

main(_) ->
    start([fun on_dirty_cpu/1, fun on_dirty_io/1]),
    io:format("too late: ~p~n", [too_late()]),
    halt(3).

%% Runs those functions, each in a process.
start(Functions) ->
    ok = erlang:load_nif(filename:join(os:getenv("HEDDLE_TEST_NIFS"), "halt_nif"), []),
    Self = self(),
    [begin spawn(fun() -> F(Self) end), receive runs -> ok end end || F <- Functions].
