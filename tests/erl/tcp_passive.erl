%% Stream sockets on the loopback interface: passive receives, packets, ends, errors.
-module(tcp_passive).
-export([main/1]).

main(_) ->
    raw(), packets(), http(), ends(), errors(), names(), requests(), many(), pubsub(), large().

pair(Options) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false} | Options]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false} | Options]),
    {ok, B} = gen_tcp:accept(L),
    {L, A, B}.

raw() ->
    {L, A, B} = pair([binary]),
    t:w(send, gen_tcp:send(A, ["hello", <<" world">>, $!])),
    t:w(five, gen_tcp:recv(B, 5)),
    t:w(rest, gen_tcp:recv(B, 0)),
    t:w(timeout, gen_tcp:recv(B, 0, 20)),
    t:w(at_once, gen_tcp:recv(B, 0, 0)),
    t:w(busy, element(1, catch_two(B))),
    gen_tcp:send(A, <<"part">>),
    t:w(too_few, gen_tcp:recv(B, 100, 50)),
    t:w(part, gen_tcp:recv(B, 4)),
    t:w(unrecv, gen_tcp:unrecv(B, <<"back">>)),
    t:w(unrecv, gen_tcp:recv(B, 0)),
    t:w(statistics, [inet:getstat(S, [send_cnt, send_oct, recv_oct, send_pend]) || S <- [A, B]]),
    t:w(empty, {gen_tcp:send(A, []), gen_tcp:send(A, <<>>)}),
    [gen_tcp:close(S) || S <- [A, B, L]].

%% A second receive while one waits.
catch_two(S) ->
    Me = self(),
    Pid = spawn(fun() -> Me ! {done, gen_tcp:recv(S, 0, 300)} end),
    timer:sleep(50),
    Second = gen_tcp:recv(S, 0, 10),
    {Second, receive {done, R} -> R end, Pid}.

packets() ->
    [begin
         {L, A, B} = pair([binary, {packet, P}]),
         ok = gen_tcp:send(A, Data), ok = gen_tcp:send(A, Data),
         t:w({packet, P}, {gen_tcp:recv(B, 0), gen_tcp:recv(B, 0)}),
         t:w({length, P}, gen_tcp:recv(B, 3, 10)),
         inet:setopts(B, [{packet, raw}]),
         ok = gen_tcp:send(A, Data),
         t:w({raw, P}, gen_tcp:recv(B, 0)),
         [gen_tcp:close(S) || S <- [A, B, L]]
     end || {P, Data} <- [{1, <<"abc">>}, {2, <<"abc">>}, {4, <<"abc">>}, {line, <<"abc\n">>}, {sunrm, <<0, 0, 0, 2, 1, 2>>},
                          {asn1, <<2, 3, 1, 2, 3>>}, {tpkt, <<3, 0, 0, 6, 1, 2>>}]],
    {L, A, B} = pair([{packet, 2}, {packet_size, 4}]),
    gen_tcp:send(A, "1234"),
    t:w(fits, gen_tcp:recv(B, 0)),
    gen_tcp:send(A, "12345"),
    t:w(too_large, gen_tcp:recv(B, 0)),
    t:w(after_that, gen_tcp:recv(B, 0)),
    [gen_tcp:close(S) || S <- [A, B, L]],
    {L1, A1, _} = pair([{packet, 1}]),
    t:w(no_header_for_it, gen_tcp:send(A1, lists:duplicate(300, $x))),
    gen_tcp:close(L1).

http() ->
    [begin
         {L, A, B} = pair([binary, {packet, P}]),
         ok = gen_tcp:send(A, ["GET /x HTTP/1.1\r\nHost: here\r\nX-Own: a\r\n b\r\n\r\n", "POST * HTTP/1.0\r\n\r\n"]),
         t:w({http, P}, [gen_tcp:recv(B, 0, 500) || _ <- lists:seq(1, 6)]),
         [gen_tcp:close(S) || S <- [A, B, L]]
     end || P <- [http, http_bin]].

