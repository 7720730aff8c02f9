%% Runs a program of bench/heaps once and says what it cost:  heap_bench:main([Mode, Module, Scale, Argument...])
%%
%% A program has run(Argument...), or prepare(plain, Scale), run(Work) and check(Work, Result) as those of bench/scaling.
%% Mode `time` only takes figures before and after; `watch` also looks at the heaps every few milliseconds, and traces collections
%% where nothing counts them, so its time is not used.
%%
%% Lines that are printed (bench/heaps.d/heap_run.py reads them):
%%     @heap_type TYPE                    system_info(heap_type)
%%     @time MICROSECONDS                 wall clock of the run
%%     @hash HASH                         of the result
%%     @figure NAME VALUE                 what the run took of it; words and ns
%%     @pause KIND FROM_NS COUNT          a class of the histogram of pauses, minor or major
%%     @ok                                or `@wrong RESULT`, or `@failed REASON`
-module(heap_bench).
-export([main/1]).

-define(SAMPLE_MS, 5).

main([Mode, Module0, Scale0 | Arguments0]) ->
    Module = list_to_atom(Module0),
    {module, Module} = code:ensure_loaded(Module),
    Arguments = [list_to_integer(A) || A <- Arguments0],
    say("heap_type", [erlang:system_info(heap_type)]),
    Prepared = erlang:function_exported(Module, prepare, 2),
    Work = if Prepared -> [Module:prepare(plain, list_to_float(Scale0))]; true -> Arguments end,
    Own = own(),
    Watchers = [Start(self()) || Mode =:= "watch", Start <- [fun sampler/1 | [fun tracer/1 || not Own]]],
    {Pid, Monitor} = spawn_monitor(fun() -> exit({ran, measure(Module, Work, Own)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {ran, {Micros, Result, Before, After}}} ->
            [begin W ! {report, self()}, receive {W, reported} -> ok end end || W <- Watchers],
            say("time", [Micros]),
            say("hash", [erlang:phash2(Result)]),
            differences(Before, After),
            verdict(Prepared, Module, Work, Result);
        {'DOWN', Monitor, process, Pid, Reason} ->
            io:format("@failed ~0P~n", [Reason, 20])
    end.

verdict(true, Module, [Work], Result) ->
    case Module:check(Work, Result) of
        true -> io:format("@ok~n");
        false -> io:format("@wrong ~0P~n", [Result, 30])
    end;
verdict(false, _, _, _) -> io:format("@ok~n").

say(What, Values) -> io:format("@~s~s~n", [What, [io_lib:format(" ~w", [V]) || V <- Values]]).

own() ->
    case code:ensure_loaded(heddle_stats) of
        {module, M} -> erlang:function_exported(M, pauses, 0);
        _ -> false
    end.

measure(Module, Work, Own) ->
    garbage_collect(),
    Before = read(Own),
    Start = erlang:monotonic_time(),
    Result = apply(Module, run, Work),
    End = erlang:monotonic_time(),
    {erlang:convert_time_unit(End - Start, native, microsecond), Result, Before, read(Own)}.

%% What only grows.
read(Own) ->
    {Collections, Reclaimed, _} = erlang:statistics(garbage_collection),
    {Cpu, _} = erlang:statistics(runtime),
    Standard = #{collections => Collections, words_reclaimed => Reclaimed, cpu_ms => Cpu},
    case Own of
        false -> {Standard, none};
        true ->
            Gc = maps:with([minor, major, minor_ns, major_ns, minor_words, major_words], heddle_stats:gc()),
            Messages = maps:with([messages, words, copying_ns, by_reference, partly_by_reference, words_by_reference],
                                 heddle_stats:messages()),
            {maps:merge(Standard, maps:merge(Gc, Messages)), heddle_stats:pauses()}
    end.

differences({Before, Pauses0}, {After, Pauses1}) ->
    %% What copying takes is told from some messages: with hardly any the difference of two estimates may be below zero.
    [say("figure", [Name, max(0, maps:get(Name, After) - V)]) || {Name, V} <- lists:sort(maps:to_list(Before))],
    [pauses(Kind, maps:get(Kind, Pauses0), maps:get(Kind, Pauses1)) || is_map(Pauses0), Kind <- [minor, major]],
    {ok, Status} = file:read_file("/proc/self/status"),
    [say("figure", [peak_rss_kb, binary_to_integer(Kb)])
     || {match, [Kb]} <- [re:run(Status, "VmHWM:\\s+(\\d+)", [{capture, all_but_first, binary}])]].

%% If the longest since the start is of this run, it is told to the ns.
pauses(Kind, #{histogram := H0, max_ns := Max0}, #{histogram := H1, max_ns := Max1}) ->
    Old = maps:from_list(H0),
    [say("pause", [Kind, From, C - maps:get(From, Old, 0)]) || {From, C} <- H1, C > maps:get(From, Old, 0)],
    [say("figure", [list_to_atom("longest_" ++ atom_to_list(Kind) ++ "_ns"), Max1]) || Max1 > Max0].

%% ---- what heaps hold, at its most ----

sampler(_) ->
    spawn_opt(fun() -> sample(own(), #{}) end, [link, {priority, high}]).

sample(Own, Most) ->
    receive
        {report, From} ->
            [say("figure", [Name, V]) || {Name, V} <- lists:sort(maps:to_list(Most))],
            From ! {self(), reported}
    after ?SAMPLE_MS ->
        sample(Own, maps:merge_with(fun(_, A, B) -> max(A, B) end, Most, now_held(Own)))
    end.

%% Used: with what is on its way or in a queue: in the message area, or in memory of its own. Allocated: all blocks and messages
%% as the allocator counts them, in one moment and the same for each architecture.
now_held(true) ->
    #{used_words := Used, block_words := Blocks, queued_words := Queued, message_words := Area, processes := N}
        = heddle_stats:heaps(),
    Messages = if Area > 0 -> Area; true -> Queued end,
    #{used_words => Used + Messages, allocated_words => Blocks, processes => N};
now_held(false) ->
    Held = [Info || P <- processes(), Info <- [process_info(P, [total_heap_size, garbage_collection_info])], is_list(Info)],
    lists:foldl(fun([{_, Total}, {_, Gc}], #{used_words := U, allocated_words := A, processes := N}) ->
        Free = value(heap_block_size, Gc) - value(heap_size, Gc) - value(stack_size, Gc)
            + value(old_heap_block_size, Gc) - value(old_heap_size, Gc),
        #{used_words => U + Total - Free, allocated_words => A + Total, processes => N + 1}
    end, #{used_words => 0, allocated_words => 0, processes => 0}, Held).

value(Key, List) -> element(2, lists:keyfind(Key, 1, List)).

%% ---- collections, where nothing counts them ----

tracer(Main) ->
    Tracer = spawn_opt(fun() ->
        erlang:trace(all, true, [garbage_collection, monotonic_timestamp]),
        Main ! {self(), traces},
        traced(#{}, #{})
    end, [link, {priority, high}]),
    receive {Tracer, traces} -> Tracer end.

traced(Began, Sums) ->
    receive
        {trace_ts, Pid, What, _, At} when What =:= gc_minor_start; What =:= gc_major_start -> traced(Began#{Pid => At}, Sums);
        {trace_ts, Pid, What, _, At} when What =:= gc_minor_end; What =:= gc_major_end ->
            Kind = if What =:= gc_minor_end -> minor; true -> major end,
            traced(maps:remove(Pid, Began), case Began of
                #{Pid := Start} -> add(Kind, erlang:convert_time_unit(At - Start, native, nanosecond), Sums);
                #{} -> Sums
            end);
        {report, From} ->
            erlang:trace(all, false, [garbage_collection]),
            [begin
                 say("figure", [Kind, N]),
                 say("figure", [list_to_atom(atom_to_list(Kind) ++ "_ns"), Ns]),
                 say("figure", [list_to_atom("longest_" ++ atom_to_list(Kind) ++ "_ns"), Longest]),
                 [say("pause", [Kind, 1 bsl Bits, C]) || {Bits, C} <- lists:sort(maps:to_list(Classes))]
             end || {Kind, {N, Ns, Longest, Classes}} <- maps:to_list(maps:merge(#{minor => none(), major => none()}, Sums))],
            From ! {self(), reported}
    end.

none() -> {0, 0, 0, #{}}.

add(Kind, Ns, Sums) ->
    {N, Sum, Longest, Classes} = maps:get(Kind, Sums, none()),
    Bits = length(integer_to_list(max(Ns, 1), 2)) - 1,
    Sums#{Kind => {N + 1, Sum + Ns, max(Longest, Ns), maps:update_with(Bits, fun(C) -> C + 1 end, 1, Classes)}}.
