%% Processes: messages and selective receive, monitors, aliases, links, names, timers, group leaders, priorities, process
%% information, dictionaries of others. Every step waits for what it started, so its result does not depend on scheduling.
-module(seq_processes).
-export([step/0, init/0, run/3, done/1]).

-define(NAMES, {seq_a, seq_b, seq_c}).

%% Four processes that do what they are told.
init() ->
    process_flag(trap_exit, true),
    list_to_tuple([start() || _ <- [1, 2, 3, 4]]).

done(S) ->
    %% The next sequence finds none of their names.
    [begin unlink(P), M = monitor(process, P), exit(P, kill), receive {'DOWN', M, _, _, _} -> ok end end || P <- tuple_to_list(S)], ok.

%% It has reached its loop when this returns.
start() ->
    P = spawn(fun loop/0),
    in(P, fun() -> P end).

%% What it is asked to do it does, and answers.
loop() ->
    receive
        {do, From, F} ->
            Result = try F() catch C:R -> {C, R} end,
            From ! {done, self(), Result},
            loop();
        stop -> ok;
        {end_with, Reason} -> exit(Reason)
    end.

%% In the process P, which answers before this returns. The process may be gone.
in(P, F) ->
    M = monitor(process, P),
    P ! {do, self(), F},
    receive {done, P, Result} -> demonitor(M, [flush]), Result;
            {'DOWN', M, process, P, _} -> gone
    end.

step() ->
    Who = fun() -> seq_value:below(4) + 1 end,
    Name = seq_value:one(?NAMES),
    Reason = seq_value:one({normal, kill, killed, shutdown, a, {b, 1}, noproc}),
    seq_value:one(
      {{messages, [seq_value:one({1, 3, 20, 60}), seq_value:below(5)], none}, {selective, [seq_value:one({2, 10, 70}), seq_value:below(70)], none}, {flush, [], none}, {left, [seq_value:arg(any)], none},
       {monitor, [Who()], none}, {monitor_demonitor, [Who(), seq_value:one({[], [flush], [info], [flush, info]})], none}, {monitor_name, [Name], none}, {monitor_tag, [Who(), seq_value:arg(any)], none},
       {end_with, [Who(), Reason], none}, {exit_signal, [Who(), Reason], none}, {link, [Who()], none}, {unlink, [Who()], none}, {link_pair, [Who(), Who()], none}, {link_end, [Who(), Reason], none},
       {alias, [seq_value:one({[], [explicit_unalias], [reply]})], none}, {alias_monitor, [Who(), seq_value:one({explicit_unalias, demonitor, reply_demonitor}), seq_value:one({nothing, unalias, demonitor, reply, ended})], none},
       {register, [Name, Who()], none}, {unregister, [Name], none}, {whereis, [Name], none}, {send_name, [Name, seq_value:arg(any)], none}, {names, [], none},
       {timer, [seq_value:one({send_after, start_timer}), seq_value:below(3)], none}, {cancel, [seq_value:one({send_after, start_timer}), seq_value:one({[], [{async, true}], [{info, false}], [{async, true}, {info, false}]})], none}, {timeout, [seq_value:below(2)], none},
       {info, [Who(), seq_value:one({links, monitors, monitored_by, registered_name, message_queue_len, dictionary, trap_exit, priority, status, initial_call, current_function, group_leader, error_handler, min_heap_size, parent, bad, message_queue_data, async_dist})], none},
       {info_list, [Who()], none}, {put, [Who(), seq_value:arg(any), seq_value:arg(any)], none}, {flag, [Who(), seq_value:one({{trap_exit, true}, {trap_exit, false}, {priority, high}, {priority, normal}, {message_queue_data, off_heap}, {message_queue_data, on_heap}, {min_heap_size, 500}, {min_heap_size, 0}, {fullsweep_after, 3}, {save_calls, 0}, {bad, 1}, {trap_exit, 1}, {max_heap_size, 0}, {priority, bad}, {min_bin_vheap_size, 100}, {min_heap_size, -1}})], none},
       {spawn_end, [seq_value:one({spawn, spawn_link, spawn_monitor}), Reason], none}, {spawn_opt, [[seq_value:one({link, monitor, {monitor, [{tag, t}]}, {priority, high}, {min_heap_size, 400}, {fullsweep_after, 0}, {message_queue_data, off_heap}, {max_heap_size, 0}, {scheduler, 1}, {bad, x}, {priority, 1}, {monitor, [bad]}}) || _ <- lists:seq(1, seq_value:below(3))]], none},
       {spawn_request, [Reason, seq_value:one({[], [monitor], [link], [{reply, no}], [{reply, error_only}], [{reply_tag, tag}], [{monitor, [{alias, explicit_unalias}]}], [bad]})], none},
       {restart, [Who()], none}, {restart, [Who()], none}, {restart, [Who()], none}, {send_all, [seq_value:arg(any)], none}, {is_alive, [Who()], none}, {suspend, [Who()], none}, {gc, [Who()], none}, {hibernate, [seq_value:arg(any)], none}, {queue, [Who(), seq_value:below(50)], none},
       {dead, [seq_value:one({send, link, monitor, exit, unlink, info, register, group_leader, is_alive, demonitor, suspend, trace})], none}, {self, [seq_value:one({link, monitor, exit_normal, unlink, send, register_twice, group_leader})], none},
       {ets_heir, [Who()], none}, {give_away, [Who()], none}, {ets_owner_ends, [Reason], none}, {nested_receive, [seq_value:below(4), seq_value:below(4)], none}, {call, [Who(), seq_value:arg(any)], any}, {marked, [Who(), seq_value:below(40)], none}}).

