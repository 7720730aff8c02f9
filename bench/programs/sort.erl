%% lists:sort of integers and of tuples.
-module(sort).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    L = [N * 1103515245 rem 1000003 || N <- lists:seq(1, 200000)], hd(lists:sort(L)) + element(1, hd(lists:keysort(1, [{X, x} || X <- L]))).
