%% The module socket, datagrams: addresses, control messages, truncation, errors.
-module(socket_datagram).
-export([main/1]).

main(_) ->
    {A, AddrA} = open(inet),
    {B, AddrB} = open(inet),
    ok = socket:sendto(A, <<"one">>, AddrB),
    t:w(from, begin {ok, {F, D}} = socket:recvfrom(B), {F =:= AddrA, D} end),
    ok = socket:sendto(A, <<>>, AddrB),
    t:w(empty, begin {ok, {_, E}} = socket:recvfrom(B), E end),
    ok = socket:sendto(A, <<"0123456789">>, AddrB),
    t:w(truncated, message(socket:recvmsg(B, 4, 0))),
    ok = socket:sendto(A, <<"0123456789">>, AddrB),
    t:w(short, begin {ok, {_, T}} = socket:recvfrom(B, 4), T end),
    ok = socket:connect(A, AddrB),
    ok = socket:send(A, <<"connected">>),
    t:w(connected, socket:recv(B)),
    t:w(too_long, socket:send(A, binary:copy(<<1>>, 70000))),
    [t:w(Option, socket:setopt(B, Option, true)) || Option <- [{ip, recvttl}, {ip, recvtos}, {ip, pktinfo}, {socket, timestamp}, {ip, recvorigdstaddr}]],
    ok = socket:setopt(A, {ip, ttl}, 77),
    ok = socket:setopt(A, {ip, tos}, lowdelay),
    ok = socket:send(A, <<"control">>),
    t:w(control, message(socket:recvmsg(B))),
    t:w(sent_control, socket:sendmsg(A, #{iov => [<<"c">>], ctrl => [#{level => ip, type => tos, value => throughput}, #{level => ip, type => ttl, value => 33}]})),
    t:w(control, message(socket:recvmsg(B))),
    t:w(data_control, socket:sendmsg(A, #{iov => [<<"d">>], ctrl => [#{level => ip, type => ttl, data => <<44:32/native>>}]})),
    t:w(control, message(socket:recvmsg(B))),
    t:w(control_room, begin ok = socket:send(A, <<"x">>), message(socket:recvmsg(B, 0, 20)) end),
    [t:e(Bad, fun() -> socket:sendmsg(A, Bad) end) ||
        Bad <- [#{iov => [<<"d">>], ctrl => [#{level => ip, type => ttl}]}, #{iov => [<<"d">>], ctrl => [#{level => ip, type => foo, value => 1}]},
                #{iov => [<<"d">>], ctrl => [#{level => foo, type => ttl, value => 1}]}, #{iov => [<<"d">>], ctrl => foo}, #{iov => foo},
                #{iov => [a]}, #{iov => [<<1:3>>]}, #{iov => [<<"a">> | b]}, #{}, #{iov => [], addr => foo}, foo,
                #{iov => [<<"d">>], ctrl => [#{level => ip, type => ttl, value => 1, data => <<1>>}]},
                #{iov => [<<"d">>], ctrl => [#{level => ip, type => ttl, data => binary:copy(<<1>>, 2000)}]}]],
    t:w(vector, socket:sendmsg(A, #{iov => [<<1>> || _ <- lists:seq(1, 1024)]})),
    t:w(vector, begin {ok, V} = socket:recv(B), byte_size(V) end),
    t:w(too_many, case socket:sendmsg(A, #{iov => [<<1>> || _ <- lists:seq(1, 1025)]}) of {error, {invalid, _}} = R -> R; Other -> Other end),
    %% A port at which nothing listens.
    {Gone, AddrGone} = open(inet),
    ok = socket:close(Gone),
    {C, _} = open(inet),
    ok = socket:setopt(C, {ip, recverr}, true),
    ok = socket:connect(C, AddrGone),
    ok = socket:send(C, <<"lost">>),
    t:w(refused, socket:recv(C, 0, 1000)),
    t:w(error_queue, message(socket:recvmsg(C, [errqueue], 1000))),
    six(),
    [ok = socket:close(X) || X <- [A, B, C]].

six() ->
    {A, _} = open(inet6),
    {B, AddrB} = open(inet6),
    [ok = socket:setopt(B, Option, true) || Option <- [{ipv6, recvpktinfo}, {ipv6, recvhoplimit}, {ipv6, recvtclass}]],
    ok = socket:sendmsg(A, #{addr => AddrB, iov => [<<"six">>], ctrl => [#{level => ipv6, type => hoplimit, value => 9}, #{level => ipv6, type => tclass, value => 32}]}),
    t:w(control6, message(socket:recvmsg(B))),
    [ok = socket:close(X) || X <- [A, B]].

open(Family) ->
    {ok, S} = socket:open(Family, dgram, udp),
    ok = socket:bind(S, #{family => Family, addr => loopback, port => 0}),
    {ok, Addr} = socket:sockname(S),
    {S, Addr}.

%% Sorted, and without what differs between runs.
message({ok, #{ctrl := Control} = Message}) ->
    [sort(Message#{ctrl := lists:sort([control(C) || C <- Control])})];
message(Other) -> Other.

control(#{type := timestamp, data := Data} = C) when not is_map_key(value, C) -> {timestamp, byte_size(Data)};
control(#{type := timestamp, value := #{sec := S, usec := U}}) -> {timestamp, is_integer(S), is_integer(U)};
control(#{type := origdstaddr, value := #{port := P} = A}) -> {origdstaddr, is_integer(P), sort(A)};
control(#{type := pktinfo, level := Level, value := V}) -> {pktinfo, Level, sort(V)};
control(#{type := recverr, value := V}) -> {recverr, sort(V)};
control(C) -> sort(C).

sort(Map) when is_map(Map) -> [{K, sort(V)} || {K, V} <- lists:sort(maps:to_list(Map)), K =/= port];
sort(Other) -> Other.
