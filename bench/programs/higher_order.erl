%% Funs made, passed and called.
-module(higher_order).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    L = lists:seq(1, 1000), lists:sum([lists:foldl(fun(X, A) -> X + A + K end, 0, lists:map(fun(X) -> X * K end, L)) || K <- lists:seq(1, 6000)]).
