%% Sequential tracing: tokens follow messages, spawns, aliases and exit signals; what the system tracer hears.
-module(trace_seq_tokens).
-export([main/1]).

main(_) ->
    [] = seq_trace:get_token(),
    Said = [[seq_trace:set_token(K, V) || {K, V} <- [{label, {a, 1}}, {send, true}, {'receive', true}, {print, true}]],
            setelement(4, seq_trace:get_token(), self),
            [seq_trace:get_token(K) || K <- [label, serial, send, timestamp]],
            seq_trace:set_token(serial, {3, 5}),
            [try seq_trace:set_token(K, V) catch error:R -> R end || {K, V} <- [{serial, 5}, {nonsense, true}]],
            begin seq_trace:set_token([]), seq_trace:set_token(label, 7), setelement(4, seq_trace:get_token(), self) end],
    seq_trace:set_token([]),
    [io:format("~p~n", [S]) || S <- Said],
    seq_trace:reset_trace(),
    [] = seq_trace:get_token(),
    Me = self(),
    Quiet = spawn(fun() -> receive go -> Me ! quiet end end),
    Tracer = spawn(fun() -> tracer([]) end),
    false = seq_trace:set_system_tracer(Tracer),
    Tracer = seq_trace:get_system_tracer(),
    Echo = spawn(fun Loop() -> receive {From, Alias, What} -> Alias ! {echo, What}, From ! done, Loop(); stop -> exit(stopped) end end),
    [seq_trace:set_token(K, V) || {K, V} <- [{label, "label"}, {send, true}, {'receive', true}, {print, true}]],
    seq_trace:print("label", shown),
    seq_trace:print(0, hidden),
    Alias = alias(),
    Echo ! {Me, Alias, hello},
    receive {echo, hello} -> ok end,
    receive done -> ok end,
    Child = spawn(fun() -> Me ! {child, element(3, seq_trace:get_token())} end),
    Serial = receive {child, N} -> N end,
    process_flag(trap_exit, true),
    link(Echo),
    Echo ! stop,
    receive {'EXIT', Echo, stopped} -> ok end,
    receive after 1 -> ok end,
    Label = seq_trace:get_token(label),
    seq_trace:set_token([]),
    Quiet ! go,
    receive quiet -> ok end,
    io:format("the child had ~p, a timeout leaves it: ~p, a message without takes it: ~p~n", [Serial, Label, seq_trace:get_token()]),
    Tracer ! {log, self()},
    Names = #{Me => me, Echo => echo, Child => child, Tracer => tracer},
    receive {log, Log} -> [io:format("~p~n", [names(E, Names)]) || E <- lists:keysort(2, [order(E) || E <- Log])] end,
    seq_trace:set_system_tracer(false).

order({seq_trace, _, {_, {_, Serial}, _, _, _}} = E) -> {E, Serial}.

tracer(Log) ->
    receive
        {log, To} -> To ! {log, lists:reverse(Log)};
        E -> tracer([E | Log])
    end.

names({E, _}, Names) -> names(E, Names);
%% How far stock counts while a process ends is its own affair.
names({seq_trace, L, {K, _, F, T, {'EXIT', _, _} = M}}, Names) -> names({seq_trace, L, {K, F, T, M}}, Names);
names(T, Names) when is_tuple(T) -> list_to_tuple([names(E, Names) || E <- tuple_to_list(T)]);
names(T, _) when is_reference(T) -> reference;
names(T, _) when is_function(T) -> a_fun;
names([H | T], Names) -> [names(H, Names) | names(T, Names)];
names(T, Names) when is_pid(T) -> maps:get(T, Names, pid);
names(T, _) -> T.
