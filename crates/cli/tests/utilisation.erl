%% How evenly schedulers work while there is too little to do for all: prints what part of the time each worked, in thousandths.
-module(utilisation).
-export([main/1]).

%% Four processes work 8 ms each of 60, one after the other, beginning where they are started.
main(_) ->
    process_flag(priority, high),
    From = erlang:monotonic_time(millisecond) + 20,
    [spawn_opt(fun() -> periodic(From + 15 * N) end, [link, {queue, 1}]) || N <- [0, 1, 2, 3]],
    receive after 1500 -> ok end,
    erlang:system_flag(scheduler_wall_time, true),
    Before = erlang:statistics(scheduler_wall_time),
    receive after 2000 -> ok end,
    After = erlang:statistics(scheduler_wall_time),
    Parts = [1000 * (W1 - W0) div (T1 - T0)
             || {{Id, W0, T0}, {Id, W1, T1}} <- lists:zip(lists:sort(Before), lists:sort(After)), Id =< erlang:system_info(schedulers)],
    io:format("~w~n", [Parts]),
    erlang:halt(0).

periodic(At) ->
    erlang:send_after(At, self(), now, [{abs, true}]),
    receive now -> ok end,
    work_until(erlang:monotonic_time(millisecond) + 8),
    periodic(At + 60).

work_until(End) -> erlang:monotonic_time(millisecond) >= End orelse work_until(End).
