%% gen_tcp and gen_udp on the module socket ({inet_backend, socket}): modes, packets, options, ends, time limits.
-module(socket_backend).
-export([main/1]).

-define(B, {inet_backend, socket}).

main(_) ->
    {ok, L} = gen_tcp:listen(0, [?B, binary, {active, false}, {reuseaddr, true}]),
    {ok, Port} = inet:port(L),
    {C, S} = pair(L, Port, []),
    t:w(passive, [gen_tcp:send(C, "ping"), gen_tcp:recv(S, 4), gen_tcp:send(S, <<"pong!">>), gen_tcp:recv(C, 0), gen_tcp:recv(C, 1, 20)]),
    t:w(options, inet:getopts(S, [active, mode, packet, nodelay, keepalive, send_timeout, exit_on_close, header])),
    t:w(set, [inet:setopts(S, [{nodelay, true}, {keepalive, true}, {packet, 2}]), inet:getopts(S, [nodelay, keepalive, packet])]),
    ok = inet:setopts(C, [{packet, 2}]),
    t:w(packet, [gen_tcp:send(C, "one"), gen_tcp:send(C, "two"), gen_tcp:recv(S, 0), gen_tcp:recv(S, 0)]),
    ok = inet:setopts(S, [{active, once}]),
    ok = gen_tcp:send(C, "once"),
    t:w(once, receive {tcp, S, D} -> D after 1000 -> none end),
    ok = gen_tcp:send(C, "held"),
    t:w(held, receive {tcp, S, H} -> H after 50 -> none end),
    ok = inet:setopts(S, [{active, 2}]),
    ok = gen_tcp:send(C, "more"),
    t:w(active_n, [receive {tcp, S, M} -> M; {tcp_passive, S} -> passive after 1000 -> none end || _ <- [1, 2, 3]]),
    [ok = inet:setopts(X, [{packet, line}, list]) || X <- [C, S]],
    ok = gen_tcp:send(C, "first\nsecond\n"),
    t:w(lines, [gen_tcp:recv(S, 0), gen_tcp:recv(S, 0)]),
    ok = inet:setopts(S, [{active, true}, {packet, raw}, binary]),
    ok = gen_tcp:shutdown(C, write),
    t:w(closed, receive {tcp_closed, S} -> closed after 1000 -> none end),
    t:w(close, [gen_tcp:close(C), gen_tcp:close(C), gen_tcp:recv(C, 0), gen_tcp:send(C, "a")]),
    {C2, S2} = pair(L, Port, [{active, true}]),
    Owner = self(),
    Other = spawn(fun() -> receive {tcp, S2, D2} -> Owner ! {other, D2} end, receive stop -> ok end end),
    t:w(controlling, [gen_tcp:controlling_process(S2, Other), inet:setopts(C2, [{packet, raw}])]),
    Other ! stop_not,
    {error, not_owner} = gen_tcp:controlling_process(S2, self()),
    t:w(names, [element(1, inet:peername(C2)), element(1, inet:sockname(C2)), inet:port(C2) =:= {ok, element(2, element(2, inet:sockname(C2)))}]),
    ok = gen_tcp:close(C2),
    exit(Other, kill),
    t:w(accept_timeout, gen_tcp:accept(L, 20)),
    ok = gen_tcp:close(L),
    t:w(refused, gen_tcp:connect({127, 0, 0, 1}, Port, [?B], 2000)),
    t:e(bad_option, fun() -> gen_tcp:listen(0, [?B, {foo, bar}]) end),
    udp(),
    t:w(left, t:flush()).

pair(L, Port, Options) ->
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [?B, binary, {active, false} | Options]),
    {ok, S} = gen_tcp:accept(L, 2000),
    {C, S}.

udp() ->
    {ok, A} = gen_udp:open(0, [?B, binary, {ip, {127, 0, 0, 1}}, {active, true}]),
    {ok, B} = gen_udp:open(0, [?B, binary, {ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, PortA} = inet:port(A),
    {ok, PortB} = inet:port(B),
    ok = gen_udp:send(B, {127, 0, 0, 1}, PortA, "to a"),
    t:w(udp, receive {udp, A, {127, 0, 0, 1}, PortB, D} -> D after 1000 -> none end),
    ok = gen_udp:send(A, {127, 0, 0, 1}, PortB, [<<"to ">>, $b]),
    t:w(udp, case gen_udp:recv(B, 0, 1000) of {ok, {{127, 0, 0, 1}, PortA, R}} -> R; Else -> Else end),
    t:w(udp_timeout, gen_udp:recv(B, 0, 20)),
    ok = gen_udp:connect(B, {127, 0, 0, 1}, PortA),
    ok = gen_udp:send(B, "connected"),
    t:w(udp, receive {udp, A, _, _, E} -> E after 1000 -> none end),
    t:w(udp_close, [gen_udp:close(A), gen_udp:close(B), gen_udp:recv(B, 0, 10)]).
