%% A burst of processes reaches every online scheduler, as the machine's own record of events tells (heddle_stats). That it does is
%% checked here; how soon is measured by bench/burst. Passed over where there is no heddle_stats.
-module(own_burst).
-export([main/1]).

main(_) ->
    Reached = case code:ensure_loaded(heddle_stats) of
        {module, M} -> burst(M, 20);
        {error, nofile} -> true
    end,
    io:format("~p~n", [Reached]).

%% The schedulers that worked in a burst; another one, with more to do, while some did not.
burst(_, 0) -> false;
burst(M, Tries) ->
    timer:sleep(50),
    Left = atomics:new(1, []),
    Processes = 2000,
    atomics:put(Left, 1, Processes),
    Me = self(),
    ok = M:record(start),
    Home = erlang:system_info(scheduler_id),
    Work = fun() -> work(40000 div Tries), atomics:sub_get(Left, 1, 1) =:= 0 andalso (Me ! done) end,
    [spawn(Work) || _ <- lists:seq(1, Processes)],
    receive done -> ok end,
    ok = M:record(stop),
    Events = M:events(),
    Busy = lists:usort([Home | [Id || {_, Id, busy} <- Events]]),
    Online = lists:seq(1, erlang:system_info(schedulers_online)),
    %% A scheduler that works was woken by another, or was awake; none steals from itself.
    [] = [E || {_, Id, {steal, Id, _}} = E <- Events],
    Online -- Busy =:= [] orelse burst(M, Tries - 1).

work(0) -> ok;
work(N) -> work(N - 1).
