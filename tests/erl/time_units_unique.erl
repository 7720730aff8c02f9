%% Units of clocks that run, and options of unique integers.
-module(time_units_unique).
-export([main/1]).

main(_) ->
    Units = [second, millisecond, microsecond, nanosecond, native, perf_counter, seconds, milli_seconds, micro_seconds, nano_seconds,
             1, 3, 7, 1000, 1024, 999999999, 1000000000, 1000000001, 1 bsl 40, 1 bsl 59, 1 bsl 62, (1 bsl 63) - 1, 1 bsl 63, 1 bsl 64, 1 bsl 70, -(1 bsl 62), 0, -1, 1.0, fortnight, [], "second"],
    Clocks = [{monotonic_time, fun erlang:monotonic_time/0, fun erlang:monotonic_time/1},
              {system_time, fun erlang:system_time/0, fun erlang:system_time/1},
              {time_offset, fun erlang:time_offset/0, fun erlang:time_offset/1}],
    [io:format("~p ~p ~p~n", [Name, Unit, between(Now, In, Unit)]) || {Name, Now, In} <- Clocks, Unit <- Units],
    Options = [[], [positive], [monotonic], [positive, monotonic], [monotonic, positive, positive], [other], [positive, other], [positive | monotonic],
               [other | rest], positive, {positive}, [[positive]], ["positive"]],
    [io:format("~p ~p~n", [Os, kind(Os)]) || Os <- Options],
    Many = [erlang:unique_integer() || _ <- lists:seq(1, 1000)] ++ [erlang:unique_integer([positive]) || _ <- lists:seq(1, 1000)],
    io:format("~p ~p~n", [length(lists:usort(lists:sublist(Many, 1000))), length(lists:usort(lists:nthtail(1000, Many)))]),
    Rising = [erlang:unique_integer([monotonic]) || _ <- lists:seq(1, 1000)],
    io:format("~p~n", [Rising =:= lists:usort(Rising)]).

%% The time in a unit lies between what is computed from the clock before and after it, rounded down.
between(Now, In, Unit) ->
    Before = Now(),
    try In(Unit) of
        Time ->
            After = Now(),
            Native = erlang:convert_time_unit(1, second, native),
            Parts = if is_integer(Unit) -> Unit; true -> erlang:convert_time_unit(1, second, Unit) end,
            floor_div(Before * Parts, Native) =< Time andalso Time =< floor_div(After * Parts, Native)
    catch
        Class:Reason:Stack -> {Class, Reason, element(4, hd(Stack))}
    end.

floor_div(A, B) when A < 0 -> -((-A + B - 1) div B);
floor_div(A, B) -> A div B.

kind(Options) ->
    try erlang:unique_integer(Options) of
        N -> {is_integer(N), lists:member(positive, Options) andalso N > 0}
    catch
        Class:Reason:Stack -> {Class, Reason, element(4, hd(Stack))}
    end.
