%% Packets of TLS, reading without reading ahead, and the figures and columns of inet:i/0.
-module(tcp_records).
-export([main/1]).

-define(HERE, {127, 0, 0, 1}).

main(_) -> tls(), exact(), slow(), shown(), lingering(), limits(), delayed(), bulk(), bytewise().

pair(Options) ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?HERE}, {active, false}, binary | Options]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect(?HERE, Port, [{active, false}, binary]),
    {ok, B} = gen_tcp:accept(L),
    gen_tcp:close(L),
    {A, B}.

tls() ->
    {A, B} = pair([{packet, ssl_tls}]),
    ok = gen_tcp:send(A, <<22, 3, 3, 0, 4, "data", 23, 3, 1, 0, 0, 16#80, 12, 1, 3, 1, "123456789", 21, 3>>),
    t:w(passive, [record(B, element(2, gen_tcp:recv(B, 0, 2000))) || _ <- [1, 2, 3]]),
    t:w(part, gen_tcp:recv(B, 0, 20)),
    ok = inet:setopts(B, [{active, once}, {mode, list}]),
    ok = gen_tcp:send(A, <<3, 0, 2, 1, 0>>),
    t:w(active, receive Message -> record(B, Message) after 2000 -> none end),
    t:w(length, gen_tcp:recv(B, 3, 10)),
    gen_tcp:close(A), gen_tcp:close(B).

record(B, Record) when element(2, Record) =:= B -> setelement(2, Record, socket);
record(_, Record) -> Record.

%% What is not read stays with the system, where another reader finds it.
exact() ->
    [begin
         {A, B} = pair([{packet, Packet}, {read_ahead, false}]),
         t:w({Packet, option}, inet:getopts(B, [read_ahead])),
         ok = gen_tcp:send(A, [First, "rest"]),
         t:w({Packet, first}, gen_tcp:recv(B, 0, 2000)),
         ok = inet:setopts(B, [{packet, raw}]),
         {ok, Fd} = prim_inet:getfd(B),
         {ok, C} = gen_tcp:fdopen(Fd, [{active, false}, binary]),
         t:w({Packet, rest}, gen_tcp:recv(C, 4, 2000)),
         [gen_tcp:close(S) || S <- [C, B, A]]
     end || {Packet, First} <- [{1, <<3, "abc">>}, {2, <<3:16, "abc">>}, {4, <<3:32, "abc">>}, {asn1, <<2, 3, 1, 2, 3>>},
                                {asn1, <<16#7f, 16#81, 1, 16#81, 3, 1, 2, 3>>}, {line, <<"abc\n">>}, {tpkt, <<3, 0, 0, 6, 1, 2>>},
                                {sunrm, <<0, 0, 0, 2, 1, 2>>}, {fcgi, <<1, 0, 0, 0, 0, 2, 1, 0, 1, 2, 3>>}]].

%% A packet in parts, each of which is read at another time.
slow() ->
    {A, B} = pair([{packet, 4}, {active, true}]),
    Data = binary:copy(<<"0123456789">>, 10000),
    spawn_link(fun() ->
                       [begin ok = gen_tcp:send(A, Part), timer:sleep(5) end || Part <- [<<0>>, <<1, 16#86>>, <<16#a0, "01">>, binary:part(Data, 2, 99990)]],
                       ok = gen_tcp:send(A, [binary:part(Data, 99992, 8), <<1:32>>, $x]),
                       receive stop -> ok end
               end),
    t:w(slow, receive {tcp, B, D} -> D =:= Data after 5000 -> none end),
    t:w(next, receive {tcp, B, X} -> X after 5000 -> none end),
    gen_tcp:close(A), gen_tcp:close(B).

shown() ->
    {A, B} = pair([]),
    {ok, U} = gen_udp:open(0, []),
    ok = gen_tcp:send(A, "12345"), {ok, _} = gen_tcp:recv(B, 5),
    t:w(info, [maps:to_list(maps:map(fun(K, V) -> if K =:= memory; K =:= owner; K =:= links; K =:= counters; K =:= output -> shown; true -> V end end, inet:info(S))) ||
                  S <- [A, B, U]]),
    t:w(names, [element(1, inet:socknames(A)), element(1, inet:peernames(A)), inet:peernames(U)]),
    Lines = printed(fun() -> inet:i() end),
    t:w(columns, string:lexemes(hd(Lines), " ")),
    t:w(rows, [length([L || L <- Lines, string:find(L, Kind) =/= nomatch]) > 0 || Kind <- ["inet_tcp", "inet_udp", "STREAM", "DGRAM", "CONNECTED", "IDLE"]]),
    gen_udp:close(U), gen_tcp:close(A), gen_tcp:close(B).

printed(F) ->
    Me = self(),
    Old = group_leader(),
    Leader = spawn_link(fun() -> collect(Me, []) end),
    group_leader(Leader, self()),
    F(),
    group_leader(Old, self()),
    Leader ! {done, Me},
    receive {printed, Text} -> string:lexemes(Text, "\n") end.

collect(To, Text) ->
    receive
        {io_request, From, As, {put_chars, unicode, M, F, Args}} ->
            From ! {io_reply, As, ok},
            collect(To, [Text, apply(M, F, Args)]);
        {io_request, From, As, {put_chars, _, Chars}} ->
            From ! {io_reply, As, ok},
            collect(To, [Text, Chars]);
        {done, To} -> To ! {printed, unicode:characters_to_list(Text)}
    end.

%% A linger time of 0 resets the connection and discards what is not sent.
lingering() ->
    {A, B} = pair([{show_econnreset, true}]),
    ok = inet:setopts(A, [{linger, {true, 0}}]),
    ok = gen_tcp:send(A, binary:copy(<<0>>, 20000000)),
    t:w(closed_at_once, gen_tcp:close(A)),
    t:w(reset, until_error(B)),
    gen_tcp:close(B),
    %% A passive socket whose write found the reset tells of it when it becomes active.
    {C, D} = pair([]),
    ok = inet:setopts(C, [{show_econnreset, true}]),
    ok = gen_tcp:send(C, binary:copy(<<0>>, 20000000)),
    ok = gen_tcp:send(D, "unread"),
    ok = inet:setopts(D, [{linger, {true, 0}}]),
    ok = gen_tcp:close(D),
    timer:sleep(50),
    ok = inet:setopts(C, [{active, once}]),
    t:w(told_later, [receive {What, C, Why} -> {What, Why}; {What, C} -> What after 2000 -> none end || _ <- [1, 2]]),
    %% An acceptor that was killed does not count.
    {ok, L} = gen_tcp:listen(0, []),
    {Pid, Monitor} = spawn_monitor(fun() -> gen_tcp:accept(L) end),
    timer:sleep(30),
    Accepting = prim_inet:getstatus(L),
    exit(Pid, kill),
    receive {'DOWN', Monitor, _, _, _} -> ok end,
    timer:sleep(30),
    t:w(accepting, {Accepting, prim_inet:getstatus(L)}),
    gen_tcp:close(L).

until_error(S) ->
    case gen_tcp:recv(S, 0, 5000) of
        {ok, _} -> until_error(S);
        Other -> Other
    end.

%% Operations with time limits, several on one socket: each ends at its own time, whatever others do.
limits() ->
    {ok, L} = gen_tcp:listen(0, [{ip, ?HERE}, {active, false}]),
    {ok, Port} = inet:port(L),
    Me = self(),
    Start = erlang:monotonic_time(millisecond),
    Pids = [spawn_link(fun() -> R = gen_tcp:accept(L, T), Me ! {T, R, erlang:monotonic_time(millisecond) - Start >= T}, timer:sleep(infinity) end) || T <- [150, 50, 100, 250]],
    t:w(accepts, [receive {T, R, Late} -> {T, R, Late} end || T <- [50, 100, 150]]),
    {ok, A} = gen_tcp:connect(?HERE, Port, [{active, false}, {sndbuf, 4096}, {high_watermark, 100}, {low_watermark, 50}, {send_timeout, 80}]),
    t:w(last, receive {250, {ok, _}, _} -> ok after 1000 -> none end),
    t:w(receives, [gen_tcp:recv(A, 0, T) || T <- [40, 1, 0, 60]]),
    spawn_link(fun() -> Me ! {received, gen_tcp:recv(A, 0, 200)} end),
    timer:sleep(10),
    Data = binary:copy(<<0>>, 10000000),
    t:w(first, gen_tcp:send(A, Data)),
    t:w(queue, element(2, erlang:port_info(A, queue_size)) > 0),
    t:w(sends, [gen_tcp:send(A, <<N>>) || N <- [1, 2]]),
    t:w(received, receive {received, R} -> R after 1000 -> none end),
    [begin unlink(Pid), exit(Pid, kill) end || Pid <- Pids],
    gen_tcp:close(A), gen_tcp:close(L),
    {ok, U} = gen_udp:open(0, [{active, false}]),
    t:w(datagrams, [gen_udp:recv(U, 0, T) || T <- [40, 1, 0, 60]]),
    gen_udp:close(U).

%% Sends that wait for each other arrive in order, also those before a close.
delayed() ->
    {A, B} = pair([]),
    ok = inet:setopts(A, [{delay_send, true}]),
    [ok = gen_tcp:send(A, <<N:16>>) || N <- lists:seq(1, 5000)],
    ok = gen_tcp:close(A),
    t:w(delayed, gen_tcp:recv(B, 10000, 5000) =:= {ok, << <<N:16>> || N <- lists:seq(1, 5000) >>}),
    t:w(closed, gen_tcp:recv(B, 0, 5000)),
    gen_tcp:close(B),
    %% A write that failed when no sender waited is told by the next send.
    {C, D} = pair([]),
    ok = inet:setopts(C, [{delay_send, true}]),
    ok = gen_tcp:close(D),
    t:w(failed, lists:last([begin timer:sleep(50), gen_tcp:send(C, "x") end || _ <- [1, 2, 3]])),
    gen_tcp:close(C).

%% Large input, delivered as it comes or as many bytes as asked for, in turn with small input.
bulk() ->
    {A, B} = pair([{buffer, 65536}]),
    Sizes = [100000, 10, 65536, 65535, 65537, 1, 4096, 4095, 200000, 3],
    Data = iolist_to_binary([binary:copy(<<N>>, Size) || {N, Size} <- lists:zip(lists:seq(1, 10), Sizes)]),
    Me = self(),
    Sender = spawn_link(fun() -> [begin ok = gen_tcp:send(A, Data), receive more -> ok end end || _ <- [1, 2, 3]], Me ! sent end),
    t:w(asked_for, iolist_to_binary([element(2, gen_tcp:recv(B, Size, 5000)) || Size <- Sizes]) =:= Data),
    Sender ! more,
    t:w(as_it_comes, some(B, byte_size(Data), []) =:= Data),
    Sender ! more,
    ok = inet:setopts(B, [{active, true}]),
    t:w(active, told(B, byte_size(Data), []) =:= Data),
    Sender ! more,
    receive sent -> ok end,
    Large = binary:copy(<<"abc">>, 100000),
    ok = gen_tcp:send(A, Large),
    Got = told(B, byte_size(Large), []),
    t:w(appended, <<Got/binary, "more">> =:= <<Large/binary, "more">>),
    gen_tcp:close(A), gen_tcp:close(B).

some(_, 0, Got) -> iolist_to_binary(lists:reverse(Got));
some(S, N, Got) -> {ok, D} = gen_tcp:recv(S, 0, 5000), some(S, N - byte_size(D), [D | Got]).

told(_, 0, Got) -> iolist_to_binary(lists:reverse(Got));
told(S, N, Got) -> receive {tcp, S, D} -> told(S, N - byte_size(D), [D | Got]) after 5000 -> {left, N} end.

%% Long lines without reading ahead, which reads them byte by byte.
bytewise() ->
    {A, B} = pair([{packet, line}, {read_ahead, false}, {buffer, 30000}]),
    Line = [binary:copy(<<"x">>, 20000), $\n],
    Me = self(),
    spawn_link(fun() -> [ok = gen_tcp:send(A, Line) || _ <- [1, 2, 3]], Me ! sent end),
    t:w(lines, [byte_size(element(2, gen_tcp:recv(B, 0, 10000))) || _ <- [1, 2, 3]]),
    receive sent -> ok end,
    gen_tcp:close(A), gen_tcp:close(B).