ends() ->
    {L, A, B} = pair([]),
    gen_tcp:send(A, "last"),
    t:w(shutdown, gen_tcp:shutdown(A, write)),
    t:w(last, gen_tcp:recv(B, 0)),
    t:w(other_way, {gen_tcp:send(B, "answer"), gen_tcp:recv(A, 0)}),
    t:w(closed, gen_tcp:recv(B, 0)),
    t:w(again, gen_tcp:recv(B, 0)),
    t:w(send, gen_tcp:send(B, "x")),
    t:w(closed_by_us, {gen_tcp:close(A), gen_tcp:recv(A, 0), gen_tcp:send(A, "x"), gen_tcp:close(A)}),
    gen_tcp:close(L),
    {L2, A2, B2} = pair([]),
    Me = self(),
    spawn(fun() -> Me ! {waited, gen_tcp:recv(B2, 0)} end),
    timer:sleep(50),
    gen_tcp:close(A2),
    t:w(waited, receive {waited, W} -> W end),
    t:w(keep, inet:setopts(B2, [{exit_on_close, false}])),
    spawn(fun() -> Me ! {accepted, gen_tcp:accept(L2)} end),
    timer:sleep(50),
    gen_tcp:close(L2),
    t:w(accepted, receive {accepted, R} -> R end).

errors() ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    t:w(in_use, gen_tcp:listen(Port, [{ip, {127, 0, 0, 1}}])),
    t:w(accept, {gen_tcp:accept(L, 0), gen_tcp:accept(L, 20)}),
    t:w(listener, {gen_tcp:recv(L, 0), gen_tcp:send(L, "x"), inet:peername(L)}),
    gen_tcp:close(L),
    t:w(refused, gen_tcp:connect({127, 0, 0, 1}, Port, [])),
    t:w(refused_in_time, gen_tcp:connect({127, 0, 0, 1}, Port, [], 1000)),
    t:e(option, fun() -> gen_tcp:listen(0, [{nonsense, 1}]) end),
    t:e(listening, fun() -> gen_tcp:accept(L) end),
    {ok, U} = gen_tcp:listen(0, []),
    t:w(getopts, inet:getopts(U, [active, packet, mode, header, exit_on_close, reuseaddr, nodelay, high_watermark, low_watermark,
                                  send_timeout, delay_send, show_econnreset, packet_size, linger, keepalive])),
    t:w(setopts, inet:setopts(U, [{active, once}, {packet, 4}, {nodelay, true}, {linger, {true, 3}}, binary, {header, 2}])),
    t:w(getopts, inet:getopts(U, [active, packet, mode, header, nodelay, linger])),
    gen_tcp:close(U).

names() ->
    {L, A, B} = pair([]),
    {ok, {IP, Port}} = inet:sockname(L),
    t:w(ip, IP),
    t:w(peer, inet:peername(A) =:= {ok, {IP, Port}}),
    t:w(names, inet:sockname(A) =:= inet:peername(B)),
    t:w(closed, {inet:peername(L), gen_tcp:close(B), inet:peername(B)}),
    t:w(info, {erlang:port_info(A, name), erlang:port_info(A, connected) =:= {connected, self()}}),
    gen_tcp:close(A), gen_tcp:close(L),
    {ok, L6} = gen_tcp:listen(0, [inet6, {ip, loopback}]),
    {ok, {IP6, P6}} = inet:sockname(L6),
    {ok, A6} = gen_tcp:connect({0, 0, 0, 0, 0, 0, 0, 1}, P6, [inet6, {active, false}]),
    {ok, B6} = gen_tcp:accept(L6),
    gen_tcp:send(B6, "six"),
    t:w(six, {IP6, gen_tcp:recv(A6, 0)}),
    Path = filename:join(t:tmp(tcp_passive), "socket"),
    {ok, LU} = gen_tcp:listen(0, [{ifaddr, {local, Path}}, {active, false}]),
    {ok, AU} = gen_tcp:connect({local, Path}, 0, [{active, false}]),
    {ok, BU} = gen_tcp:accept(LU),
    gen_tcp:send(AU, "local"),
    t:w(local, {gen_tcp:recv(BU, 0), inet:peername(AU) =:= {ok, {local, iolist_to_binary(Path)}}}).

