%% A traced socket reports when it is scheduled for input, and the messages that it sends.
-module(trace_port_input).
-export([main/1]).

main(_) ->
    Any = {127, 0, 0, 1},
    {ok, To} = gen_udp:open(0, [{ip, Any}, binary, {active, true}, {read_packets, 5}]),
    {ok, Number} = inet:port(To),
    {ok, From} = gen_udp:open(0, [{ip, Any}]),
    Main = self(),
    Tracer = spawn_link(fun() -> collect(Main, []) end),
    erlang:trace(To, true, [running_ports, send, {tracer, Tracer}]),
    ok = gen_udp:send(From, Any, Number, "hello"),
    receive {udp, To, _, _, Data} -> t:w(data, Data) end,
    timer:sleep(100),
    Tracer ! done,
    receive {events, Events} -> t:w(events, Events) end.

collect(Main, Events) ->
    receive
        {trace, _, send, {udp, _, _, _, Data}, To} -> collect(Main, [{send, Data, To =:= Main} | Events]);
        {trace, _, How, What} -> collect(Main, [{How, What} | Events]);
        done -> Main ! {events, lists:reverse(Events)}
    end.
