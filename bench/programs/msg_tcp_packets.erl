%% Requests and replies over a loopback socket with {packet, 4}.
-module(msg_tcp_packets).
-export([main/1, group/0]).

group() -> message.

main(_) ->
    Options = [binary, {packet, 4}, {active, true}, {nodelay, true}],
    {ok, Listener} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}} | Options]),
    {ok, Port} = inet:port(Listener),
    Client = self(),
    spawn_link(fun() -> {ok, Server} = gen_tcp:accept(Listener), Client ! ready, serve(Server) end),
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, Options),
    receive ready -> ok end,
    bench:time(?MODULE, fun() -> ask(Socket, 10000) end).

serve(Socket) ->
    receive
        {tcp, Socket, Request} -> ok = gen_tcp:send(Socket, Request), serve(Socket);
        {tcp_closed, Socket} -> ok
    end.

ask(_, 0) -> done;
ask(Socket, N) ->
    ok = gen_tcp:send(Socket, <<"a request of some bytes">>),
    receive {tcp, Socket, _} -> ask(Socket, N - 1) end.
