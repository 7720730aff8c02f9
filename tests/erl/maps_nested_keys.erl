%% Keys that are themselves large or hash alike; maps in maps.
-module(maps_nested_keys).
-export([main/1]).

main(_) ->
    Deep = lists:foldl(fun(I, A) -> #{I => A} end, leaf, lists:seq(1, 1000)),
    t:w(deep, erlang:phash2(Deep)),
    t:w(depth, depth(Deep)),
    Big = #{#{N => #{N => N}} => N || N <- lists:seq(1, 200)},
    t:w(lookup, [maps:get(#{N => #{N => N}}, Big) || N <- [1, 50, 200]]),
    Strs = #{integer_to_list(N) => N || N <- lists:seq(1, 1000)},
    t:w(strs, lists:sum([maps:get(integer_to_list(N), Strs) || N <- lists:seq(1, 1000)])),
    Bins = #{<<N:100>> => N || N <- lists:seq(1, 500)},
    t:w(bins, lists:sum([maps:get(<<N:100>>, Bins) || N <- lists:seq(1, 500)])),
    Floats = #{N / 7 => N || N <- lists:seq(1, 500)},
    t:w(floats, lists:sum([maps:get(N / 7, Floats) || N <- lists:seq(1, 500)])),
    Rs = [make_ref() || _ <- lists:seq(1, 500)],
    Refs = #{R => ok || R <- Rs},
    t:w(refs, {map_size(Refs), lists:all(fun(R) -> maps:get(R, Refs) =:= ok end, Rs)}),
    Pids = [spawn(fun() -> ok end) || _ <- lists:seq(1, 100)],
    t:w(pids, map_size(maps:from_keys(Pids, x))),
    Negs = #{-N => N || N <- lists:seq(1, 500)},
    t:w(negs, lists:sum(maps:values(Negs))),
    Bigs = #{(N bsl 100) => N || N <- lists:seq(-200, 200)},
    t:w(bigs, {map_size(Bigs), maps:get(-(5 bsl 100), Bigs)}),
    t:w(zero, {map_size(#{0.0 => a, -0.0 => b}), #{0.0 => a} =:= #{-0.0 => a}, #{0.0 => a} == #{-0.0 => a}}).
depth(leaf) -> 0;
depth(M) -> [V] = maps:values(M), 1 + depth(V).
