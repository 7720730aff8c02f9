%% Datagram sockets on the loopback interface: sending, passive and active receives, connections, errors, local sockets.
-module(udp_datagrams).
-export([main/1]).

-define(HERE, {127, 0, 0, 1}).

main(_) ->
    passive(), waiting(), active(), counted(), headers(), connected(), refused(), six(), local(), ancillary(), large(), statistics(), many(),
    borrowed().

open(Options) ->
    {ok, S} = gen_udp:open(0, [{ip, ?HERE}, {active, false} | Options]),
    {ok, Port} = inet:port(S),
    {S, Port}.

passive() ->
    {A, PA} = open([]), {B, PB} = open([binary]),
    t:w(send, {gen_udp:send(A, ?HERE, PB, "hello"), gen_udp:send(A, {?HERE, PB}, <<"there">>), gen_udp:send(A, localhost, PB, ["a", [$b]])}),
    t:w(received, [recv(B, PA) || _ <- [1, 2, 3]]),
    t:w(empty, {gen_udp:send(B, ?HERE, PA, <<>>), recv(A, PB)}),
    t:w(list, {gen_udp:send(B, ?HERE, PA, <<"list">>), recv(A, PB)}),
    t:w(timeout, {gen_udp:recv(A, 0, 0), gen_udp:recv(A, 0, 20)}),
    t:w(length_means_nothing, {gen_udp:send(B, ?HERE, PA, <<"abc">>), gen_udp:recv(A, 1) =:= {ok, {?HERE, PB, "abc"}}}),
    t:w(no_destination, gen_udp:send(A, "x")),
    t:w(too_large, gen_udp:send(A, ?HERE, PB, binary:copy(<<0>>, 70000))),
    t:w(wrong_family, gen_udp:send(A, {0, 0, 0, 0, 0, 0, 0, 1}, PB, "x")),
    t:w(port_0, gen_udp:send(A, ?HERE, 0, "x")),
    t:w(names, {element(1, inet:sockname(A)), inet:peername(A)}),
    t:w(in_use, gen_udp:open(PA, [{ip, ?HERE}])),
    t:w(status, {prim_inet:getstatus(A), prim_inet:gettype(A), erlang:port_info(A, name)}),
    t:w(closed, {gen_udp:close(A), gen_udp:recv(A, 0, 10), gen_udp:send(A, ?HERE, PB, "x"), inet:sockname(A), gen_udp:close(A)}),
    gen_udp:close(B).

recv(S, From) ->
    case gen_udp:recv(S, 0, 2000) of
        {ok, {IP, From, Data}} -> {ok, {IP, from, Data}};
        Other -> Other
    end.

%% A process that waits.
waiting() ->
    {A, PA} = open([]), {B, _} = open([]),
    Me = self(),
    Waiter = spawn_link(fun() -> Me ! {got, gen_udp:recv(A, 0)}, receive stop -> ok end end),
    timer:sleep(30),
    t:w(busy, gen_udp:recv(A, 0, 10)),
    t:w(send, gen_udp:send(B, ?HERE, PA, "late")),
    t:w(got, receive {got, {ok, {?HERE, _, D}}} -> D after 2000 -> none end),
    Waiter ! stop,
    spawn_link(fun() -> Me ! {got, gen_udp:recv(A, 0)} end),
    timer:sleep(30),
    gen_udp:close(A),
    t:w(closed_meanwhile, receive {got, R} -> R after 2000 -> none end),
    gen_udp:close(B).

