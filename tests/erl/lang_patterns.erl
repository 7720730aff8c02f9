%% Patterns in heads, cases and matches; what fails to match.
-module(lang_patterns).
-export([main/1]).

main(_) ->
    t:all(fun shape/1, [[X] || X <- [[], [1], [1, 2], [1, 2 | 3], {}, {a}, {a, b}, {a, a}, {x, {y, [z]}}, "abc", "abd", <<"bin">>, 1, 1.0, -1,
        #{k => v}, #{k => w}, #{}, 16#fffffffffffffffff, 'quoted atom', {point, 1, 2}, [[[]]], {1, [2 | 3], #{k => {v}}}]]),
    t:e(badmatch, fun() -> {ok, X} = t:id({error, no}), X end),
    t:e(same, fun() -> A = t:id({1, 2}), {B, B} = t:id({A, {1, 2}}), B end),
    t:e(case_clause, fun() -> case t:id({1}) of {2} -> ok; [_] -> no end end),
    t:e(alias, fun() -> f({1, [2, 3]}) end),
    t:e(big, fun() -> case t:id(1 bsl 100) of 1267650600228229401496703205376 -> yes; _ -> no end end),
    t:e(float, fun() -> case t:id(-0.0) of +0.0 -> plus; -0.0 -> minus end end),
    t:e(concat, fun() -> "pre" ++ R = t:id("prefix"), R end).
shape([]) -> nil;
shape([X]) -> {one, X};
shape("ab" ++ [C]) -> {ab, C};
shape([_ | T]) when not is_list(T) -> improper;
shape([A, B]) -> {two, A, B};
shape({}) -> t0;
shape({A}) -> {t1, A};
shape({A, A}) -> {twins, A};
shape({x, {y, [z]}}) -> nested;
shape({A, B}) -> {t2, A, B};
shape(<<"b", R/binary>>) -> {b, R};
shape(1.0) -> float_one;
shape(N) when is_integer(N), N < 0 -> neg;
shape(16#fffffffffffffffff) -> big;
shape(#{k := v} = M) -> {kv, map_size(M)};
shape(#{k := _}) -> k;
shape(#{}) -> map;
shape('quoted atom') -> quoted;
shape({_, [_ | 3], #{k := {V}}}) -> {deep, V}.
f({A, [_ | T] = L} = All) -> {A, L, T, All}.
