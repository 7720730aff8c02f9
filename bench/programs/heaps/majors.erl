%% How long collections of everything take while a heap of some size lives: for the shared heap, whose collections are major ones of
%% all processes then, by several threads or by one (+hgct 1). Run with the same size in one process and in several: a list is copied
%% cell by cell, so one long list cannot be divided, but what several processes have can.
%%
%%     majors:main([Processes, MegaBytes, Rounds])  prints
%%     @collection MICROSECONDS          of each round
%%     @time MICROSECONDS                of all
%%     @ok
-module(majors).
-export([main/1]).

main(Arguments) ->
    [Processes, MegaBytes, Rounds] = [list_to_integer(A) || A <- Arguments],
    Start = erlang:monotonic_time(microsecond),
    Me = self(),
    %% Two words a cell and ten a tuple with its header.
    Length = MegaBytes * 1024 * 1024 div 96 div Processes,
    Holders = [spawn_link(fun() -> hold(Me, Length) end) || _ <- lists:seq(1, Processes)],
    [receive {Holder, ready} -> ok end || Holder <- Holders],
    %% The first ones move what was made just now.
    [garbage_collect() || _ <- [1, 2]],
    [io:format("@collection ~w~n", [collection()]) || _ <- lists:seq(1, Rounds)],
    [begin Holder ! {still, Me}, receive {Holder, Length} -> ok end end || Holder <- Holders],
    io:format("@time ~w~n@ok~n", [erlang:monotonic_time(microsecond) - Start]).

collection() ->
    {Micros, true} = timer:tc(fun() -> garbage_collect() end),
    Micros.

hold(Main, Length) ->
    Live = [{N, N, N, N, N, N, N, N, N} || N <- lists:seq(1, Length)],
    Main ! {self(), ready},
    receive {still, Main} -> Main ! {self(), length(Live)} end.
