%% Keys of one large map whose parts are the same, but in another order or grouped otherwise: each is a key of its own.
-module(maps_keys_in_other_order).
-export([main/1]).

main(_) ->
    Parts = [0, 1, <<>>, <<0>>, <<0:64>>, <<1:1>>, <<0:3>>, "", [0], {}, {0}, 0.0, 1 bsl 64, #{}, #{0 => 0}, fun lists:map/2],
    Tuples = [{A, B} || A <- Parts, B <- Parts],
    Lists = [[A, B] || A <- Parts, B <- Parts],
    Pairs = [[A | B] || A <- Parts, B <- Parts],
    Threes = [{A, B, C} || A <- Parts, B <- Parts, C <- Parts],
    lists:foreach(fun({Name, Keys}) -> t:w(Name, counts(Keys)) end,
                  [{tuples, Tuples}, {lists, Lists}, {pairs, Pairs}, {threes, Threes}, {all, Parts ++ Tuples ++ Lists ++ Pairs ++ Threes}]).

counts(Keys0) ->
    Keys = lists:usort(fun(A, B) -> term_to_binary(A) =< term_to_binary(B) end, Keys0),
    Map = maps:from_list([{Key, Key} || Key <- Keys]),
    Grown = lists:foldl(fun(Key, M) -> M#{Key => Key} end, #{}, Keys),
    {length(Keys), map_size(Map), map_size(Grown), lists:all(fun(Key) -> maps:get(Key, Map) =:= Key end, Keys), Map =:= Grown}.
