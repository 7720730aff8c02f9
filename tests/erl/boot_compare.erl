%% Term order and equality.
-module(boot_compare).
-export([main/1]).

main(_) ->
    L = [3, a, {b}, [c], #{}, <<"d">>, 2.5, [], 1 bsl 70, {}, self()],
    [erlang:display({I, J, at(I, L) < at(J, L)}) || I <- [1, 2, 3, 4, 6, 7], J <- [1, 3, 5, 8, 9, 10, 11]],
    [erlang:display(X) || X <- [id(1) == id(1.0), id(1) =:= id(1.0), id(1) /= 2, {1, 2.0} == {1.0, 2}, [a] =< [a, b], id("ab") < "b", 0.0 == id(-0.0)]],
    ok.
at(1, [X | _]) -> X;
at(N, [_ | L]) -> at(N - 1, L).
id(X) -> X.
