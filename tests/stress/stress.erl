%% Everything at once, for a while: spawn, link, exit, send, timers, tables, code, suspension, tracing, moves between schedulers, private
%% threads and changes of the schedulers online. No message is lost, no process gets stuck, nothing is left.
%%
%%     tests/stress/run SECONDS
%%
%% Slots (processes) do rounds, each of a kind and with a seed that follows from the seed of the run, its slot and its number (modules
%% stress_*). A round knows what must come of it and fails if that does not. Meanwhile others disturb all processes of the rounds.
%% The time is in phases. After each all stops, and the machine must be as it was: processes, names, tables, ports, threads,
%% timers, atoms, run queues, and memory, as after the first phases (stress_left). A slot without progress is stuck: the
%% report says what it and all it started do.
-module(stress).
-export([main/1, count/2]).

-define(COUNTED, [rounds, messages, processes, timers, table_operations, code_loads, disturbances]).

%% Seconds, Seed, Slots, Size (percent of the usual numbers), Patience (seconds until a slot without progress is stuck), kinds of rounds ("all").
main([SecondsText, SeedText, SlotsText, SizeText, PatienceText, Only]) ->
    [Seconds, Seed, Slots, Size, Patience] = [list_to_integer(T) || T <- [SecondsText, SeedText, SlotsText, SizeText, PatienceText]],
    erts_debug:set_internal_state(available_internal_state, true),
    process_flag(priority, high),
    persistent_term:put(?MODULE, counters:new(length(?COUNTED), [])),
    stress_code:prepare(Slots),
    [{module, M} = code:ensure_loaded(M) || M <- [stress_round, stress_messages, stress_exits, stress_timers, stress_tables, stress_disturb, stress_left, t, re, zlib]],
    Rounds = [R || M <- [stress_messages, stress_exits, stress_timers, stress_tables, stress_code], {Name, _} = R <- M:rounds(),
                   Only =:= "all" orelse lists:member(atom_to_list(Name), string:lexemes(Only, ","))],
    Rounds =/= [] orelse halt("there is no such kind of round"),
    io:format("seed ~w, ~w kinds of rounds in ~w slots, ~w schedulers, ~w s~n", [Seed, length(Rounds), Slots, erlang:system_info(schedulers), Seconds]),
    %% The machine makes some things when they are first needed: threads for ports and for what a process with a large table leaves, a
    %% place for timers on each scheduler.
    _ = os:cmd("true"),
    Ready = [spawn_opt(fun() -> _ = erlang:cancel_timer(erlang:start_timer(60000, self(), x)) end, [monitor, {scheduler, I}]) || I <- lists:seq(1, erlang:system_info(schedulers))],
    [receive {'DOWN', M, process, _, normal} -> ok end || {_, M} <- Ready],
    {_, Owner} = spawn_monitor(fun() -> ets:insert(ets:new(large, []), [{N} || N <- lists:seq(1, 5000)]) end),
    receive {'DOWN', Owner, process, _, normal} -> ok end,
    receive after 500 -> ok end,
    Begin = stress_left:have(),
    Stop = atomics:new(1, []),
    Controller = self(),
    Ps = [spawn_link(fun() -> slot(#{index => I, seed => Seed, size => Size, rounds => Rounds, stop => Stop, controller => Controller}, 1) end) || I <- lists:seq(1, Slots)],
    Base = stress_left:with(Ps, Begin),
    Phases = max(3, min(10, Seconds div 5)),
    Failures = phases(1, Phases, #{slots => Ps, stop => Stop, base => Base, seed => Seed, ms => Seconds * 1000 div Phases, patience => Patience, warm => max(1, Phases * 3 div 10)}, 0),
    Kinds = length(Rounds),
    io:format("~w passed, ~w failed~n", [Kinds + length(stress_left:checks()) * Phases - Failures, Failures]),
    halt(min(Failures, 1)).

%% Adds to a figure.
count(What, N) -> counters:add(persistent_term:get(?MODULE), figure(What, ?COUNTED, 1), N).

figure(What, [What | _], I) -> I;
figure(What, [_ | Others], I) -> figure(What, Others, I + 1).

%% ---- slots ----

slot(#{stop := Stop, controller := Controller} = Slot, N) ->
    case atomics:get(Stop, 1) of
        0 -> round(Slot, N);
        1 ->
            put(doing, nothing),
            Controller ! {stopped, self()},
            receive go -> slot(Slot, N) end
    end.

round(#{index := Index, seed := Seed, rounds := Rounds, size := Size, controller := Controller} = Slot, N) ->
    {Name, Fun} = lists:nth(1 + erlang:phash2({Seed, Index, N}, length(Rounds)), Rounds),
    {P, M} = spawn_monitor(fun() -> stress_round:run(Fun, {Seed, Index, N}, Index, Size) end),
    put(doing, {Name, N, P, erlang:monotonic_time(second)}),
    receive
        {'DOWN', M, process, P, normal} -> count(rounds, 1), slot(Slot, N + 1);
        {'DOWN', M, process, P, Why} -> Controller ! {failed, self(), Name, {Index, N}, Why}
    end.

%% ---- phases ----

phases(N, Phases, _, Failures) when N > Phases -> Failures;
phases(N, Phases, #{slots := Slots, stop := Stop, base := Base, seed := Seed, ms := Ms} = Run, Failures) ->
    Disturbers = stress_disturb:start(Seed + N, stress_left:spared(Base)),
    atomics:put(Stop, 1, 0),
    N =:= 1 orelse [P ! go || P <- Slots],
    watch(erlang:monotonic_time(millisecond) + Ms, Run),
    atomics:put(Stop, 1, 1),
    all_stopped(Slots, Run),
    stress_disturb:stop(Disturbers),
    AtOnce = stress_left:settle(),
    Wrong = stress_left:check(Base, maps:get(warm_memory, Run, none)),
    [io:format("FAILED after phase ~w: ~w: ~tp~n", [N, What, How]) || {What, How} <- Wrong],
    Memory = stress_left:memory(),
    io:format("phase ~w/~w:~s, ~w MB resident at once, then ~s~n", [N, Phases, figures(), AtOnce div 1000000, stress_left:text(Memory)]),
    Next = case N =:= maps:get(warm, Run) of true -> Run#{warm_memory => Memory}; false -> Run end,
    phases(N + 1, Phases, Next, Failures + length(Wrong)).

figures() -> [io_lib:format(" ~w ~w", [counters:get(persistent_term:get(?MODULE), I), What]) || {I, What} <- lists:enumerate(?COUNTED)].

%% Until the time is over, while no process fails or is stuck.
watch(End, Run) ->
    Left = End - erlang:monotonic_time(millisecond),
    receive {failed, _, Name, Round, Why} -> failed(Name, Round, Why, Run)
    after max(0, min(Left, 1000)) ->
        look(Run),
        Left =< 0 orelse watch(End, Run)
    end.

all_stopped([], _) -> ok;
all_stopped([P | Others] = Slots, Run) ->
    receive
        {stopped, P} -> all_stopped(Others, Run);
        {failed, _, Name, Round, Why} -> failed(Name, Round, Why, Run)
    after 1000 ->
        look(Run),
        all_stopped(Slots, Run)
    end.

failed(Name, {Slot, N}, Why, #{seed := Seed}) ->
    io:format("FAILED: ~w, seed ~w, slot ~w, round ~w:~n  ~tP~n~w passed, 1 failed~n", [Name, Seed, Slot, N, Why, 60, 0]),
    halt(1).

%% Is anybody stuck?
look(#{slots := Slots, patience := Patience} = Run) ->
    Now = erlang:monotonic_time(second),
    Stuck = [{P, Doing} || P <- Slots, {dictionary, D} <- [process_info(P, dictionary)], {doing, {_, _, _, Since} = Doing} <- D, Now - Since > Patience],
    Stuck =:= [] orelse stuck(Stuck, Run).

stuck(Stuck, #{seed := Seed, base := Base}) ->
    [io:format("STUCK: ~w, seed ~w, round ~w, process ~w of slot ~w, for ~w s~n", [Name, Seed, N, P, Slot, erlang:monotonic_time(second) - Since])
     || {Slot, {Name, N, P, Since}} <- Stuck],
    io:format("~ts~n0 passed, ~w failed~n", [stress_left:report([P || {_, {_, _, P, _}} <- Stuck], Base), length(Stuck)]),
    halt(1).
