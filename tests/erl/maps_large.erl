%% Maps of thousands of keys: insert, update, remove, merge, equality, order of keys of many kinds.
-module(maps_large).
-export([main/1]).

main(_) ->
    N = 5000,
    M = maps:from_list([{K, K * 2} || K <- lists:seq(1, N)]),
    t:w(size, map_size(M)),
    t:w(sum, maps:fold(fun(K, V, A) -> A + K + V end, 0, M)),
    t:w(all, lists:all(fun(K) -> map_get(K, M) =:= K * 2 end, lists:seq(1, N))),
    t:w(none, lists:any(fun(K) -> is_map_key(K, M) end, [0, N + 1, a, 1.0, -5, {1}, "x"])),
    R = lists:foldl(fun maps:remove/2, M, lists:seq(1, N, 2)),
    t:w(removed, {map_size(R), maps:is_key(1, R), maps:get(2, R)}),
    E = lists:foldl(fun maps:remove/2, M, lists:seq(1, N)),
    t:w(emptied, {E, E =:= #{}}),
    t:w(equal, {maps:merge(R, M) =:= M, R == M, maps:from_list(lists:reverse(maps:to_list(M))) =:= M}),
    U = maps:map(fun(K, _) -> K end, M),
    t:w(updated, {maps:get(77, U), maps:get(77, M), map_size(maps:merge(M, U)), maps:get(9, maps:merge(M, U))}),
    Keys = [X || I <- lists:seq(1, 300), X <- [I, I * 1.0, {I}, [I], <<I:16>>, list_to_atom("k" ++ integer_to_list(I)), #{I => I}, I bsl 64]],
    Mixed = maps:from_keys(Keys, true),
    t:w(mixed, {map_size(Mixed), lists:all(fun(K) -> maps:get(K, Mixed) end, Keys), lists:sort(maps:keys(Mixed)) =:= lists:sort(Keys)}),
    t:w(numbers, [maps:get(1, Mixed), maps:is_key(1.0, Mixed), map_size(#{1 => a, 1.0 => b})]),
    t:w(shrink, [map_size(shrink(maps:from_keys(lists:seq(1, S), x), S - 3)) || S <- [30, 31, 32, 33, 34, 64, 65, 200]]),
    t:w(around, [{S, lists:sort(maps:to_list(maps:put(new, 1, maps:from_keys(lists:seq(1, S), 0)))) =:= lists:sort([{new, 1} | [{K, 0} || K <- lists:seq(1, S)]])} || S <- [31, 32, 33]]),
    t:w(iter, length(iter(maps:next(maps:iterator(M))))),
    t:w(match, case M of #{1 := A, 5000 := B, 2500 := C} -> {A, B, C} end),
    t:w(update_syntax, map_size(M#{1 := x, a => y, 5000 := z})),
    t:w(compare, {M < R, R < M, M < U, U < M, M > #{}, max(M, U) =:= M}),
    t:w(phash2, erlang:phash2(M)),
    t:w(phash2_mixed, erlang:phash2(maps:from_keys([K || K <- Keys, not is_float(K)], 1))).
shrink(M, 0) -> M;
shrink(M, N) -> shrink(maps:remove(N, M), N - 1).
iter(none) -> [];
iter({K, _, I}) -> [K | iter(maps:next(I))].
