%% Checksums that go on from sums which are not reduced yet, also over nothing.
-module(bif_adler_sums).
-export([main/1]).

main(_) ->
    Starts = [0, 1, 65520, 65521, 65522, 65535, 16#fff10000, 16#fff0ffff, 16#ffffffff, 134217726, 16#fff1fff1],
    [io:format("~w: ~w~n", [A, [erlang:adler32(A, B) || B <- [<<>>, <<1>>, "ab", [], [<<>>, <<>>], [[], []], <<1:160>>, [<<>>, <<5>>], [<<5>>, <<>>]]]]) || A <- Starts],
    [io:format("~w~n", [[erlang:adler32_combine(A, B, N) || B <- [0, 1, 65521, 16#fff1fff1, 16#ffffffff], N <- [0, 1, 65520, 65521, 65522, 1 bsl 31]]]) || A <- Starts].