%% A step, and what it caused: a process that ends sends its exit signals after its notices, so a linked process may still be
%% alive when the step is over.
run(Operation, Arguments, S0) ->
    Made = try do(Operation, Arguments, S0) catch Class:Reason -> {Class, Reason} end,
    settle(tuple_to_list(S0)),
    case Made of
        {Class1, Reason1} when Class1 =:= error; Class1 =:= exit; Class1 =:= throw -> erlang:Class1(Reason1);
        _ -> Made
    end.

%% Waits until no process has a link to one that is gone.
settle(Processes) ->
    Links = lists:append([case process_info(P, links) of {links, L} -> L; undefined -> [] end || P <- [self() | Processes]]),
    case lists:all(fun is_alive/1, Links) of
        true -> ok;
        false -> erlang:yield(), settle(Processes)
    end.

is_alive(P) when is_pid(P) -> is_process_alive(P);
is_alive(_) -> true.

%% Messages to itself, then received.
do(messages, [N, Pick], S) ->
    [self() ! {m, I rem 5, I} || I <- lists:seq(1, N)],
    First = [receive {m, Pick, I} -> I after 0 -> none end || _ <- [1, 2, 3]],
    {{First, flush()}, S};
do(selective, [N, At], S) ->
    [self() ! I || I <- lists:seq(1, N)],
    A = receive At -> {got, At} after 0 -> none end,
    B = receive I when is_integer(I), I > At -> I after 0 -> none end,
    {{A, B, length(flush())}, S};
do(nested_receive, [A, B], S) ->
    [self() ! {I, J} || I <- [1, 2, 3], J <- [1, 2, 3]],
    R = receive {A, X} -> receive {X, Y} -> {X, Y} after 0 -> {X, none} end; {_, B} -> b after 0 -> nothing end,
    {{R, flush()}, S};
do(flush, [], S) -> {flush(), S};
do(left, [T], S) -> self() ! {left, T}, {ok, S};
do(monitor, [I], S) ->
    P = element(I, S),
    M = monitor(process, P),
    Alive = is_process_alive(P),
    R = receive {'DOWN', M, process, P, Why} -> {down, Why} after 0 -> case Alive of true -> up; false -> receive {'DOWN', M, process, P, Why} -> {down, Why} end end end,
    {{demonitor(M, [flush]), R}, S};
do(monitor_demonitor, [I, Options], S) -> M = monitor(process, element(I, S)), is_process_alive(element(I, S)), {{demonitor(M, Options), flush_of(M)}, S};
do(monitor_name, [Name], S) ->
    M = monitor(process, Name),
    case whereis(Name) of
        undefined -> receive {'DOWN', M, process, Who, Why} -> {{Who, Why}, S} end;
        _ -> {{up, demonitor(M, [flush])}, S}
    end;
