%% Runs a program of bench/scaling once and says what it cost:  scaling:main([Program, Variant, Scale, SampleMs])
%%
%% A program is a module with
%%     prepare(Variant, Scale) -> Work     not timed: sizes, tables
%%     run(Work) -> Result                 timed: the main process only starts other processes and collects their results
%%     check(Work, Result) -> boolean()    not timed: is the result right, found out in another way than the run
%%
%% What is printed, a line each (bench/scaling.d/emulator.py reads it):
%%     @schedulers ONLINE
%%     @time MICROSECONDS
%%     @hash HASH                          of the result: the same on every emulator and with any number of schedulers
%%     @reductions ALL MAIN                of all processes, and of the main process alone
%%     @counter NAME VALUE...              one value for the machine, or one per scheduler
%%     @missing NAME                       a counter that this emulator does not have
%%     @sample MILLISECONDS ACTIVE         with SampleMs > 0: how many schedulers worked, since the sample before
%%     @busy SHARE...                      with SampleMs > 0: which part of the run each scheduler worked
%%     @ok                                 or `@wrong RESULT`, or `@failed REASON` if the program ended otherwise
-module(scaling).
-export([main/1, times/2, collect/1, start/1, options/0, lcg/1]).

main([Program0, Variant0, Scale0, Sample0]) ->
    Program = list_to_atom(Program0),
    Scale = scale(Scale0),
    Work = Program:prepare(list_to_atom(Variant0), Scale),
    say("schedulers", [erlang:system_info(schedulers_online)]),
    Sampler = scaling_profile:start(list_to_integer(Sample0)),
    {Pid, Monitor} = spawn_monitor(fun() -> exit({ran, measure(Program, Work)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {ran, {Micros, Result, All, Main, Counters}}} ->
            say("time", [Micros]),
            say("hash", [erlang:phash2(Result)]),
            say("reductions", [All, Main]),
            [counter(C) || C <- Counters],
            scaling_profile:report(Sampler),
            verdict(Program, Work, Result);
        {'DOWN', Monitor, process, Pid, Reason} ->
            io:format("@failed ~0P~n", [Reason, 20])
    end.

measure(Program, Work) ->
    garbage_collect(),
    Before = scaling_counters:read(),
    AllBefore = reductions(),
    {_, MainBefore} = process_info(self(), reductions),
    Start = erlang:monotonic_time(),
    Result = Program:run(Work),
    End = erlang:monotonic_time(),
    {_, MainAfter} = process_info(self(), reductions),
    AllAfter = reductions(),
    Micros = erlang:convert_time_unit(End - Start, native, microsecond),
    {Micros, Result, AllAfter - AllBefore, MainAfter - MainBefore, scaling_counters:difference(Before, scaling_counters:read())}.

%% Those of slices that have not ended are included, where the emulator counts them so.
reductions() -> element(1, erlang:statistics(exact_reductions)).

verdict(Program, Work, Result) ->
    case Program:check(Work, Result) of
        true -> io:format("@ok~n");
        false -> io:format("@wrong ~0P~n", [Result, 30])
    end.

counter({Name, missing}) -> say("missing", [Name]);
counter({Name, Values}) when is_list(Values) -> say("counter", [Name | Values]);
counter({Name, Value}) -> say("counter", [Name, Value]).

say(What, Values) -> io:format("@~s~s~n", [What, [io_lib:format(" ~w", [V]) || V <- Values]]).

scale(Text) ->
    case string:to_float(Text) of
        {Float, []} -> Float;
        _ -> float(list_to_integer(Text))
    end.

%% A size at this scale.
times(Size, Scale) -> max(1, round(Size * Scale)).

%% The answer `{Pid, Answer}` of each, in order.
collect(Pids) -> [receive {Pid, Answer} -> Answer end || Pid <- Pids].

%% A linked process that runs on a thread of its own if the emulator was started with `-private_threads`.
start(Fun) -> spawn_opt(Fun, [link | options()]).

options() ->
    case init:get_argument(private_threads) of
        {ok, _} -> [{thread, private}];
        error -> []
    end.

%% Pseudo-random numbers that no library changes: the next of 31 bits.
lcg(X) -> (X * 1103515245 + 12345) band 16#7fffffff.
