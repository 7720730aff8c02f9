%% Enough garbage for several collections, with live data across them.
-module(boot_gc).
-export([main/1]).

main(_) ->
    L = make(2000, []),
    erlang:display(churn(300, L, 0)),
    erlang:garbage_collect(),
    erlang:display(sum(L, 0)).
make(0, A) -> A;
make(N, A) -> make(N - 1, [{N, <<N:32>>} | A]).
churn(0, _, A) -> A;
churn(N, L, A) -> M = [{X, Y} || {X, Y} <- L, X rem 2 =:= N rem 2], churn(N - 1, L, A + length(M)).
sum([], A) -> A;
sum([{N, <<N:32>>} | T], A) -> sum(T, A + N).