do(monitor_tag, [I, Tag], S) ->
    P = element(I, S),
    M = monitor(process, P, [{tag, {tag, Tag}}]),
    stopped(P, stop),
    R = receive {{tag, T}, M, process, P, Why} -> {T, Why} end,
    {R, S};
do(end_with, [I, Reason], S) -> {stopped(element(I, S), {end_with, Reason}), S};
do(exit_signal, [I, Reason], S) ->
    P = element(I, S),
    Traps = process_info(P, trap_exit),
    M = monitor(process, P),
    exit(P, Reason),
    R = case Reason =:= kill orelse (Reason =/= normal andalso Traps =/= {trap_exit, true}) orelse Traps =:= undefined of
            true -> receive {'DOWN', M, process, P, Why} -> Why end;
            false -> case in(P, fun() -> receive {'EXIT', _, Got} -> {got, Got} after 0 -> nothing end end) of R0 -> demonitor(M, [flush]), R0 end
        end,
    {R, S};
do(link, [I], S) -> {{link(element(I, S)), is_process_alive(element(I, S))}, S};
do(unlink, [I], S) -> {unlink(element(I, S)), S};
do(link_pair, [I, J], S) ->
    Other = element(J, S),
    {in(element(I, S), fun() -> link(Other) end), S};
do(link_end, [I, Reason], S) ->
    P = element(I, S),
    {R, Why} = {catch link(P), stopped(P, {end_with, Reason})},
    {{R, Why, receive {'EXIT', P, W} -> W after 0 -> none end}, S};
do(alias, [Options], S) ->
    A = alias(Options),
    A ! {to, 1},
    B = receive {to, 1} -> yes after 0 -> no end,
    A ! {to, 2},
    C = receive {to, 2} -> yes after 0 -> no end,
    D = unalias(A),
    A ! {to, 3},
    {{B, C, D, unalias(A), receive {to, 3} -> yes after 0 -> no end}, S};
do(alias_monitor, [I, Kind, Then], S) ->
    P = element(I, S),
    true = is_process_alive(P),  % else the notice comes at a moment that is not defined
    M = monitor(process, P, [{alias, Kind}]),
    case Then of
        nothing -> ok;
        unalias -> unalias(M);
        demonitor -> demonitor(M);
        reply -> in(P, fun() -> M ! {M, reply} end);
        ended -> stopped(P, stop)
    end,
    R1 = receive {M, X} -> X; {'DOWN', M, _, _, Why} -> {down, Why} after 0 -> none end,
    M ! {M, late},
    R2 = receive {M, Y} -> Y; {'DOWN', M, _, _, Why2} -> {down, Why2} after 0 -> none end,
    R3 = {is_process_alive(P), unalias(M), demonitor(M, [info, flush])},
    {{R1, R2, R3}, S};
do(register, [Name, I], S) -> {register(Name, element(I, S)), S};
do(unregister, [Name], S) -> {unregister(Name), S};
do(whereis, [Name], S) -> {index(whereis(Name), S), S};
do(send_name, [Name, T], S) -> {try Name ! {ignored, T} of _ -> ok catch error:E -> E end, S};
do(names, [], S) -> {[N || N <- registered(), lists:member(N, tuple_to_list(?NAMES))] =/= [], S};
do(timer, [F, Ms], S) ->
    T = erlang:F(Ms, self(), tick),
    R = receive tick -> tick; {timeout, T, tick} -> timeout end,
    {{R, erlang:read_timer(T), erlang:cancel_timer(T)}, S};
do(cancel, [F, Options], S) ->
    T = erlang:F(100000, self(), tick),
    A = erlang:read_timer(T) > 90000,
    B = case erlang:cancel_timer(T, Options) of N when is_integer(N) -> N > 90000; Other -> Other end,
    C = case Options of [{async, true}] -> receive {cancel_timer, T, N2} -> is_integer(N2) end; _ -> none end,
    {{A, B, C, erlang:read_timer(T)}, S};
