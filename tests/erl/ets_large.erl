%% Tables with many objects, large objects, all key kinds.
-module(ets_large).
-export([main/1]).

main(_) ->
    T = ets:new(t, [set, public, {read_concurrency, true}]),
    [ets:insert(T, {K, erlang:phash2(K)}) || N <- lists:seq(1, 5000), K <- [N, {N, N}, <<N:32>>, [N], N / 2 + 0.25, integer_to_list(N)]],
    t:w(size, ets:info(T, size)),
    t:w(found, lists:all(fun(N) -> lists:all(fun(K) -> ets:lookup(T, K) =:= [{K, erlang:phash2(K)}] end, [N, {N, N}, <<N:32>>, [N]]) end, lists:seq(1, 5000))),
    t:w(sum, ets:foldl(fun({_, H}, A) -> A + H end, 0, T)),
    [ets:delete(T, N) || N <- lists:seq(1, 5000)],
    t:w(deleted, ets:info(T, size)),
    t:w(count, ets:select_count(T, [{{{'_', '_'}, '_'}, [], [true]}])),
    ets:insert(T, {big, lists:seq(1, 100000)}), ets:insert(T, {bin, binary:copy(<<"abc">>, 100000)}),
    t:w(big, begin [{_, L}] = ets:lookup(T, big), [{_, B}] = ets:lookup(T, bin), {length(L), byte_size(B), erlang:md5(B)} end),
    t:w(tab2list, length(ets:tab2list(T))),
    t:w(match_delete, {ets:match_delete(T, {{'_', '_'}, '_'}), ets:info(T, size)}),
    F = ets:new(f, [ordered_set, compressed]), ets:insert(F, [{N, lists:duplicate(50, N)} || N <- lists:seq(1, 500)]),
    t:w(compressed, [ets:info(F, compressed), hd(ets:lookup_element(F, 77, 2)), ets:lookup_element(F, 5, 1), length(ets:match(F, {'$1', '_'}))]),
    t:w(many_tables, begin Ts = [ets:new(x, []) || _ <- lists:seq(1, 500)], [ets:insert(X, {1}) || X <- Ts], length([ets:delete(X) || X <- Ts]) end).
