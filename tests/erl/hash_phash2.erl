%% phash2 of many terms, with ranges; equal terms hash alike.
-module(hash_phash2).
-export([main/1]).

main(_) ->
    L = [0, 1, -1, 255, 256, 1 bsl 27, 1 bsl 28, 1 bsl 31, 1 bsl 32, 1 bsl 59, 1 bsl 60, 1 bsl 63, 1 bsl 64, -(1 bsl 64), 1 bsl 200, 0.0, 1.0, -1.5, 1.0e300, a, b, '', 'λ', nil, true, [], [a], [1, 2, 3], "string", [1 | 2], [[[]]], [256], {}, {a}, {1, 2}, {{}, {}},
        <<>>, <<1>>, <<"hello">>, <<1:1>>, <<5:3>>, <<1, 2:4>>, binary:copy(<<"xyz">>, 100), #{}, #{a => 1}, #{1 => 2, 3 => 4}, maps:from_keys(lists:seq(1, 40), x), lists:seq(1, 1000), list_to_tuple(lists:seq(1, 100)), fun lists:map/2, lists:duplicate(300, $a), [a, $b, 300, c]],
    [t:w(X, erlang:phash2(X)) || X <- L], t:w(ranges, [[erlang:phash2(X, R) || R <- [1, 2, 7, 1000, 1 bsl 27, 1 bsl 32]] || X <- [a, 1, "s", {x}]]),
    t:w(phash, [erlang:phash2({X, Y}) || X <- [1, a, <<2>>], Y <- [[], {}, 1.5]]),
    t:w(parts, begin <<_:3, S/bits>> = <<0:3, "hello">>, erlang:phash2(S) =:= erlang:phash2(<<"hello">>) end),
    t:w(zero, erlang:phash2(0.0) =:= erlang:phash2(-0.0)).