do(timeout, [Ms], S) -> {receive never -> never after Ms -> timeout end, S};
do(info, [I, Item], S) -> {shown(process_info(element(I, S), Item), S), S};
do(info_list, [I], S) -> {shown(process_info(element(I, S), [trap_exit, links, registered_name, priority, messages, message_queue_len]), S), S};
do(put, [I, K, V], S) -> {in(element(I, S), fun() -> {put(K, V), lists:sort(fun(A, B) -> A =< B end, get_keys(V)) =/= []} end), S};
do(flag, [I, {F, V}], S) -> {in(element(I, S), fun() -> process_flag(F, V) end), S};
do(spawn_end, [F, Reason], S) ->
    R = case erlang:F(fun() -> exit(Reason) end) of
            {P, M} -> receive {'DOWN', M, process, P, Why} -> Why end;
            P when F =:= spawn_link -> receive {'EXIT', P, Why} -> Why end;
            P -> M = monitor(process, P), receive {'DOWN', M, process, P, Why} -> lists:member(Why, [Reason, noproc, killed]) end
        end,
    {R, S};
do(spawn_opt, [Options], S) ->
    Self = self(),
    R = case spawn_opt(fun() -> Self ! {started, self(), process_info(self(), priority)}, receive never -> ok end end, Options) of
            {P, M} -> {monitored, receive {started, P, Pr} -> unlink(P), exit(P, kill), {Pr, receive {_, M, process, P, Why} -> Why end} end};
            P -> receive {started, P, Pr} -> unlink(P), exit(P, kill), Pr end
        end,
    {R, S};
do(spawn_request, [Reason, Options], S) ->
    Ref = spawn_request(fun() -> exit(Reason) end, Options),
    Patience = case lists:member({reply, no}, Options) orelse lists:member({reply, error_only}, Options) of true -> 0; false -> 5000 end,
    P = receive {spawn_reply, Ref, ok, P0} -> P0; {spawn_reply, Ref, error, E} -> E; {tag, Ref, ok, P0} -> P0 after Patience -> none end,
    R = case is_pid(P) of true -> pid; false -> P end,
    D = case Options of [monitor] -> receive {'DOWN', Ref, process, _, Why} -> Why end; [{monitor, _}] -> receive {'DOWN', Ref, process, _, Why} -> Why end;
                        [link] -> receive {'EXIT', P, Why} -> Why end; _ -> none end,
    {{R, D}, S};
do(restart, [I], S) ->
    case is_process_alive(element(I, S)) of true -> {alive, S}; false -> {started, setelement(I, S, start())} end;
do(send_all, [T], S) -> [P ! {ignored, T} || P <- tuple_to_list(S)], {ok, S};
do(is_alive, [I], S) -> {is_process_alive(element(I, S)), S};
do(suspend, [I], S) ->
    P = element(I, S),
    A = erlang:suspend_process(P),
    B = process_info(P, status),
    C = catch erlang:suspend_process(P, [unless_suspending]),
    {{A, B, C, erlang:resume_process(P), case catch erlang:resume_process(P) of {'EXIT', {W, _}} -> W; X -> X end}, S};
do(gc, [I], S) -> {garbage_collect(element(I, S)), S};
do(hibernate, [T], S) ->
    Self = self(),
    P = spawn(fun() -> put(k, T), erlang:hibernate(erlang, apply, [fun() -> receive go -> Self ! {awake, self(), get(k)} end end, []]) end),
    P ! go,
    {receive {awake, P, V} -> V end, S};
do(queue, [I, N], S) ->
    R = in(element(I, S), fun() -> [self() ! {q, J} || J <- lists:seq(1, N)], L = process_info(self(), message_queue_len), {L, [receive {q, J} -> J after 0 -> none end || J <- lists:seq(N, 1, -1)]} end),
    {R, S};
do(dead, [What], S) ->
    {P, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, process, P, _} -> ok end,
    {dead(What, P), S};
do(self, [link], S) -> {link(self()), S};
do(self, [monitor], S) -> M = monitor(process, self()), {demonitor(M, [info]), S};
do(self, [exit_normal], S) -> exit(self(), normal), {receive {'EXIT', P, W} when P =:= self() -> W after 0 -> none end, S};
do(self, [unlink], S) -> {unlink(self()), S};
do(self, [send], S) -> self() ! x, {receive x -> x after 0 -> none end, S};
do(self, [register_twice], S) ->
    A = (catch register(seq_self, self())),
    B = (catch register(seq_self2, self())),
    {{A, element(1, element(2, B)), unregister(seq_self)}, S};
