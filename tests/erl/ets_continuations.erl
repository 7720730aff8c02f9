%% select, match and match_object in pieces.
-module(ets_continuations).
-export([main/1]).

main(_) ->
    [begin
        T = ets:new(t, [Type]),
        ets:insert(T, [{N, N * N} || N <- lists:seq(1, 1000)]),
        t:w(Type, begin All = pieces(ets:select(T, [{{'$1', '_'}, [], ['$1']}], 37), fun ets:select/1), {lists:sum(All), length(All)} end),
        t:w(match, lists:sum([A || [A] <- pieces(ets:match(T, {'$1', '_'}, 100), fun ets:match/1)])),
        t:w(object, length(pieces(ets:match_object(T, {'_', '_'}, 99), fun ets:match_object/1))),
        t:w(guarded, length(pieces(ets:select(T, [{{'$1', '_'}, [{'=:=', {'rem', '$1', 10}, 0}], ['$1']}], 7), fun ets:select/1))),
        t:w(none, ets:select(T, [{{x, '_'}, [], ['$_']}], 5)),
        t:w(end_, ets:select('$end_of_table')),
        t:e(bad_limit, fun() -> ets:select(T, [{'_', [], ['$_']}], 0) end),
        t:e(bad_cont, fun() -> ets:select(t:id(foo)) end),
        t:w(one_key, ets:select(T, [{{5, '$1'}, [], ['$1']}], 10) =/= '$end_of_table')
     end || Type <- [set, ordered_set]].
pieces('$end_of_table', _) -> [];
pieces({L, C}, F) -> L ++ pieces(F(C), F).
