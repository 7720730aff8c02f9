%% Seconds since 1970 as date and time, for all that fit into 64 bits. (Stock is a day late in years before -2386: left out.)
-module(bif_posix_time).
-export([main/1]).

main(_) ->
    [io:format("~p ~0p~n", [X, at(X)]) || B <- [0, 10, 31, 32, 36, 40, 48, 53, 54, 55, 56, 58, 59, 60, 62, 63, 64], D <- [-1, 0, 1], X <- [(1 bsl B) + D]],
    [io:format("~p ~0p~n", [X, at(X)]) || X <- [-1, -86399, -86400, -86401, -(1 bsl 31), -(1 bsl 33), -(1 bsl 36), -(1 bsl 63) - 1, -(1 bsl 64), 1.0, a]].

at(X) ->
    try erlang:posixtime_to_universaltime(X) catch C:R -> {C, R} end.
