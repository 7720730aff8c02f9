%% ordered_set: order of keys of all kinds, neighbours, equality by value.
-module(ets_ordered).
-export([main/1]).

main(_) ->
    T = ets:new(t, [ordered_set]),
    ets:insert(T, [{K, K} || K <- [5, a, "s", {1}, <<1>>, 2.5, #{}, [], 1, -3, b, 1 bsl 80]]),
    t:w(order, [K || {K, _} <- ets:tab2list(T)]),
    t:w(ends, [ets:first(T), ets:last(T)]),
    t:w(next, [ets:next(T, K) || K <- [5, 2, a, aa, <<1>>, zz, <<255>>]]),
    t:w(prev, [ets:prev(T, K) || K <- [5, 2, -3, -100, a]]),
    t:w(lookups, [ets:first_lookup(T), ets:last_lookup(T), ets:next_lookup(T, 1), ets:prev_lookup(T, 1)]),
    t:w(equal, [ets:insert(T, {1.0, float}), ets:lookup(T, 1), ets:lookup(T, 1.0), ets:info(T, size)]),
    t:w(slot, [ets:slot(T, 0), ets:slot(T, 11), ets:slot(T, 12)]),
    t:e(slot_bad, fun() -> ets:slot(T, 99) end),
    ets:delete_all_objects(T),
    [ets:insert(T, {N * 7919 rem 10007, N}) || N <- lists:seq(1, 5000)],
    L = ets:tab2list(T),
    t:w(sorted, {L =:= lists:sort(L), length(L)}),
    t:w(range, ets:select(T, [{{'$1', '$2'}, [{'>', '$1', 100}, {'<', '$1', 110}], ['$1']}])),
    t:w(reverse, element(1, ets:select_reverse(T, [{{'$1', '_'}, [], ['$1']}], 5))),
    [ets:delete(T, N) || N <- lists:seq(0, 10007, 3)],
    t:w(deleted, {ets:info(T, size), ets:first(T), ets:next(T, 500), ets:prev(T, 500)}),
    t:w(fold, {ets:foldl(fun({K, _}, A) -> A * 31 + K rem 7 end, 0, T) rem 1000003, ets:foldr(fun({K, _}, A) -> A * 31 + K rem 7 end, 0, T) rem 1000003}),
    t:w(walk, walk(T, ets:first(T), 0)),
    t:w(prefix, begin P = ets:new(p, [ordered_set]), ets:insert(P, [{{a, N}, N} || N <- lists:seq(1, 9)] ++ [{{b, N}, N} || N <- lists:seq(1, 9)]), ets:select(P, [{{{b, '$1'}, '_'}, [{'>', '$1', 6}], ['$_']}]) end).
walk(_, '$end_of_table', N) -> N;
walk(T, K, N) -> walk(T, ets:next(T, K), N + 1).
