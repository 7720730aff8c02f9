%% Microstate accounting: every thread's states sum up to the time that was counted, work and collections are seen, and a reset
%% forgets all.
-module(msacc_sums).
-export([main/1]).

main(_) ->
    Before = erlang:monotonic_time(nanosecond),
    io:format("~p~n", [msacc:start()]),
    Begun = erlang:monotonic_time(nanosecond),
    work(),
    Ending = erlang:monotonic_time(nanosecond),
    io:format("~p~n", [msacc:stop()]),
    After = erlang:monotonic_time(nanosecond),
    Rows = erlang:statistics(microstate_accounting),
    Sums = [lists:sum(maps:values(C)) || #{counters := C} <- Rows],
    %% (Stock and the machine's clock may differ by a little.)
    Wrong = [{T, I, Sum} || {#{type := T, id := I}, Sum} <- lists:zip(Rows, Sums), known(T),
                            Sum < (Ending - Begun) * 95 div 100 orelse Sum > (After - Before) * 105 div 100],
    io:format("~p~n", [Wrong]),
    Of = fun(State) -> lists:sum([maps:get(State, C) || #{type := scheduler, counters := C} <- Rows]) end,
    io:format("~p~n", [[{S, Of(S) > 0} || S <- [emulator, gc, sleep]]]),
    io:format("~p~n", [lists:sort(maps:keys(maps:get(counters, hd(Rows))))]),
    Schedulers = erlang:system_info(schedulers),
    io:format("~p~n", [lists:sort([I || #{type := scheduler, id := I} <- Rows]) =:= lists:seq(1, Schedulers)]),
    io:format("~p~n", [msacc:reset()]),
    io:format("~p~n", [lists:sum([lists:sum(maps:values(C)) || #{counters := C} <- erlang:statistics(microstate_accounting)])]).

%% Other threads are there or not, by emulator.
known(T) -> lists:member(T, [scheduler, dirty_cpu_scheduler, dirty_io_scheduler]).

work() ->
    Workers = [spawn_monitor(fun() -> [lists:sort(lists:seq(1, 1000)) || _ <- lists:seq(1, 30)], garbage_collect() end)
               || _ <- lists:seq(1, 4)],
    [receive {'DOWN', M, _, _, normal} -> ok end || {_, M} <- Workers],
    timer:sleep(300).
