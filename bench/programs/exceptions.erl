%% Throw and catch in a loop.
-module(exceptions).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    lists:sum([try f(N) catch throw:X -> X; error:_ -> 1 end || N <- lists:seq(1, 500000)]).

f(N) when N rem 2 =:= 0 -> throw(N);
f(N) when N rem 3 =:= 0 -> error(three);
f(N) -> N.
