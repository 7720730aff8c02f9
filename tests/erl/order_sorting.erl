%% Sorting terms of all kinds, stability, keys, unique, merge.
-module(order_sorting).
-export([main/1]).

main(_) ->
    L = [1, 1.0, a, b, "a", [], {}, {1}, {1.0}, {a, b}, #{}, #{a => 1}, #{b => 0}, <<>>, <<1>>, <<1:3>>, -5, 1 bsl 70, -(1 bsl 70), 2.5, [1 | 2], [[]], nil, <<"z">>, {0, 0, 0}, fun erlang:abs/1],
    t:w(sort, lists:sort(L)), t:w(usort, lists:usort(L ++ L)), t:w(reverse, lists:sort(fun(A, B) -> A >= B end, L)),
    t:w(stable, lists:keysort(1, [{2, a}, {1, b}, {2, c}, {1.0, d}, {1, e}])), t:w(ukey, lists:ukeysort(1, [{2, a}, {1, b}, {2, c}, {1.0, d}])),
    t:w(merge, {lists:merge([1, 3, 5], [2, 4]), lists:umerge([[1, 2], [2, 3], [1]]), lists:keymerge(1, [{1, a}], [{1, b}, {2, c}])}),
    t:w(eq, [{A, B} || A <- L, B <- L, A == B, A =/= B]),
    R = [N * 7919 rem 10007 || N <- lists:seq(1, 10000)],
    t:w(large, {lists:sort(R) =:= lists:seq(0, 10006) -- [0, 10006 - 10006] orelse length(lists:usort(R)), erlang:phash2(lists:sort(R))}),
    t:w(sorted_already, lists:sort(lists:seq(1, 1000)) =:= lists:seq(1, 1000)), t:w(backwards, lists:sort(lists:seq(1000, 1, -1)) =:= lists:seq(1, 1000)),
    t:e(bad, fun() -> lists:sort(t:id(x)) end), t:e(bad_tail, fun() -> lists:sort(t:id([2, 1 | x])) end), t:e(bad_key, fun() -> lists:keysort(3, [{1}, {2}]) end).
