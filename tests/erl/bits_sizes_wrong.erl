%% Which of two wrong sizes of a construction is told of.
-module(bits_sizes_wrong).
-export([main/1]).

main(_) ->
    [io:format("~p ~p: ~p ~p ~p ~p~n", [A, B, made(fun() -> <<1:A, 2:B>> end), made(fun() -> <<1:A/unit:8, 2:B/unit:256>> end),
                                       made(fun() -> <<(same(<<1>>)):A/binary, 2:B>> end), made(fun() -> <<(same(x)):A, 2:B>> end)])
     || A <- [1, -1, a, 1 bsl 40, 1 bsl 56, 1 bsl 58, (1 bsl 59) - 1, 1 bsl 59, 1 bsl 64, -(1 bsl 64), 1 bsl 70], B <- [-1, a, 1 bsl 64, -(1 bsl 64)]].

same(X) -> X.

made(F) -> try F() of B -> bit_size(B) catch error:R -> R end.
