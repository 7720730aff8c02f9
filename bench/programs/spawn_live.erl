%% A hundred thousand processes alive at once.
-module(spawn_live).
-export([main/1, group/0]).

group() -> spawn.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    Ps = [spawn(fun() -> receive {P, X} -> P ! X end end) || _ <- lists:seq(1, 100000)], [P ! {self(), 1} || P <- Ps], lists:sum([receive X -> X end || _ <- Ps]).
