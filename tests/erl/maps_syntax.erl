%% Map construction, update and matching in all the forms of the language.
-module(maps_syntax).
-export([main/1]).

main(_) ->
    E = #{},
    K = t:id(key), V = t:id([1]),
    t:w(build, {#{K => V}, #{K => 1, K => 2}, #{{K, 1} => V, [K] => V}, #{1 => a, 1.0 => b}, #{E => E}}),
    M = #{a => 1, b => 2},
    t:w(assoc, {M#{c => 3}, M#{a => x}, M#{a := y, d => 4}, E#{}, M#{a => 1} =:= M}),
    t:w(chain, (M#{c => 3})#{c := 4, a => 5}),
    t:w(match, begin #{a := A, b := B} = M, {A, B} end),
    t:w(var_key, begin #{K := X} = #{key => found}, X end),
    t:w(expr_key, case #{{key, 1} => f} of #{{K, 1} := F} -> F end),
    t:w(nested, begin #{o := #{i := [H | _]}} = #{o => #{i => [7, 8]}}, H end),
    t:w(heads, [f(Y) || Y <- [#{}, #{a => 1}, #{a => 2}, #{b => 1}, #{a => 1, b => 1}, #{a => #{b => c}}, x]]),
    t:w(funs, [(fun(#{x := P, y := P}) -> same; (#{x := _}) -> x; (#{}) -> none end)(Y) || Y <- [#{x => 1, y => 1}, #{x => 1, y => 1.0}, #{y => 1}]]),
    t:e(no_key, fun() -> #{zz := Q} = t:id(M), Q end),
    t:e(not_map, fun() -> #{zz := Q} = t:id([]), Q end),
    t:e(update_missing, fun() -> (t:id(M))#{zz := 1} end),
    t:e(update_missing_second, fun() -> (t:id(M))#{a := 1, 7 := 1, 8 := 2} end),
    t:w(guard, [g(Y) || Y <- [#{n => 3}, #{n => a}, #{}, x]]),
    t:w(literal_compare, [#{a => 1} < #{a => 2}, #{a => 1} < #{b => 0}, #{a => 1, b => 1} > #{z => 100}, #{1 => a} < #{a => 1}, #{1 => a} == #{1.0 => a}, #{a => 1} == #{a => 1.0}, #{a => 1} =:= #{a => 1.0}]),
    t:w(size31, map_size(maps:merge(#{x => y}, maps:from_keys(lists:seq(1, 31), 0)))),
    t:w(sorted_maps, lists:sort([#{b => 1}, #{a => 2}, #{}, #{a => 1}, #{a => 1, b => 0}, #{1 => 1}, #{1.5 => 1}])).
f(#{a := 1, b := B}) -> {both, B};
f(#{a := 1}) -> a1;
f(#{a := #{b := C}}) -> {deep, C};
f(#{a := A}) -> {a, A};
f(#{b := _}) -> b;
f(#{}) -> map;
f(_) -> other.
g(M) when map_get(n, M) > 2, is_integer(map_get(n, M)) -> big;
g(M) when is_map_key(n, M) -> n;
g(M) when is_map(M), map_size(M) =:= 0 -> empty;
g(_) -> no.
