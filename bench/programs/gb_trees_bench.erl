%% Balanced trees of the standard library.
-module(gb_trees_bench).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    gb_trees:size(lists:foldl(fun(N, T) -> gb_trees:enter(N * 7919 rem 50021, N, T) end, gb_trees:empty(), lists:seq(1, 100000))).
