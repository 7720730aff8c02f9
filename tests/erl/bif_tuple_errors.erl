%% Natives on tuples with good and bad arguments.
-module(bif_tuple_errors).
-export([main/1]).

main(_) ->
    T = {a, b, c},
    t:all({erlang, element}, [[1, T], [3, T], [0, T], [4, T], [-1, T], [1 bsl 70, T], [1.0, T], [a, T], [1, []], [1, {}]]),
    t:all({erlang, setelement}, [[1, T, z], [3, T, {}], [0, T, z], [4, T, z], [x, T, z], [1, x, z]]),
    t:all({erlang, tuple_size}, [[T], [{}], [[]], [<<>>]]),
    t:all({erlang, size}, [[T], [<<1, 2>>], [<<1:9>>], [[]], [1]]),
    t:all({erlang, tuple_to_list}, [[T], [{}], [x]]),
    t:all({erlang, append_element}, [[T, d], [{}, {}], [x, d]]),
    t:all({erlang, make_tuple}, [[0, x], [3, x], [-1, x], [a, x], [1 bsl 60, x]]),
    t:all({erlang, make_tuple}, [[3, x, [{2, y}]], [3, x, [{2, y}, {2, z}]], [3, x, [{4, y}]], [3, x, foo], [3, x, [a]], [2, x, [{0, a}]]]),
    t:all({erlang, insert_element}, [[1, T, z], [4, T, z], [5, T, z], [0, T, z], [1, x, z], [a, T, z]]),
    t:all({erlang, delete_element}, [[1, T], [3, T], [4, T], [0, T], [1, {}], [1, x]]),
    t:all({erlang, is_record}, [[T, a], [T, b], [x, a], [T, 1]]),
    t:all({erlang, is_record}, [[T, a, 3], [T, a, 2], [T, a, x], [T, 1, 3], [T, a, -1]]),
    B = erlang:make_tuple(5000, 0, [{5000, last}, {1, first}]),
    t:w(large, {element(1, B), element(5000, B), element(2500, B), tuple_size(erlang:append_element(B, x)), lists:sum(tl(lists:droplast(tuple_to_list(B))))}),
    t:w(set_large, element(77, setelement(77, B, changed))).
