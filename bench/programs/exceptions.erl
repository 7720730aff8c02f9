%% Throw and catch in a loop.
-module(exceptions).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> loop(500000, 0) end).

loop(0, A) -> A;
loop(N, A) ->
    X = try f(N) catch throw:T -> T; error:_ -> 1 end,
    loop(N - 1, A + X).

f(N) when N rem 2 =:= 0 -> throw(N);
f(N) when N rem 3 =:= 0 -> error(three);
f(N) -> N.
