%% Deletion and insertion while the table is being walked.
-module(ets_fixtable).
-export([main/1]).

main(_) ->
    [begin
        T = ets:new(t, [Type]),
        ets:insert(T, [{N, x} || N <- lists:seq(1, 2000)]),
        ets:safe_fixtable(T, true),
        t:w(Type, walk_delete(T, ets:first(T), 0)),
        t:w(size, ets:info(T, size)),
        ets:safe_fixtable(T, false),
        t:w(first, ets:first(T)),
        t:w(fixed, {ets:info(T, fixed), ets:info(T, safe_fixed)}),
        ets:insert(T, [{N, y} || N <- lists:seq(1, 500)]),
        t:w(foldl, ets:foldl(fun({K, _}, A) -> ets:delete(T, K), K < 10000 andalso ets:insert(T, {K + 10000, z}), A + 1 end, 0, T) >= 500),
        t:w(left, length([K || {K, _} <- ets:tab2list(T), K < 10000]))
     end || Type <- [set, ordered_set, bag]].
walk_delete(_, '$end_of_table', N) -> N;
walk_delete(T, K, N) -> ets:delete(T, K), walk_delete(T, ets:next(T, K), N + 1).
