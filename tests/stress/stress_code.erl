%% Rounds of what processes do by themselves: code that is replaced and purged, exceptions, hibernation, dirty natives, large heaps.
-module(stress_code).
-export([rounds/0, prepare/1, woken/2]).
-import(stress_round, [some/1, chance/1, pick/1, usual/1, child/1, children/2, gone/1]).

rounds() ->
    [{code, fun code/0}, {exceptions, fun exceptions/0}, {hibernation, fun hibernation/0}, {dirty, fun dirty/0}, {heaps, fun heaps/0}, {literals, fun literals/0},
     {ports, fun ports/0}, {inspection, fun inspection/0}].

%% Versions of a module for each slot, compiled once.
prepare(Slots) ->
    persistent_term:put(?MODULE, maps:from_list([{{Slot, V}, module(Slot, V)} || Slot <- lists:seq(1, Slots), V <- [1, 2, 3]])).

name(Slot) -> list_to_atom("stress_code_" ++ integer_to_list(Slot)).

%% f() is {V, Literal}; wait() stays until it is told, in this version, and says which it is.
module(Slot, V) ->
    Text = [["-module(", atom_to_list(name(Slot)), ")."], "-export([f/0, wait/0]).", io_lib:format("f() -> {~w, [~w, <<\"literal\">>, ~p]}.", [V, V, lists:seq(V, V + 50)]),
            io_lib:format("wait() -> receive {From, which} -> From ! {self(), ~w}, wait(); {From, newest} -> From ! {self(), ok}, ~w:wait(); stop -> f() end.", [V, name(Slot)])],
    Forms = [begin {ok, Tokens, _} = erl_scan:string(lists:flatten(T)), {ok, Form} = erl_parse:parse_form(Tokens), Form end || T <- Text],
    {ok, _, Beam} = compile:forms(Forms),
    Beam.

code() ->
    Slot = get(slot),
    Module = name(Slot),
    #{{Slot, 1} := One, {Slot, 2} := Two, {Slot, 3} := Three} = persistent_term:get(?MODULE),
    {module, Module} = code:load_binary(Module, "stress", One),
    {1, Kept} = Module:f(),
    Old = children(some(5), fun() -> Module:wait() end),
    [1 = stress_round:ask(P, which) || P <- Old],
    {module, Module} = code:load_binary(Module, "stress", Two),
    {2, _} = Module:f(),
    [1 = stress_round:ask(P, which) || P <- Old],
    {Go, Stay} = lists:split(some(length(Old) + 1) - 1, Old),
    [ok = stress_round:ask(P, newest) || P <- Go],
    [2 = stress_round:ask(P, which) || P <- Go],
    true = lists:all(fun(P) -> check_process_code(P, Module) end, Stay),
    false = lists:any(fun(P) -> check_process_code(P, Module) end, Go),
    Killed = Stay =/= [],
    not Killed orelse (false = code:soft_purge(Module)),
    [unlink(P) || P <- Stay],
    Ms = [monitor(process, P) || P <- Stay],
    Killed = code:purge(Module),
    [stress_round:down(M, killed) || M <- Ms],
    {module, Module} = code:load_binary(Module, "stress", Three),
    {3, _} = Module:f(),
    [2 = stress_round:ask(P, which) || P <- Go],
    [P ! stop || P <- Go],
    gone(Go),
    false = code:purge(Module),
    true = code:delete(Module),
    {'EXIT', {undef, _}} = (catch erlang:apply(Module, g, [])),
    false = code:purge(Module),
    Kept = [1, <<"literal">>, lists:seq(1, 51)],
    stress:count(code_loads, 3).

exceptions() ->
    [try lists:nth(X, [a]) catch error:function_clause:S -> true = length(S) > 0 end || X <- lists:seq(2, usual(100))],
    [try deep(X, fun() -> throw({x, X}) end) catch throw:{x, Y} -> Y = X after self() ! {ran, X}, receive {ran, X} -> ok end end || X <- lists:seq(1, usual(100))],
    Ms = [begin
              {P, M} = spawn_opt(stress_round:seeded(fun() -> try deep(100, fun() -> error({bad, X}) end) of _ -> ok catch exit:_ -> ok after put(x, 1) end end), [monitor]),
              {P, M, X}
          end || X <- lists:seq(1, usual(20))],
    [receive {'DOWN', M, process, P, {{bad, X}, [_ | _]}} -> ok end || {P, M, X} <- Ms],
    stress:count(processes, length(Ms)).

deep(0, F) -> F();
deep(N, F) -> [deep(N - 1, F)].

%% Each sleeps between messages; nothing is lost on the way.
hibernation() ->
    Self = self(),
    Count = usual(40),
    Ps = children(some(10), fun() -> hibernated(Self, 0) end),
    [begin chance(10) andalso stress_round:in_a_while(), [P ! {add, stress_round:payload(X), X} || P <- Ps] end || X <- lists:seq(1, Count)],
    [P ! stop || P <- Ps],
    [receive {sum, P, Sum} -> Sum = Count * (Count + 1) div 2 end || P <- Ps],
    gone(Ps).

