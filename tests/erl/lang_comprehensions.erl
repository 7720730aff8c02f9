%% List, binary and map comprehensions with several generators, filters and bad generators.
-module(lang_comprehensions).
-export([main/1]).

main(_) ->
    L = lists:seq(1, 6),
    t:w(pyth, [{A, B, C} || A <- lists:seq(1, 20), B <- lists:seq(A, 20), C <- lists:seq(B, 20), A * A + B * B =:= C * C]),
    t:w(filter, [X || X <- [1, a, {b}, 2.0, "s"], is_number(X)]),
    t:w(pattern, [X || {ok, X} <- [{ok, 1}, error, {ok, 2}, {ok, 3, 4}]]),
    t:w(shadow, [[X || X <- lists:seq(1, X)] || X <- L]),
    t:w(bin_from_list, << <<X:4>> || X <- L >>),
    t:w(list_from_bin, [X || <<X:3>> <= <<16#abcdef:24>>]),
    t:w(bin_tail, [X || <<X:7>> <= <<1, 2, 3>>]),
    t:w(bin_pattern, [X || <<1, X>> <= <<1, 2, 1, 3, 2, 4, 1, 5>>]),
    t:w(bin_bin, << <<(X bxor 255)>> || <<X>> <= <<1, 2, 3>>, X =/= 2 >>),
    t:w(bits, << <<B:1>> || <<B:2>> <= <<16#1b>> >>),
    t:w(utf8, [C || <<C/utf8>> <= <<"aé€😀"/utf8>>]),
    t:w(floats, [F || <<F:32/float>> <= <<1.5:32/float, -2.25:32/float>>]),
    t:w(map, #{K => V * 2 || K := V <- #{a => 1, b => 2}}),
    t:w(map_from_list, #{X => X * X || X <- L, X > 3}),
    t:w(list_from_map, lists:sort([{V, K} || K := V <- #{x => 1, y => 2}])),
    t:w(map_pattern, lists:sort([K || K := {v, _} <- #{a => {v, 1}, b => 2, c => {v, 3}}])),
    t:w(map_iterator, [K || K := _ <- maps:iterator(#{c => 1, a => 2, b => 3}, ordered)]),
    t:w(nested, [{X, Y} || X <- [a, b], Y <- [1, 2, 3], Y =/= 2]),
    t:e(bad_list, fun() -> [X || X <- t:id(foo)] end),
    t:e(bad_tail, fun() -> [X || X <- t:id([1, 2 | 3])] end),
    t:e(bad_bin, fun() -> [X || <<X>> <= t:id([])] end),
    t:e(bad_map, fun() -> [X || X := _ <- t:id([])] end),
    t:e(bad_filter, fun() -> [X || X <- L, t:id(x)] end),
    t:e(bad_value, fun() -> << <<X>> || X <- [1, t:id(a)] >> end),
    t:w(side, begin put(n, 0), _ = [put(n, get(n) + X) || X <- L], get(n) end).
