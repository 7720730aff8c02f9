%% sets in both versions, ordsets, gb_sets.
-module(data_sets).
-export([main/1]).

main(_) ->
    [begin F = fun(L) -> case V of 0 -> M:from_list(L); _ -> M:from_list(L, [{version, V}]) end end, A = F([1, 2, 3, a]), B = F([2, a, z]), T = fun(S) -> lists:sort(M:to_list(S)) end, t:w({M, V}, [T(M:union(A, B)), T(M:intersection(A, B)), T(M:subtract(A, B)), M:is_subset(A, B), M:is_element(2, A), M:is_element(2.0, A), M:size(A), T(M:add_element(q, A)), T(M:del_element(1, A)), T(M:filter(fun is_integer/1, A)), M:fold(fun(_, N) -> N + 1 end, 0, A), M:is_disjoint(A, F([x])), M:is_empty(F([])), M:is_set(A), M:is_equal(A, F([a, 3, 2, 1])), T(M:union([A, B])), M:size(F(lists:seq(1, 1000)))]) end || {M, V} <- [{sets, 1}, {sets, 2}, {ordsets, 0}, {gb_sets, 0}]], G = gb_sets:from_list([5, 1, 3]), t:w(gb, [gb_sets:smallest(G), gb_sets:largest(G), element(1, gb_sets:take_smallest(G)), gb_sets:to_list(gb_sets:balance(G)), element(1, gb_sets:next(gb_sets:iterator(G)))]), t:e(empty, fun() -> gb_sets:smallest(gb_sets:new()) end).
