%% Natives on lists, and list code written out.
-module(boot_lists).
-export([main/1]).

main(_) ->
    L = seq(1, 10),
    [erlang:display(X) || X <- [L, length(L), hd(L), tl(L), rev(L, []), L ++ [x], L -- [3, 5, 99], [X * X || X <- L, X rem 2 =:= 0],
        lists:reverse(L), lists:member(3, L), lists:keyfind(b, 1, [{a, 1}, {b, 2}]), list_to_tuple(L)]],
    ok.
seq(A, B) when A > B -> [];
seq(A, B) -> [A | seq(A + 1, B)].
rev([], A) -> A;
rev([H | T], A) -> rev(T, [H | A]).
