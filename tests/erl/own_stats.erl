%% heddle_stats, a module that only Heddle has and no file holds: its shapes, and that figures grow by what a program does. On an
%% emulator without it every check is passed over, so that the expected output can be recorded there.
-module(own_stats).
-export([main/1]).

main(_) ->
    [check(Name, F) || {Name, F} <- [{module, fun module/0}, {schedulers, fun schedulers/0}, {messages, fun messages/0},
                                     {ways, fun ways/0}, {collections, fun collections/0}, {locks, fun locks/0},
                                     {record, fun record/0}, {errors, fun errors/0}]].

check(Name, F) ->
    Result = case code:ensure_loaded(heddle_stats) of
        {module, heddle_stats} -> try F() catch C:R:S -> {C, R, S} end;
        {error, nofile} -> true
    end,
    io:format("~p ~p~n", [Name, Result]).

module() ->
    M = heddle_stats,
    Exports = M:module_info(exports),
    [] = [F || F <- [{schedulers, 0}, {gc, 0}, {gc, 1}, {messages, 0}, {messages, 1}, {locks, 0}, {record, 1}, {events, 0}],
               not lists:member(F, Exports)],
    M = M:module_info(module),
    true = erlang:function_exported(M, schedulers, 0),
    false = erlang:function_exported(M, nosuch, 0),
    {'EXIT', {undef, _}} = (catch M:nosuch()),
    Fun = fun M:gc/0,
    true = lists:member(M, erlang:loaded()),
    false = lists:member(M, erlang:pre_loaded()),
    is_map(Fun()) andalso is_map(apply(M, messages, [])).

