%% What statistics tells of run queues and schedulers' time, and that work leaves a scheduler that goes offline.
-module(sched_figures).
-export([main/1]).

main(_) ->
    Schedulers = erlang:system_info(schedulers),
    io:format("~p~n", [statistics(scheduler_wall_time)]),
    false = erlang:system_flag(scheduler_wall_time, true),
    true = erlang:system_flag(scheduler_wall_time, true),
    Busy = [spawn_link(fun loop/0) || _ <- lists:seq(1, 3 * Schedulers)],
    Before = lists:sort(statistics(scheduler_wall_time)),
    All = statistics(scheduler_wall_time_all),
    timer:sleep(300),
    After = lists:sort(statistics(scheduler_wall_time)),
    Load = [100 * (B - A) div (D - C) || {{I, A, C}, {I, B, D}} <- lists:zip(Before, After), I =< Schedulers],
    io:format("~p ~p~n", [length(Before) - Schedulers - erlang:system_info(dirty_cpu_schedulers),
                          length(All) - length(Before) - erlang:system_info(dirty_io_schedulers)]),
    io:format("~p~n", [lists:max(Load) >= 50]),
    true = erlang:system_flag(scheduler_wall_time, false),
    true = erlang:system_flag(scheduler_wall_time, false),
    io:format("~p~n", [statistics(scheduler_wall_time_all)]),
    io:format("~p ~p~n", [length(statistics(run_queue_lengths)) - Schedulers, length(statistics(run_queue_lengths_all)) - Schedulers]),
    %% (One look reads the schedulers one after the other.)
    io:format("~p~n", [lists:any(fun(_) -> lists:sum(statistics(active_tasks)) > length(Busy) end, lists:seq(1, 5000))]),
    Online = erlang:system_flag(schedulers_online, 1),
    timer:sleep(500),
    [First | Others] = statistics(active_tasks),
    io:format("~p ~p~n", [First > length(Busy), lists:sum(lists:sublist(Others, Schedulers - 1))]),
    erlang:system_flag(schedulers_online, Online),
    [begin unlink(P), exit(P, kill) end || P <- Busy],
    io:format("done~n").

loop() -> loop().