active() ->
    {A, PA} = open([binary]), {B, PB} = open([]),
    ok = gen_udp:send(B, ?HERE, PA, "1"), ok = gen_udp:send(B, ?HERE, PA, "2"), ok = gen_udp:send(B, ?HERE, PA, "3"),
    ok = inet:setopts(A, [{active, once}]),
    t:w(once, {message(A, PB), inet:getopts(A, [active]), message(A, PB, 20)}),
    ok = inet:setopts(A, [{active, true}]),
    t:w(rest, [message(A, PB), message(A, PB)]),
    t:w(not_passive, gen_udp:recv(A, 0, 10)),
    ok = inet:setopts(A, [{active, false}]),
    ok = gen_udp:send(B, ?HERE, PA, "4"),
    t:w(passive_again, {message(A, PB, 20), recv(A, PB)}),
    ok = inet:setopts(A, [{deliver, port}, {active, true}]),
    ok = gen_udp:send(B, ?HERE, PA, "5"),
    t:w(as_port, receive {A, {data, <<1, _, _, 127, 0, 0, 1, D/binary>>}} -> D after 2000 -> none end),
    gen_udp:close(A), gen_udp:close(B).

message(S, From) -> message(S, From, 2000).
message(S, From, Time) ->
    receive
        {udp, S, IP, From, Data} -> {udp, IP, from, Data};
        {udp_passive, S} -> passive;
        {udp_error, S, E} -> {error, E}
    after Time -> nothing
    end.

counted() ->
    {A, PA} = open([]), {B, PB} = open([]),
    t:w(set, [inet:setopts(A, [{active, N}]) || N <- [2, 1, -1]]),
    t:w(count, inet:getopts(A, [active])),
    [ok = gen_udp:send(B, ?HERE, PA, [C]) || C <- "abc"],
    t:w(two_and_passive, [message(A, PB), message(A, PB), message(A, PB), message(A, PB, 20)]),
    t:w(left, recv(A, PB)),
    t:w(below, {inet:setopts(A, [{active, 3}]), inet:setopts(A, [{active, -5}]), message(A, PB), inet:getopts(A, [active])}),
    t:w(too_much, {inet:setopts(A, [{active, 32767}]), inet:setopts(A, [{active, 1}]), inet:setopts(A, [{active, false}])}),
    gen_udp:close(A), gen_udp:close(B).

headers() ->
    {A, PA} = open([binary, {header, 2}]), {B, PB} = open([]),
    [begin
         ok = gen_udp:send(B, ?HERE, PA, D),
         t:w({header, D}, recv(A, PB))
     end || D <- ["", "a", "ab", "abc"]],
    ok = inet:setopts(A, [{active, true}]),
    [begin
         ok = gen_udp:send(B, ?HERE, PA, D),
         t:w({active_header, D}, message(A, PB))
     end || D <- ["", "a", "ab", "abc"]],
    gen_udp:close(A), gen_udp:close(B).

