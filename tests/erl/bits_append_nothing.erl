%% Few bits after a bitstring whose block has no room at all, as comprehensions over nothing make.
-module(bits_append_nothing).
-export([main/1]).
main(_) ->
    Nothing = fun() -> << <<B:8>> || B <- t:id([]) >> end,
    [t:e(N, fun() -> F(Nothing()) end) || {N, F} <- [
        {bits, fun(E) -> <<E/bitstring, 5:3>> end},
        {byte, fun(E) -> <<E/binary, 5>> end},
        {seven, fun(E) -> <<E/bits, (t:id(99)):7, 1:8>> end},
        {any, fun(E) -> <<E/bits, (t:id(9)):(t:id(5)), 1:(t:id(1))>> end},
        {empty, fun(E) -> <<E/bits, (t:id(<<>>))/bits>> end},
        {again, fun(E) -> lists:foldl(fun(B, A) -> <<A/bits, B:1>> end, E, [1, 0, 1, 1, 0, 1, 0, 1, 1]) end},
        {collected, fun(E) -> lists:foldl(fun(B, A) -> erlang:garbage_collect(), <<A/bits, B:3>> end, E, [1, 0, 5]) end},
        {float, fun(E) -> <<E/bits, 1.5/float>> end},
        {both, fun(E) -> A = <<E/bits, 1:2>>, B = <<E/bits, 2:2>>, {A, B, <<A/bits, B/bits>>} end},
        {nested, fun(E) -> << <<E/bits, B:3>> || B <- t:id([1, 2, 3]) >> end}]].