hibernated(Parent, Sum) -> erlang:hibernate(?MODULE, woken, [Parent, Sum]).

woken(Parent, Sum) ->
    receive
        {add, Content, X} -> stress_round:check(X, Content), (case chance(2) of true -> hibernated(Parent, Sum + X); false -> woken(Parent, Sum + X) end);
        stop -> Parent ! {sum, self(), Sum}
    end.

%% Natives on other threads, while signals come.
dirty() ->
    Self = self(),
    Ps = children(some(6), fun() ->
        [case some(4) of
             1 -> {ok, <<"PID", _/binary>>} = erts_debug_file();
             2 -> ok = erts_debug:dirty_io(wait, some(3));
             3 -> ok = erts_debug:dirty_cpu(wait, some(3));
             4 -> T = lists:seq(1, usual(20000)), T = binary_to_term(term_to_binary(T, [{compressed, 1}]))
         end || _ <- lists:seq(1, usual(10))],
        {sum, N} = lists:foldl(fun(X, {sum, N}) -> receive {add, X} -> {sum, N + X} end end, {sum, 0}, lists:seq(1, 50)),
        Self ! {result, self(), N}
    end),
    [P ! {add, X} || X <- lists:seq(1, 50), P <- Ps],
    1275 = hd(lists:usort(stress_round:results(Ps))),
    %% One is ended in its native.
    {K, M} = spawn_monitor(fun() -> erts_debug:dirty_io(wait, 20), receive never -> ok end end),
    stress_round:in_a_while(),
    exit(K, kill),
    stress_round:down(M, killed),
    gone(Ps).

erts_debug_file() ->
    {ok, B} = file:read_file("/proc/self/status", [raw]),
    {match, [{At, _}]} = re:run(B, "Pid"),
    {ok, <<"PID", (binary:part(B, At, 3))/binary>>}.

%% Large ones, collected by themselves and by others.
heaps() ->
    N = usual(200000),
    Self = self(),
    P = child(fun() -> L = lists:seq(1, N), Self ! ready, receive {From, sum} -> From ! {self(), lists:sum(L)} end end),
    receive ready -> ok end,
    Async = [begin R = make_ref(), async = erlang:garbage_collect(P, [{async, R}, {type, pick([major, minor])}]), R end || _ <- lists:seq(1, 3)],
    true = erlang:garbage_collect(P),
    Sum = stress_round:ask(P, sum),
    Sum = N * (N + 1) div 2,
    [receive {garbage_collect, R, Done} -> true = is_boolean(Done) end || R <- Async],
    gone([P]),
    M = lists:foldl(fun(X, A) -> A#{X rem 500 => {X, maps:get(X rem 700, A, none)}} end, #{}, lists:seq(1, usual(3000))),
    true = map_size(M) =< 500,
    B = lists:foldl(fun(X, A) -> <<A/binary, (stress_round:payload(23 * X + 2))/binary>> end, <<>>, lists:seq(1, usual(300))),
    0 = byte_size(B) rem 100.

%% Persistent terms that are replaced while others use them.
literals() ->
    Key = {stress, get(slot)},
    persistent_term:put(Key, {1, lists:duplicate(100, 1)}),
    Ps = children(some(5), fun() ->
        Held = [persistent_term:get(Key) || _ <- lists:seq(1, usual(20)), begin chance(5) andalso stress_round:in_a_while(), true end],
        [true = L =:= lists:duplicate(100, X) || {X, L} <- Held]
    end),
    [begin persistent_term:put(Key, {X, lists:duplicate(100, X)}), chance(3) andalso stress_round:in_a_while() end || X <- lists:seq(2, usual(5))],
    gone(Ps),
    true = persistent_term:erase(Key).

ports() ->
    P = open_port({spawn_executable, "/bin/cat"}, [binary, {packet, 2}, exit_status]),
    [begin true = port_command(P, <<X:800>>), receive {P, {data, <<X:800>>}} -> ok end end || X <- lists:seq(1, usual(10))],
    case some(3) of
        1 -> true = port_close(P);
        2 -> P ! {self(), close}, receive {P, closed} -> ok end;
        3 -> M = monitor(port, P), unlink(P), exit(P, over), receive {'DOWN', M, port, P, over} -> ok end
    end.

%% Questions about processes that work, wait and end.
inspection() ->
    Ps = children(usual(10), fun() -> [stress_round:in_a_while() || _ <- lists:seq(1, 5)], receive stop -> ok after some(20) -> ok end end),
    [begin
         Item = pick([messages, status, current_function, current_stacktrace, memory, dictionary, links, monitors, monitored_by, heap_size, total_heap_size, reductions,
                      garbage_collection, garbage_collection_info, binary, backtrace, priority, trap_exit, suspending, group_leader, message_queue_len, [status, messages, links]]),
         case process_info(P, Item) of
             undefined -> ok;
             [_, _, _] = L -> [status, messages, links] = [K || {K, _} <- L];
             {Item, _} -> ok
         end,
         chance(5) andalso is_process_alive(P)
     end || _ <- lists:seq(1, usual(20)), P <- Ps],
    gone(Ps).
