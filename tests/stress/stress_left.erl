%% What a machine has, and what is left of a phase of the stress.
-module(stress_left).
-export([have/0, with/2, spared/1, checks/0, check/2, memory/0, settle/0, text/1, report/2]).

%% How much memory may grow from warm to the end: of resident (what the system says), of all that is counted, and of kinds of that: {Part, Megabytes}.
-define(RESIDENT, {0.15, 30}).
-define(TOTAL, {0.03, 2}).
-define(COUNTED, {0.2, 10}).
%% Atoms: those of messages that are printed, of modules that are first needed late.
-define(ATOMS, 300).

have() ->
    #{processes => processes(), tables => ets:all(), ports => erlang:ports(), names => registered(), threads => t:threads(), terms => maps:get(count, persistent_term:info()),
      online => erlang:system_info(schedulers_online), timers => timers()}.

%% These processes belong to it.
with(Ps, #{processes := Others} = Base) -> Base#{processes := Ps ++ Others}.

%% Is this process to be left in peace?
spared(#{processes := Ps}) ->
    Set = sets:from_list(Ps, [{version, 2}]),
    fun(P) -> sets:is_element(P, Set) end.

checks() -> [processes, tables, ports, names, timers, threads, persistent_terms, run_queues, online, multi_scheduling, isolated, placed, memory].

%% [{Check, What is wrong}].
check(Base, Warm) ->
    %% Timers of processes that ended are taken out.
    ok = erts_debug:set_internal_state(wait, timer_cancellations),
    [erlang:garbage_collect(P) || P <- processes()],
    [{Check, How} || Check <- checks(), How <- [patiently(fun() -> wrong(Check, Base, Warm) end, 200)], How =/= ok].

%% What is on its way out gets the time.
patiently(Look, 0) -> Look();
patiently(Look, Times) ->
    case Look() of
        ok -> ok;
        _ -> receive after 50 -> patiently(Look, Times - 1) end
    end.

none([]) -> ok;
none(Left) -> {left, lists:sublist(Left, 20)}.

same(A, A) -> ok;
same(Is, Was) -> {is, Is, was, Was}.

wrong(processes, #{processes := Before}, _) -> none([{P, process_info(P, [initial_call, current_stacktrace, status, message_queue_len])} || P <- processes() -- Before]);
wrong(tables, #{tables := Before}, _) -> none([ets:info(T) || T <- ets:all() -- Before]);
wrong(ports, #{ports := Before}, _) -> none(erlang:ports() -- Before);
wrong(names, #{names := Before}, _) -> none(registered() -- Before);
wrong(timers, #{timers := Before}, _) -> case timers() of N when N =< Before -> ok; N -> {bytes, N, was, Before} end;
wrong(threads, #{threads := Before}, _) -> case t:threads() of N when N =< Before -> ok; N -> {is, N, was, Before} end;
wrong(persistent_terms, #{terms := Before}, _) -> same(maps:get(count, persistent_term:info()), Before);
wrong(run_queues, _, _) -> same(erlang:statistics(total_run_queue_lengths_all), 0);
wrong(online, #{online := Before}, _) -> same(erlang:system_info(schedulers_online), Before);
wrong(multi_scheduling, _, _) -> case erlang:system_info(multi_scheduling) of S when S =:= enabled; S =:= disabled -> ok; S -> {is, S} end;
wrong(isolated, _, _) -> case stress_round:is_heddle() of true -> none(heddle_sched:isolated()); false -> ok end;
wrong(placed, _, _) -> case stress_round:is_heddle() of true -> none([E || {_, #{place := {private, _}}} = E <- heddle_sched:list()]); false -> ok end;
wrong(memory, _, none) -> ok;
wrong(memory, _, Warm) -> none([{What, {is, Is}, {was, Was}} || {What, Is} := {What, Was} <- together(memory(), Warm), grown(What, Is, Was)]).

together(Now, Warm) -> #{{What, Is} => {What, map_get(What, Warm)} || What := Is <- Now}.

grown(atoms, Is, Was) -> Is > Was + ?ATOMS;
grown(resident, Is, Was) -> more(Is, Was, ?RESIDENT);
grown(total, Is, Was) -> more(Is, Was, ?TOTAL);
grown(_, Is, Was) -> more(Is, Was, ?COUNTED).

more(Is, Was, {Part, Megabytes}) -> Is > Was * (1 + Part) + Megabytes * 1000000.

%% Those under way, in bytes. (Stock counts them where no program can look.)
timers() ->
    case stress_round:is_heddle() of
        true -> [Bytes] = [Used || {instance, _, Figures} <- erlang:system_info({allocator_sizes, fix_alloc}), {fix_types, Types} <- Figures, {bif_timer, _, Used} <- Types], Bytes;
        false -> 0
    end.

%% After a phase: memory that is not used goes back when threads have slept for a while. Returns what was resident at once.
settle() ->
    AtOnce = t:resident(),
    receive after 2500 -> settle(t:resident(), 6) end,
    AtOnce.

settle(_, 0) -> ok;
settle(Before, Times) ->
    receive after 500 -> ok end,
    case t:resident() of
        Now when Now < Before - 1000000 -> settle(Now, Times - 1);
        _ -> ok
    end.

%% In bytes; atoms as many as there are.
memory() ->
    Counted = maps:from_list(erlang:memory([total, processes, binary, ets, code])),
    Counted#{resident => t:resident(), atoms => erlang:system_info(atom_count)}.

text(#{resident := Resident, total := Total, processes := Processes, ets := Ets, binary := Binary, atoms := Atoms}) ->
    io_lib:format("~w MB resident, ~w kB (processes ~w, ets ~w, binary ~w), ~w atoms", [Resident div 1000000 | [X div 1000 || X <- [Total, Processes, Ets, Binary]]] ++ [Atoms]).

%% ---- processes that are stuck ----

%% What these processes, and those that came of them, do; and the machine.
report(Stuck, #{processes := Base}) ->
    Ps = Stuck ++ lists:usort(descendants(Stuck, processes() -- Base)) -- Stuck,
    [[io_lib:format("~n~p ~p~n", [P, about(P)]) || P <- lists:sublist(Ps, 60)],
     io_lib:format("~nrun queues ~w~nschedulers online ~w, multi-scheduling ~w~n",
                   [erlang:statistics(run_queue_lengths_all), erlang:system_info(schedulers_online), erlang:system_info(multi_scheduling)]),
     case stress_round:is_heddle() of
         true -> io_lib:format("isolated ~w~n~p~n", [heddle_sched:isolated(), lists:sublist(heddle_stats:schedulers(), 8)]);
         false -> ""
     end].

about(P) ->
    Items = [parent, initial_call, status, current_stacktrace, message_queue_len, messages, links, monitors, suspending, priority, dictionary, trap_exit]
        ++ [placement || stress_round:is_heddle()],
    %% (The process that is asked may be the one that does not answer.)
    {A, M} = spawn_monitor(fun() -> exit(process_info(P, Items)) end),
    receive {'DOWN', M, process, A, Info} -> [short(I) || is_list(Info), I <- Info]
    after 5000 -> does_not_answer
    end.

short({messages, Ms}) -> {messages, lists:sublist(Ms, 5)};
short(Item) -> Item.

descendants([], _) -> [];
descendants(Parents, Ps) ->
    Found = [P || P <- Ps, {parent, Parent} <- [parent(P)], lists:member(Parent, Parents)],
    Found ++ descendants(Found, Ps -- Found).

%% (As `about`: does not wait forever.)
parent(P) ->
    {A, M} = spawn_monitor(fun() -> exit(process_info(P, parent)) end),
    receive {'DOWN', M, process, A, Info} -> Info
    after 1000 -> demonitor(M, [flush]), none
    end.
