%% The lists functions that are natives, and what they say about wrong arguments.
-module(bif_lists_errors).
-export([main/1]).

main(_) ->
    L = [1, 2, 3, 4],
    t:all({lists, member}, [[1, L], [1.0, L], [9, L], [x, []], [1, foo], [9, [1 | 2]], [1, [1 | 2]]]),
    t:all({lists, reverse}, [[L], [[]], [foo], [[1 | 2]]]),
    t:all({lists, reverse}, [[L, [a]], [[], tail], [L, tail], [foo, []], [[1 | 2], []]]),
    t:all({lists, keyfind}, [[b, 1, [{a}, {b, 1}]], [1, 1, [{1.0}]], [z, 1, []], [b, 3, [{a}, {b}]], [b, 0, [{b}]], [b, x, []], [b, 1, foo], [b, 1, [{a} | b]], [1, 1, [x, {1}]]]),
    t:all({lists, keymember}, [[b, 2, [{a, b}]], [b, 2, [{a}]], [b, -1, []], [b, 1, {}]]),
    t:all({lists, keysearch}, [[b, 2, [{a, b}]], [q, 2, [{a, b}]], [b, a, []]]),
    t:all({erlang, length}, [[L], [[]], [foo], [[1 | 2]], [{}]]),
    t:all({erlang, hd}, [[L], [[]], [foo], [{}]]),
    t:all({erlang, tl}, [[L], [[]], [foo], [[1 | 2]]]),
    t:all({erlang, '++'}, [[L, L], [L, x], [[], x], [x, []], [[1 | 2], []], [[], []]]),
    t:all({erlang, '--'}, [[L, [2]], [[1, 1, 2, 1], [1, 1]], [L, x], [x, []], [[1 | 2], [1]], [[1], [2 | 3]], [[], []], [[1.0, 1], [1]]]),
    t:all({erlang, list_to_tuple}, [[L], [[]], [foo], [[a | b]]]),
    t:all({erlang, list_to_binary}, [[[]], [[1, "ab", <<3>>]], [[256]], [[-1]], [foo], [[1 | 2]], [[1 | <<2>>]], [[<<1:1>>]], [[a]], [<<1>>]]),
    t:all({erlang, iolist_to_binary}, [[<<1>>], [[1 | <<2>>]], [[[[]], [[<<>>]]]], [[256]], [1], [[<<1:4>>]]]),
    t:all({erlang, iolist_size}, [[[1, <<2, 3>> | <<4>>]], [<<>>], [[a]], [[1 | 2]]]),
    t:all({erlang, list_to_bitstring}, [[[<<1:3>>, 5, <<2:2>>]], [[1 | <<1:1>>]], [[1.0]]]),
    t:all({erlang, iolist_to_iovec}, [[[1, <<2>>, [3]]], [[]], [foo]]).
