%% Order and equality of bitstrings of different lengths and offsets.
-module(bits_compare).
-export([main/1]).

main(_) ->
    L = [<<>>, <<0:1>>, <<1:1>>, <<0>>, <<0:9>>, <<1:7>>, <<1>>, <<128>>, <<127, 1:1>>, <<"a">>, <<"ab">>, <<"b">>, <<255, 255>>, <<255:8, 1:4>>, <<0:64>>],
    t:w(sorted, lists:sort(L)),
    t:w(matrix, [[if A < B -> lt; A == B -> eq; true -> gt end || B <- L] || A <- L]),
    Shift = [begin <<_:K, R/bits>> = <<0:K, X/bits>>, R end || X <- L, K <- [1, 5, 8]],
    t:w(shifted, lists:sort(Shift) =:= lists:sort([X || X <- L, _ <- [1, 2, 3]])),
    t:w(usort, length(lists:usort(Shift ++ L)) =:= length(L)),
    t:w(exact, [A =:= B || A <- [<<1:4>>, <<1:5>>], B <- [<<1:4>>, <<1:5>>, <<1>>]]),
    t:w(with_others, [<<1>> > [1], <<1>> > #{}, <<1>> > {}, <<>> > "zz"]).