schedulers() ->
    Maps = heddle_stats:schedulers(),
    N = length(Maps),
    N = erlang:system_info(schedulers),
    Keys = lists:sort([id, run_queue, context_switches, reductions, steals, migrations, wake_ups, parks, searches, claims, lock_waits,
                       lock_wait_ns]),
    [Keys] = lists:usort([lists:sort(maps:keys(M)) || M <- Maps]),
    true = lists:seq(1, N) =:= [Id || #{id := Id} <- Maps],
    true = lists:all(fun(V) -> is_integer(V) andalso V >= 0 end, lists:append([maps:values(M) || M <- Maps])),
    %% All have been awake, and this one has run us.
    #{context_switches := S1, reductions := R1} = sum(Maps),
    erlang:yield(),
    #{context_switches := S2, reductions := R2} = sum(heddle_stats:schedulers()),
    S2 > S1 andalso R2 > R1.

sum(Maps) -> lists:foldl(fun(M, Sum) -> maps:merge_with(fun(_, A, B) -> A + B end, M, Sum) end, #{}, Maps).

%% A tuple of three (4 words) with a list of three (6): 10 words, in the class from 8.
messages() ->
    Echo = spawn_link(fun Loop() -> receive {From, N, L} -> From ! {self(), N, L}, Loop(); stop -> ok end end),
    #{messages := M1, words := W1, sizes := Sizes1} = heddle_stats:messages(),
    [begin Echo ! {self(), N, [N, N, N]}, receive {Echo, N, _} -> ok end end || N <- lists:seq(1, 500)],
    Echo ! stop,
    #{messages := M2, words := W2, sizes := Sizes2} = heddle_stats:messages(),
    true = lists:all(fun(Size) -> Size =:= 0 orelse Size band (Size - 1) =:= 0 end, maps:keys(Sizes2)),
    true = maps:get(0, Sizes2) > maps:get(0, Sizes1, 0),
    {Copied, Large} = {W2 - W1, maps:get(8, Sizes2, 0) - maps:get(8, Sizes1, 0)},
    M2 - M1 > 1000 andalso
        case erlang:system_info(heap_type) of
            %% Nothing is copied, and the size of a message is not looked at.
            shared -> Copied < 1000 andalso Large < 100 andalso maps:get(0, Sizes2) - maps:get(0, Sizes1, 0) >= 1000;
            _ -> Copied >= 10000 andalso Large >= 1000
        end.

%% To itself, and to a process that last ran on the same scheduler.
ways() ->
    #{to_self := Self1} = heddle_stats:messages(),
    [begin self() ! N, receive N -> ok end end || N <- lists:seq(1, 100)],
    #{to_self := Self2} = heddle_stats:messages(),
    Bound = fun(F) -> spawn_opt(F, [link, {scheduler, 1}]) end,
    Me = self(),
    Other = Bound(fun Loop() -> receive {P, N} -> P ! N, Loop(); stop -> ok end end),
    #{to_same_scheduler := Same1} = heddle_stats:messages(1),
    Bound(fun() -> [begin Other ! {self(), N}, receive N -> ok end end || N <- lists:seq(1, 100)], Me ! done end),
    receive done -> ok end,
    Other ! stop,
    #{to_same_scheduler := Same2} = heddle_stats:messages(1),
    #{messages := M, to_self := S, to_same_scheduler := Same, to_other_scheduler := O} = heddle_stats:messages(),
    M = S + Same + O,
    Self2 - Self1 >= 100 andalso Same2 - Same1 >= 199.

collections() ->
    #{minor := Minor1, major := Major1, words_copied := Copied1, words_reclaimed := Reclaimed1, time_ns := Ns1} = heddle_stats:gc(),
    {N1, Words1, 0} = erlang:statistics(garbage_collection),
    Kept = lists:seq(1, 1000),
    [begin _ = lists:seq(1, 1000), erlang:garbage_collect() end || _ <- lists:seq(1, 20)],
    [erlang:garbage_collect(self(), [{type, minor}]) || _ <- lists:seq(1, 20)],
    {N2, Words2, 0} = erlang:statistics(garbage_collection),
    #{minor := Minor2, major := Major2, words_copied := Copied2, words_reclaimed := Reclaimed2, time_ns := Ns2} = heddle_stats:gc(),
    1000 = length(Kept),
    true = Minor1 + Major1 =< N1 andalso N2 =< Minor2 + Major2,
    true = Reclaimed1 =< Words1 andalso Words2 =< Reclaimed2,
    true = Ns2 > Ns1 andalso Ns2 - Ns1 < 60_000_000_000,
    _ = erlang:system_flag(scheduler_wall_time, true),
    Threads = length(statistics_all()),
    #{} = heddle_stats:gc(Threads),
    Major2 - Major1 >= 20 andalso Minor2 > Minor1 andalso Copied2 - Copied1 >= 20 * 2000 andalso Reclaimed2 - Reclaimed1 >= 10 * 2000.

statistics_all() ->
    All = statistics(scheduler_wall_time_all),
    erlang:system_flag(scheduler_wall_time, false),
    All.

locks() ->
    Maps = heddle_stats:locks(),
    true = is_list(Maps),
    lists:all(fun(#{class := C, scheduler := S, waits := W, wait_ns := Ns}) ->
        is_atom(C) andalso S >= 0 andalso W > 0 andalso Ns >= 0 end, Maps).

%% Each scheduler finds work and runs out of it in turn; nothing is written while there is no record.
record() ->
    ok = heddle_stats:record(start),
    Began = erlang:monotonic_time(nanosecond),
    [begin spawn(fun() -> lists:seq(1, 1000) end), timer:sleep(2) end || _ <- lists:seq(1, 20)],
    ok = heddle_stats:record(stop),
    Events = heddle_stats:events(),
    Ended = erlang:monotonic_time(nanosecond),
    timer:sleep(10),
    Events = heddle_stats:events(),
    true = lists:keysort(1, Events) =:= Events,
    true = lists:all(fun({Ns, Id, Event}) -> Ns =< Ended andalso Id >= 0 andalso known(Event) end, Events),
    true = [] =/= [x || {Ns, _, busy} <- Events, Ns >= Began],
    true = [] =/= [x || {_, _, park} <- Events],
    Ids = lists:usort([Id || {_, Id, _} <- Events, Id > 0]),
    true = lists:all(fun(Id) -> alternate([E || {_, I, E} <- Events, I =:= Id, E =:= busy orelse E =:= idle]) end, Ids),
    ok = heddle_stats:record(start),
    New = heddle_stats:events(),
    heddle_stats:record(stop),
    [] =:= [E || {Ns, _, _} = E <- New, Ns < Ended].

known(E) when E =:= busy; E =:= idle; E =:= park; E =:= unpark -> true;
known({wake_up, Id}) -> Id > 0;
known({Moved, Id, Count}) when Moved =:= steal; Moved =:= migrate -> Id > 0 andalso Count > 0.

alternate([E, E | _]) -> false;
alternate([_ | Rest]) -> alternate(Rest);
alternate([]) -> true.

errors() ->
    [{'EXIT', {badarg, _}} = (catch heddle_stats:F(A)) ||
        {F, A} <- [{gc, 0}, {gc, 100000}, {gc, x}, {messages, -1}, {messages, 1 bsl 70}, {record, x}, {record, 1}]],
    true.