do(self, [group_leader], S) -> {group_leader() =:= element(2, process_info(self(), group_leader)), S};
do(ets_heir, [I], S) ->
    Heir = element(I, S),
    {Q, M} = spawn_monitor(fun() -> ets:new(h, [{heir, Heir, data}]) end),
    receive {'DOWN', M, process, Q, W} -> {{W, in(Heir, fun() -> receive {'ETS-TRANSFER', T, Q, D} -> {D, ets:info(T, owner) =:= self(), ets:delete(T)} after 0 -> none end end)}, S} end;
do(give_away, [I], S) ->
    T = ets:new(g, []),
    P = element(I, S),
    R = try ets:give_away(T, P, gift) catch error:badarg -> badarg end,
    X = in(P, fun() -> receive {'ETS-TRANSFER', T, _, D} -> {D, ets:info(T, owner) =:= self(), ets:delete(T)} after 0 -> none end end),
    catch ets:delete(T),
    {{R, X}, S};
do(ets_owner_ends, [Reason], S) ->
    Self = self(),
    {P, M} = spawn_monitor(fun() -> Self ! {table, ets:new(o, [public])}, exit(Reason) end),
    {receive {table, T} -> receive {'DOWN', M, process, P, W} -> {W, ets:info(T)} end end, S};
do(call, [I, T], S) -> {in(element(I, S), fun() -> T end), S};
%% A receive that waits for a new reference, with a long queue before it.
do(marked, [I, N], S) ->
    [self() ! {noise, J} || J <- lists:seq(1, N)],
    R = in(element(I, S), fun() -> ok end),
    {{R, length([x || {noise, _} <- flush()])}, S}.

dead(send, P) -> P ! x, ok;
dead(link, P) -> R = link(P), {R, receive {'EXIT', P, W} -> W end};
dead(monitor, P) -> M = monitor(process, P), receive {'DOWN', M, process, P, W} -> W end;
dead(exit, P) -> exit(P, kill);
dead(unlink, P) -> unlink(P);
dead(info, P) -> {process_info(P), process_info(P, links), process_info(P, [])};
dead(register, P) -> register(seq_dead, P);
dead(group_leader, P) -> group_leader(self(), P);
dead(is_alive, P) -> is_process_alive(P);
dead(demonitor, P) -> M = monitor(process, P), is_process_alive(P), {demonitor(M, [info, flush])};
dead(suspend, P) -> erlang:suspend_process(P);
dead(trace, P) -> erlang:trace(P, true, [call]).

stopped(P, How) ->
    M = monitor(process, P),
    P ! How,
    receive {'DOWN', M, process, P, Why} -> Why end.

flush() -> receive M -> [shown(M, {}) | flush()] after 0 -> [] end.

flush_of(M) -> receive {'DOWN', M, process, _, Why} -> Why after 0 -> none end.

index(P, S) when is_pid(P) -> case [I || I <- lists:seq(1, tuple_size(S)), element(I, S) =:= P] of [I] -> I; [] when P =:= self() -> self; _ -> pid end;
index(P, _) -> P.

%% Identifiers differ from run to run.
shown(P, S) when is_pid(P) -> index(P, S);
%% Of linked processes that end together, which one's signal comes first is not defined.
shown({'EXIT', P, Why}, _) when is_pid(P) -> {'EXIT', Why};
shown(R, _) when is_reference(R) -> reference;
shown({links, L}, S) -> {links, lists:sort([shown(P, S) || P <- L])};
shown({monitored_by, L}, S) -> {monitored_by, lists:sort([shown(P, S) || P <- L])};
shown({dictionary, L}, S) -> {dictionary, seq_value:sorted([shown(P, S) || P <- L])};
shown({current_function, {M, _, _}}, _) -> {current_function, M};
shown({status, _}, _) -> status;
shown([H | T], S) -> [shown(H, S) | shown(T, S)];
shown(T, S) when is_tuple(T) -> list_to_tuple(shown(tuple_to_list(T), S));
shown(T, _) when is_function(T); is_port(T) -> other;
shown(T, _) -> T.
