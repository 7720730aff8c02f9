%% Tables with natives only.
-module(boot_ets).
-export([main/1]).

main(_) ->
    T = ets:new(t, [ordered_set]),
    [ets:insert(T, {N, N * N}) || N <- [3, 1, 2]],
    [erlang:display(X) || X <- [ets:tab2list(T), ets:lookup(T, 2), ets:first(T), ets:next(T, 1), ets:delete(T, 1), ets:info(T, size), ets:member(T, 1)]],
    ok.
