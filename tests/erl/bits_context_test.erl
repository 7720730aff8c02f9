%% Type tests meet a match context where the compiler passes it on to a generator.
-module(bits_context_test).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[catch again(B) || B <- [<<42>>, <<>>, <<1:1>>, <<1, 2, 3>>, foo]]]),
    io:format("~p~n", [[catch class(B) || B <- [<<42>>, <<>>, <<1:1>>, <<42, 2, 3>>, <<42, 1:3>>, foo]]]).

again(<<_:8>>) -> ok;
again(A) ->
    try << (ok) || <<_:ok>> <= A >>
    after ok
    end.

class(<<42, T/bits>>) -> sort(T);
class(T) -> sort(T).

sort(<<0:1, _/bits>>) -> zero;
sort(T) when is_binary(T) -> {binary, << <<X>> || <<X>> <= T >>};
sort(T) when is_bitstring(T) -> bits;
sort(_) -> other.
