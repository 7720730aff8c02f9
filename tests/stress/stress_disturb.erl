%% What others do to the processes of the rounds, and to the machine: nothing that a program could tell but by its timing.
-module(stress_disturb).
-export([start/2, stop/1]).
-import(stress_round, [some/1, chance/1, pick/1, in_a_while/0]).

%% Those that disturb all processes but the ones that `Spared` says.
start(Seed, Spared) ->
    Online = erlang:system_info(schedulers_online),
    Sink = spawn(fun sink/0),
    Kinds = [fun meddle/2, fun meddle/2, fun watch/2] ++ [fun place/2 || stress_round:is_heddle(), _ <- [1, 2]],
    Keep = fun(Others) -> fun(P) -> lists:member(P, Others) orelse Spared(P) end end,
    Ps = [spawn_link(fun() -> rand:seed(exsss, {Seed, I, 1}), receive {spared, Ps} -> loop(Kind, Keep(Ps), Sink) end end) || {I, Kind} <- lists:enumerate(Kinds)]
        ++ [spawn_link(fun() -> rand:seed(exsss, {Seed, 0, 1}), receive {spared, _} -> machine(Online) end end)],
    [P ! {spared, [Sink | Ps]} || P <- Ps],
    {Online, Sink, Ps}.

%% All is as it was before.
stop({Online, Sink, Ps}) ->
    [begin P ! {stop, self()}, receive {stopped, P} -> ok end end || P <- Ps],
    stress_round:gone(Ps),
    erlang:trace(all, false, [all]),
    exit(Sink, kill),
    stress_round:gone([Sink]),
    erlang:system_flag(schedulers_online, Online),
    stress_round:is_heddle() andalso [ok = heddle_sched:release(S) || S <- heddle_sched:isolated()],
    ok.

sink() -> receive _ -> sink() end.

stopped(Go) ->
    receive {stop, From} -> From ! {stopped, self()}, ok
    after some(3) - 1 -> Go()
    end.

loop(Kind, IsSpared, Sink) ->
    [Kind(P, Sink) || P <- stress_round:sample(5, processes()), not IsSpared(P)],
    stress:count(disturbances, 5),
    stopped(fun() -> loop(Kind, IsSpared, Sink) end).

%% They may end at any time.
meddle(P, _) ->
    try
        case some(6) of
            1 -> erlang:suspend_process(P), in_a_while(), erlang:resume_process(P);
            2 -> erlang:suspend_process(P), erlang:suspend_process(P), erlang:resume_process(P), erlang:resume_process(P);
            3 -> erlang:garbage_collect(P);
            4 -> R = make_ref(), erlang:garbage_collect(P, [{async, R}, {type, minor}]), receive {garbage_collect, R, _} -> ok end;
            5 -> erlang:suspend_process(P), erlang:garbage_collect(P), process_info(P, [messages, dictionary, current_stacktrace]), erlang:resume_process(P);
            6 -> erlang:suspend_process(P, [asynchronous]), in_a_while(), erlang:resume_process(P)
        end
    catch error:badarg -> ok
    end.

watch(P, Sink) ->
    try
        case some(4) of
            1 ->
                Flags = [F || F <- [send, 'receive', procs, running, garbage_collection, timestamp], chance(2)],
                erlang:trace(P, true, [{tracer, Sink} | Flags]), in_a_while(), erlang:trace(P, false, [all]);
            2 -> process_info(P, [messages, links, monitors, monitored_by, memory, binary, current_stacktrace, total_heap_size]);
            3 -> process_info(P, backtrace);
            4 ->
                erlang:trace_pattern({stress_round, check, 2}, [{'_', [], [{return_trace}]}], [local]),
                erlang:trace(P, true, [call, {tracer, Sink}]), in_a_while(), erlang:trace(P, false, [all]),
                erlang:trace_pattern({stress_round, check, 2}, false, [local])
        end
    catch error:badarg -> ok
    end.

%% Where they run: heddle_sched.
place(P, _) ->
    N = erlang:system_info(schedulers),
    try
        case some(9) of
            1 -> heddle_sched:pin(P, some(N));
            2 -> heddle_sched:move(P, some(N));
            3 -> heddle_sched:private(P);
            4 -> heddle_sched:shared(P);
            5 -> heddle_sched:isolate(some(N), [P]);
            6 -> [heddle_sched:release(S) || S <- heddle_sched:isolated()];
            7 -> heddle_sched:place(P);
            _ -> heddle_sched:unpin(P)
        end
    catch error:Why when Why =:= badarg; Why =:= system_limit -> ok
    end.

%% How many schedulers there are to run on.
machine(Online) ->
    N = erlang:system_info(schedulers),
    case some(8) of
        1 -> block(multi_scheduling, block, unblock);
        2 -> block(multi_scheduling, block_normal, unblock_normal);
        3 -> erlang:system_flag(schedulers_online, Online);
        4 -> [_ | _] = erlang:statistics(run_queue_lengths_all), _ = erlang:memory(), _ = erlang:statistics(context_switches);
        5 -> erlang:system_info(procs) =/= <<>> orelse exit(no_information);
        _ -> erlang:system_flag(schedulers_online, some(N))
    end,
    stress:count(disturbances, 1),
    receive after some(20) -> ok end,
    stopped(fun() -> machine(Online) end).

block(Flag, On, Off) ->
    Blocked = erlang:system_flag(Flag, On),
    true = lists:member(Blocked, [blocked, blocked_normal, disabled]),
    in_a_while(),
    erlang:system_flag(Flag, Off).
