%% How many schedulers work, over time: differences of scheduler_wall_time, read every few milliseconds.
%%
%% Both emulators have it. What it costs: every change of a scheduler between work and waiting reads the clock, a process of
%% priority `max` runs at each sample, and stock wakes all its schedulers to answer. Runs with a profile are therefore runs of
%% their own, and their time is not used.
-module(scaling_profile).
-export([start/1, report/1]).

start(0) -> none;
start(Interval) ->
    erlang:system_flag(scheduler_wall_time, true),
    Schedulers = erlang:system_info(schedulers),
    spawn_opt(fun() ->
        First = times(Schedulers),
        sample(Interval, erlang:monotonic_time(), First, First, [])
    end, [link, {priority, max}]).

sample(Interval, Start, First, Last, Samples) ->
    receive
        {report, From} ->
            {Samples1, Now} = take(Start, Last, Samples),
            From ! {self(), lists:reverse(Samples1), shares(First, Now)}
    after Interval ->
        {Samples1, Now} = take(Start, Last, Samples),
        sample(Interval, Start, First, Now, Samples1)
    end.

take(Start, Last, Samples) ->
    Now = times(length(Last)),
    At = erlang:convert_time_unit(erlang:monotonic_time() - Start, native, microsecond) / 1000,
    {[{At, lists:sum(shares(Last, Now))} | Samples], Now}.

%% Of the normal schedulers alone, in order.
times(Schedulers) -> [T || {Id, _, _} = T <- lists:sort(erlang:statistics(scheduler_wall_time)), Id =< Schedulers].

shares(Before, After) ->
    lists:zipwith(fun({Id, A0, T0}, {Id, A1, T1}) -> if T1 > T0 -> min(1.0, (A1 - A0) / (T1 - T0)); true -> 0.0 end end, Before, After).

report(none) -> ok;
report(Sampler) ->
    Sampler ! {report, self()},
    receive
        {Sampler, Samples, Shares} ->
            [io:format("@sample ~.1f ~.2f~n", [At, Active]) || {At, Active} <- Samples],
            io:format("@busy~s~n", [[io_lib:format(" ~.3f", [S]) || S <- Shares]])
    end.