connected() ->
    {A, PA} = open([]), {B, PB} = open([]), {C, _} = open([]),
    t:w(connect, {gen_udp:connect(A, ?HERE, PB), inet:peername(A) =:= {ok, {?HERE, PB}}, prim_inet:getstatus(A)}),
    t:w(send, {gen_udp:send(A, "to peer"), recv(B, PA)}),
    ok = gen_udp:send(C, ?HERE, PA, "from another"),
    t:w(only_the_peer, {gen_udp:recv(A, 0, 30), gen_udp:send(B, ?HERE, PA, "from peer"), recv(A, PB)}),
    t:w(again, {gen_udp:connect(A, #{family => inet, addr => ?HERE, port => PB}), gen_udp:send(A, "x"), element(1, gen_udp:recv(B, 0, 2000))}),
    t:w(bad, [gen_udp:connect(A, {0, 0, 0, 0, 0, 0, 0, 1}, PB), element(1, inet:peername(A))]),
    [gen_udp:close(S) || S <- [A, B, C]].

%% An error comes with a later receive.
refused() ->
    {A, PA} = open([]), {B, PB} = open([]),
    ok = gen_udp:close(B),
    ok = gen_udp:connect(A, ?HERE, PB),
    t:w(send, gen_udp:send(A, "x")),
    t:w(refused, {gen_udp:recv(A, 0, 500), gen_udp:recv(A, 0, 20)}),
    ok = gen_udp:send(A, "y"),
    ok = inet:setopts(A, [{active, true}]),
    t:w(refused, message(A, PA)),
    t:w(goes_on, inet:getopts(A, [active])),
    gen_udp:close(A).

six() ->
    case gen_udp:open(0, [inet6, {ip, loopback}, {active, false}]) of
        {ok, A} ->
            {ok, {IP, PA}} = inet:sockname(A),
            t:w(ip, IP),
            {ok, B} = gen_udp:open(0, [inet6, {ip, {0, 0, 0, 0, 0, 0, 0, 1}}, {active, true}, binary]),
            {ok, PB} = inet:port(B),
            ok = gen_udp:send(A, {0, 0, 0, 0, 0, 0, 0, 1}, PB, "six"),
            t:w(active, message(B, PA)),
            ok = gen_udp:send(B, IP, PA, "back"),
            t:w(passive, recv(A, PB)),
            gen_udp:close(A), gen_udp:close(B);
        Other -> t:w(six, Other)
    end.

local() ->
    Dir = t:tmp(udp_datagrams),
    [PA, PB] = [filename:join(Dir, N) || N <- ["a", "b"]],
    {ok, A} = gen_udp:open(0, [{ifaddr, {local, PA}}, {active, false}]),
    {ok, B} = gen_udp:open(0, [{ifaddr, {local, PB}}, {active, true}, binary]),
    ok = gen_udp:send(A, {local, PB}, 0, "to b"),
    t:w(active, receive {udp, B, {local, From}, 0, D} -> {filename:basename(From), D} after 2000 -> none end),
    ok = gen_udp:send(B, {local, PA}, "to a"),
    t:w(passive, case gen_udp:recv(A, 0, 2000) of {ok, {{local, F2}, 0, D2}} -> {filename:basename(F2), D2}; O -> O end),
    {ok, C} = gen_udp:open(0, [local, {active, false}]),
    ok = gen_udp:send(C, {local, PA}, 0, "unnamed"),
    t:w(unnamed, gen_udp:recv(A, 0, 2000)),
    ok = gen_udp:send(C, {local, PB}, 0, "unnamed"),
    t:w(unnamed, receive {udp, B, F3, P3, D3} -> {F3, P3, D3} after 2000 -> none end),
    t:w(nothing_there, gen_udp:send(A, {local, filename:join(Dir, "none")}, 0, "x")),
    t:w(too_long, gen_udp:send(A, {local, lists:duplicate(200, $x)}, 0, "x")),
    [gen_udp:close(S) || S <- [A, B, C]].

ancillary() ->
    {A, PA} = open([{recvtos, true}, {recvttl, true}]), {B, PB} = open([]),
    ok = inet:setopts(B, [{tos, 16}, {ttl, 7}]),
    ok = gen_udp:send(B, ?HERE, PA, "x"),
    t:w(passive, with(gen_udp:recv(A, 0, 2000))),
    ok = gen_udp:send(B, {?HERE, PA}, [{tos, 32}, {ttl, 9}], "y"),
    t:w(for_one, with(gen_udp:recv(A, 0, 2000))),
    ok = inet:setopts(A, [{active, true}, {mode, binary}, {recvtos, false}]),
    ok = gen_udp:send(B, ?HERE, PA, "z"),
    t:w(active, receive {udp, A, IP, PB, Anc, D} -> {IP, lists:sort(Anc), D} after 2000 -> none end),
    t:w(not_to_send, {gen_udp:send(B, {?HERE, PA}, [{recbuf, 1}], "x"), gen_udp:send(B, {?HERE, PA}, [{tos, 1}, {tos, 2}, {ttl, 3}], "x")}),
    gen_udp:close(A), gen_udp:close(B).

with({ok, {IP, _, Anc, D}}) -> {IP, lists:sort(Anc), D};
with(Other) -> Other.

%% A datagram that is larger than the buffer is cut.
large() ->
    {A, PA} = open([binary, {recbuf, 200000}]), {B, _} = open([{sndbuf, 200000}]),
    t:w(buffer, inet:getopts(A, [buffer])),
    D = binary:copy(<<"abcdefgh">>, 7500),
    ok = gen_udp:send(B, ?HERE, PA, D),
    t:w(whole, case gen_udp:recv(A, 0, 2000) of {ok, {_, _, D}} -> same; Other -> Other end),
    ok = inet:setopts(A, [{buffer, 10}]),
    ok = gen_udp:send(B, ?HERE, PA, D),
    t:w(cut, case gen_udp:recv(A, 0, 2000) of {ok, {_, _, Cut}} -> Cut; Else -> Else end),
    gen_udp:close(A), gen_udp:close(B).

statistics() ->
    {A, PA} = open([]), {B, PB} = open([]),
    [begin ok = gen_udp:send(B, ?HERE, PA, lists:duplicate(N, $x)), {ok, _} = gen_udp:recv(A, 0) end || N <- [10, 20, 60]],
    t:w(received, inet:getstat(A, [recv_cnt, recv_max, recv_avg, recv_oct, recv_dvi, send_cnt])),
    t:w(sent, inet:getstat(B, [send_cnt, send_max, send_avg, send_oct, send_pend, recv_cnt])),
    t:w(subscribe, port_control(A, 16#03f1a300 + 24, [1])),
    t:w(owner, {gen_udp:controlling_process(A, self()), erlang:port_info(A, connected) =:= {connected, self()}}),
    t:w(peer, {inet:setpeername(A, {?HERE, 1}), inet:peername(A), inet:setsockname(A, {{1, 2, 3, 4}, 5}), inet:sockname(A)}),
    t:w(peer, {inet:setsockname(A, undefined), inet:sockname(A) =:= {ok, {?HERE, PA}}, PB > 0}),
    gen_udp:close(A), gen_udp:close(B).

%% A process for each of many sockets, and one that answers all.
many() ->
    {S, Port} = open([binary, {active, true}, {recbuf, 1 bsl 20}]),
    Me = self(),
    [spawn_link(fun() ->
                        {C, _} = open([binary]),
                        Sum = lists:sum([begin
                                             ok = gen_udp:send(C, ?HERE, Port, <<(N * I):32>>),
                                             {ok, {_, _, <<M:32>>}} = gen_udp:recv(C, 0, 5000),
                                             M
                                         end || I <- lists:seq(1, 20)]),
                        gen_udp:close(C),
                        Me ! {sum, Sum}
                end) || N <- lists:seq(1, 20)],
    t:w(sum, collect(S, 20, 0)),
    gen_udp:close(S).

collect(_, 0, Sum) -> Sum;
collect(S, N, Sum) ->
    receive
        {udp, S, IP, P, <<M:32>>} -> ok = gen_udp:send(S, IP, P, <<(M * 2):32>>), collect(S, N, Sum);
        {sum, M} -> collect(S, N - 1, Sum + M)
    after 10000 -> {timeout, N}
    end.

%% A descriptor that the program already has.
borrowed() ->
    {A, PA} = open([]), {B, PB} = open([]),
    {ok, Fd} = prim_inet:getfd(A),
    {ok, A2} = gen_udp:open(0, [{fd, Fd}, {active, false}]),
    t:w(same, inet:port(A2) =:= {ok, PA}),
    ok = gen_udp:send(B, ?HERE, PA, "through the other port"),
    t:w(received, recv(A2, PB)),
    ok = gen_udp:close(A2),
    ok = gen_udp:send(B, ?HERE, PA, "still open"),
    t:w(received, recv(A, PB)),
    t:w(no_descriptor, gen_udp:open(0, [{fd, 9999}])),
    gen_udp:close(A), gen_udp:close(B).
