%% One process that does not come back, and a way to end: see stuck_ends.rs.
-module(stuck_ends).
-export([main/1]).

-define(LONG_MS, 100000).

main([What | End]) ->
    erts_debug:set_internal_state(available_internal_state, true),
    Me = self(),
    spawn(fun() -> stuck(What, fun() -> io:put_chars(standard_error, "stuck\n"), Me ! begins end) end),
    receive begins -> ok end,
    busy(erlang:monotonic_time(millisecond) + 50),
    case End of
        [] -> ok;
        ["halt"] -> halt(3);
        ["at_once"] -> halt(3, [{flush, false}]);
        ["slogan"] -> halt("slogan")
    end,
    receive after infinity -> ok end.

%% No timer: it may belong to the scheduler that will not come back.
busy(Until) ->
    erlang:yield(),
    erlang:monotonic_time(millisecond) >= Until orelse busy(Until).

%% Terms of 2^70 parts, by one instruction.
stuck("instruction", Begins) -> {A, B} = {shared(70), shared(70)}, Begins(), A == B;
stuck("native", Begins) -> Begins(), erts_debug:set_internal_state(sleep, ?LONG_MS);
%% A native that holds what others need to write there.
stuck("output", Begins) -> Begins(), erlang:display(lists:duplicate(1000000, $a));
stuck("dirty", Begins) -> Begins(), erts_debug:dirty_cpu(wait, ?LONG_MS);
stuck("memory", Begins) -> Begins(), grow([]);
stuck("port", Begins) ->
    Port = open_port({spawn, "cat"}, []),
    erts_debug:set_internal_state(proc_sig_block, {Port, ?LONG_MS}),
    Begins(),
    receive after infinity -> Port end.

shared(0) -> [a];
shared(N) -> S = shared(N - 1), [S | S].

grow(L) -> grow([L, {1, 2, 3} | L]).
