%% A process of low priority gets about an eighth of the turns of a normal one, however many there are of both.
-module(sched_low_share).
-export([main/1]).

main(_) ->
    Online = erlang:system_flag(schedulers_online, 1),
    process_flag(priority, max),
    [io:format("~p~n", [{Low, Normal, share(Low, Normal)}]) || {Low, Normal} <- [{4, 100}, {100, 4}, {50, 50}]],
    erlang:system_flag(schedulers_online, Online).

share(Low, Normal) ->
    Ls = [spawn_opt(fun() -> turns(0) end, [{priority, low}, link]) || _ <- lists:seq(1, Low)],
    Ns = [spawn_opt(fun() -> turns(0) end, [{priority, normal}, link]) || _ <- lists:seq(1, Normal)],
    timer:sleep(1000),
    Ratio = average(Ls) / average(Ns),
    [begin unlink(P), exit(P, kill) end || P <- Ls ++ Ns],
    if Ratio > 0.04, Ratio < 0.4 -> about_an_eighth; true -> Ratio end.

average(Pids) ->
    [P ! {count, self()} || P <- Pids],
    lists:sum([receive {P, N} -> N end || P <- Pids]) / length(Pids).

turns(N) ->
    receive {count, To} -> To ! {self(), N}, process_flag(priority, max), receive never -> ok end
    after 0 -> ok
    end,
    erlang:yield(),
    turns(N + 1).
