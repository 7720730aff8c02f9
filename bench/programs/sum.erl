%% Tail-recursive sum over a long list.
-module(sum).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    L = lists:seq(1, 1000000), lists:sum([sum(L, 0) || _ <- lists:seq(1, 30)]).

sum([], A) -> A;
sum([H | T], A) -> sum(T, A + H).
