%% Those that wait for a dirty thread get one by priority: low ones an eighth of the turns of normal ones.
-module(sched_dirty_low).
-export([main/1]).

main(_) ->
    process_flag(priority, high),
    Procs = 4 * erlang:system_info(dirty_io_schedulers),
    Spawn = fun(Priority) -> [spawn_opt(fun() -> turns(0) end, [link, {priority, Priority}]) || _ <- lists:seq(1, Procs)] end,
    Normal = Spawn(normal),
    Low = Spawn(low),
    timer:sleep(3000),
    Ratio = count(Low) / count(Normal),
    io:format("~p~n", [if Ratio > 0.02, Ratio < 0.5 -> about_an_eighth; true -> Ratio end]),
    [begin unlink(P), exit(P, kill) end || P <- Normal ++ Low].

count(Pids) ->
    [P ! {count, self()} || P <- Pids],
    lists:sum([receive {P, N} -> N end || P <- Pids]).

turns(N) ->
    erts_debug:dirty_io(wait, 1),
    receive {count, To} -> To ! {self(), N} after 0 -> turns(N + 1) end.
