%% A token around a ring of processes.
-module(msg_ring).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Me = self(), F = lists:foldl(fun(_, To) -> spawn_link(fun() -> loop(To) end) end, Me, lists:seq(1, 100)), turn(F, 8000).

loop(To) -> receive stop -> unlink(To), To ! stop; X -> To ! X, loop(To) end.

turn(F, 0) -> F ! stop, receive stop -> done end;
turn(F, N) -> F ! N, receive N -> turn(F, N - 1) end.
