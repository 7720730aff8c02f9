%% Flags on ports, and what their tracer hears of a program's port.
-module(trace_port_events).
-export([main/1]).

main(_) ->
    Me = self(),
    io:format("~p~n", [[erlang:trace(W, true, [ports, send, 'receive']) || W <- [new_ports]]]),
    io:format("~p~n", [[lists:sort(element(2, erlang:trace_info(new_ports, flags))), erlang:trace_info(new_ports, tracer) =:= {tracer, Me}]]),
    Port = open_port({spawn, "cat"}, [binary]),
    erlang:trace(new_ports, false, [all]),
    true = port_command(Port, <<"hello">>),
    receive {Port, {data, <<"hello">>}} -> ok end,
    true = register(trace_port_events_port, Port),
    true = unregister(trace_port_events_port),
    Port ! {Me, {command, "again"}},
    receive {Port, {data, <<"again">>}} -> ok end,
    unlink(Port),
    link(Port),
    Port ! {Me, close},
    receive {Port, closed} -> ok end,
    io:format("~p~n", [erlang:trace_info(Port, flags)]),
    timer:sleep(50),
    [io:format("~p~n", [names(E, #{Me => me, Port => port})]) || E <- all()],
    io:format("~p~n", [[catch element(1, element(2, catch erlang:trace(W, true, F)))
                        || {W, F} <- [{self(), [nonsense]}, {nonsense, [send]}, {self(), [{tracer, lists, x}]}, {self(), [cpu_timestamp]}]]]).

all() -> receive E -> [E | all()] after 0 -> [] end.

names(T, Names) when is_tuple(T) -> list_to_tuple([names(E, Names) || E <- tuple_to_list(T)]);
names(T, Names) when is_pid(T); is_port(T) -> maps:get(T, Names, other);
names(T, _) -> T.
