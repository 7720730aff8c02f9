%% Microstate accounting: the flag, the shape of the figures, and that time goes where it was spent.
-module(microstates).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[erlang:system_flag(microstate_accounting, V) || V <- [true, true, reset, false, false, reset]]]),
    io:format("~p~n", [catch erlang:system_flag(microstate_accounting, maybe_not)]),
    All = erlang:statistics(microstate_accounting),
    io:format("~p~n", [lists:usort([lists:sort(maps:keys(M)) || M <- All])]),
    io:format("~p~n", [lists:usort([lists:sort(maps:keys(C)) || #{counters := C} <- All])]),
    Schedulers = [Id || #{type := scheduler, id := Id} <- All],
    io:format("~p~n", [lists:sort(Schedulers) =:= lists:seq(1, erlang:system_info(schedulers))]),
    io:format("~p~n", [[length([x || #{type := T} <- All, T =:= Type]) =:= erlang:system_info(Count)
                        || {Type, Count} <- [{dirty_cpu_scheduler, dirty_cpu_schedulers}, {dirty_io_scheduler, dirty_io_schedulers}]]]),
    io:format("~p~n", [lists:usort([V || #{counters := C} <- All, V <- maps:values(C)])]),

    erlang:system_flag(microstate_accounting, true),
    %% (With a slice of one reduction much of it is switching.)
    busy(erlang:monotonic_time(millisecond) + 400),
    timer:sleep(100),
    [erlang:garbage_collect() || _ <- lists:seq(1, 200)],
    true = erlang:system_flag(microstate_accounting, false),
    %% A thread that the system took off the core in the middle of a change of state adds what it had.
    timer:sleep(100),
    Spent = sums(),
    %% (Where every allocation collects, most of the work is collecting.)
    io:format("~p~n", [[ms(lists:sum([maps:get(State, Spent) || State <- States])) >= Least || {States, Least} <- [{[emulator, gc], 100}, {[sleep], 90}]]]),
    io:format("~p~n", [maps:get(gc, Spent) > 0]),
    timer:sleep(20),
    io:format("~p~n", [Spent =:= sums()]),
    erlang:system_flag(microstate_accounting, reset),
    io:format("~p~n", [lists:usort(maps:values(sums()))]).

busy(End) -> erlang:monotonic_time(millisecond) >= End orelse busy(End).

sums() ->
    lists:foldl(fun(#{type := scheduler, counters := C}, Sum) -> maps:merge_with(fun(_, A, B) -> A + B end, C, Sum); (_, Sum) -> Sum end,
                #{}, erlang:statistics(microstate_accounting)).

ms(N) -> erlang:convert_time_unit(N, perf_counter, millisecond).
