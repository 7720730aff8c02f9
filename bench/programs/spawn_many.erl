%% Processes made without waiting.
-module(spawn_many).
-export([main/1, group/0]).

group() -> spawn.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Me = self(), [spawn(fun() -> Me ! x end) || _ <- lists:seq(1, 200000)], drain(200000).

drain(0) -> done;
drain(N) -> receive x -> drain(N - 1) end.