%% What the driver itself answers.
requests() ->
    {L, A, B} = pair([binary, {packet, 1}, {header, 3}]),
    [begin gen_tcp:send(A, X), t:w(header, gen_tcp:recv(B, 0)) end || X <- ["ab", "abc", "abcd", ""]],
    t:w(status, [prim_inet:getstatus(S) || S <- [L, A, B]]),
    t:w(type, prim_inet:gettype(A)),
    t:w(unknown, [port_control(A, N, []) || N <- [1, 16#03f1a300 + 99]]),
    t:w(options, [{O, inet:setopts(A, [{O, V}]), inet:getopts(A, [O])} ||
                     {O, V} <- [{tos, 16}, {ttl, 3}, {recvtos, true}, {ipv6_v6only, true}, {line_delimiter, $x}, {priority, 3}, {nopush, true},
                                {broadcast, true}, {read_packets, 3}, {send_timeout, 10}, {high_watermark, 10}, {bind_to_device, <<>>}]]),
    t:w(raw, [inet:getopts(A, [O]) || O <- [{raw, 6, 1, 4}, {raw, 6, 1, <<0:32>>}, {raw, 6, 999, 4}]]),
    process_flag(trap_exit, true),
    t:w(malformed, port_command(A, "")),
    t:w(port, receive {'EXIT', A, Why} -> Why after 1000 -> lives end),
    process_flag(trap_exit, false),
    gen_tcp:close(B), gen_tcp:close(L).

%% Several processes accept at once.
many() ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}, {backlog, 128}, binary]),
    {ok, Port} = inet:port(L),
    Me = self(),
    [spawn(fun() ->
               {ok, S} = gen_tcp:accept(L),
               {ok, <<N:32>>} = gen_tcp:recv(S, 4),
               ok = gen_tcp:send(S, <<(N * 2):32>>),
               {error, closed} = gen_tcp:recv(S, 0),
               Me ! done
           end) || _ <- lists:seq(1, 40)],
    [spawn(fun() ->
               {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}, binary]),
               ok = gen_tcp:send(S, <<N:32>>),
               {ok, <<M:32>>} = gen_tcp:recv(S, 4),
               Me ! {answer, M}
           end) || N <- lists:seq(1, 40)],
    t:w(sum, lists:sum([receive {answer, M} -> M end || _ <- lists:seq(1, 40)])),
    [receive done -> ok end || _ <- lists:seq(1, 40)],
    gen_tcp:close(L).

%% What mix does: a listener found by trying its port.
pubsub() ->
    {ok, L} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {packet, raw}, {nodelay, true}, {backlog, 128}, {active, false}]),
    {ok, Port} = inet:port(L),
    t:w(taken, element(1, gen_tcp:listen(Port, [{reuseaddr, true}, binary, {ip, {127, 0, 0, 1}}, {backlog, 128}, {active, false}]))),
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {packet, raw}, {nodelay, true}, {active, false}]),
    ok = gen_tcp:send(S, <<"message", 3:64, "abc">>),
    ok = gen_tcp:shutdown(S, read_write),
    ok = gen_tcp:close(S),
    {ok, C} = gen_tcp:accept(L),
    t:w(message, {gen_tcp:recv(C, 15, 1000), gen_tcp:recv(C, 3), gen_tcp:recv(C, 1)}),
    gen_tcp:close(C), gen_tcp:close(L).

%% More than the system takes at once: one send returns, the next waits, and nothing is lost when the sender closes.
large() ->
    {L, A, B} = pair([binary]),
    Data = binary:copy(<<"0123456789abcdef">>, 1 bsl 19),
    t:w(first, gen_tcp:send(A, Data)),
    Me = self(),
    spawn(fun() -> Me ! {second, gen_tcp:send(A, <<"tail">>)} end),
    t:w(second_waits, receive {second, R} -> R after 100 -> waits end),
    t:w(pending, element(2, hd(element(2, inet:getstat(A, [send_pend])))) > 0),
    t:w(whole, gen_tcp:recv(B, byte_size(Data)) =:= {ok, Data}),
    t:w(second, receive {second, R2} -> R2 end),
    t:w(tail, gen_tcp:recv(B, 4)),
    ok = gen_tcp:send(A, Data),
    {Pid, Monitor} = spawn_monitor(fun() -> receive go -> ok = gen_tcp:close(A) end end),
    ok = gen_tcp:controlling_process(A, Pid),
    Pid ! go,
    t:w(last, {erlang:md5(element(2, gen_tcp:recv(B, byte_size(Data)))) =:= erlang:md5(Data), gen_tcp:recv(B, 0)}),
    receive {'DOWN', Monitor, _, _, Why} -> t:w(closed, Why) end,
    gen_tcp:close(B), gen_tcp:close(L).
