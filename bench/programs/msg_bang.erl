%% Many senders, one receiver.
-module(msg_bang).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Me = self(), [spawn_link(fun() -> [Me ! {S, N} || N <- lists:seq(1, 2000)] end) || S <- lists:seq(1, 200)], drain(400000).

drain(0) -> done;
drain(N) -> receive {_, _} -> drain(N - 1) end.
