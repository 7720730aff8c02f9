%% Every option of stream and datagram sockets, set and read, in both states and for each family.
-module(inet_options).
-export([main/1]).

main(_) ->
    [sockets(F) || F <- [inet, inet6, local]],
    priorities(), multicast(), raw(), interfaces(), names().

sockets(Family) ->
    [begin
         {ok, S} = open(Kind, Family),
         t:w({Family, Kind, first_values}, [{O, inet:getopts(S, [O])} || O <- readable()]),
         [t:w({Family, Kind, O, V}, {inet:setopts(S, [{O, V}]), inet:getopts(S, [O])}) || {O, V} <- values()],
         close(Kind, S)
     end || Kind <- [tcp, udp]].

open(tcp, Family) -> prim_inet:open(tcp, Family, stream);
open(udp, Family) -> prim_inet:open(udp, Family, dgram).
close(_, S) -> prim_inet:close(S).

%% Those whose first values depend on nothing of the computer.
readable() ->
    [reuseaddr, reuseport, reuseport_lb, exclusiveaddruse, keepalive, dontroute, broadcast, linger, priority, tos, tclass, ttl, nodelay, nopush,
     multicast_ttl, multicast_loop, buffer, header, active, packet, packet_size, mode, deliver, exit_on_close, high_watermark,
     low_watermark, high_msgq_watermark, low_msgq_watermark, send_timeout, send_timeout_close, delay_send, read_packets, netns,
     show_econnreset, line_delimiter, bind_to_device, recvtos, recvtclass, recvttl, read_ahead, non_block_send, debug].

values() ->
    [{reuseaddr, true}, {reuseport, true}, {reuseport, false}, {exclusiveaddruse, true}, {keepalive, true}, {dontroute, true}, {broadcast, true},
     {linger, {true, 3}}, {linger, {false, 0}}, {priority, 3}, {priority, 100}, {tos, 16}, {tos, 1000}, {tclass, 32}, {ttl, 3}, {ttl, 1000},
     {nodelay, true}, {nopush, true}, {multicast_ttl, 4}, {multicast_loop, false}, {ipv6_v6only, true}, {buffer, 100}, {buffer, 0},
     {recbuf, 4096}, {header, 2}, {packet, 4}, {packet, line}, {packet, raw}, {packet_size, 1000}, {mode, binary}, {mode, list},
     {deliver, port}, {deliver, term}, {exit_on_close, false}, {high_watermark, 1000}, {low_watermark, 2000}, {high_watermark, 500},
     {high_watermark, -1}, {low_watermark, 10}, {high_msgq_watermark, 0}, {high_msgq_watermark, 5000}, {low_msgq_watermark, 4000},
     {send_timeout, 10}, {send_timeout, infinity}, {send_timeout_close, true}, {delay_send, true}, {read_packets, 3}, {read_packets, 0},
     {show_econnreset, true}, {line_delimiter, $x}, {bind_to_device, <<>>}, {bind_to_device, <<"nonesuch">>}, {recvtos, true},
     {recvtclass, true}, {recvttl, true}, {read_ahead, false}, {non_block_send, true}, {active, 5}, {active, -5}, {active, 7},
     {active, false}, {active, true}, {active, once}, {active, false}].

%% Type of service and priority keep their own values.
priorities() ->
    {ok, S} = open(tcp, inet),
    [begin
         R = inet:setopts(S, Options),
         t:w({priorities, Options}, {R, inet:getopts(S, [tos, priority])})
     end || Options <- [[{tos, 8}], [{priority, 4}], [{tos, 16}], [{nodelay, true}], [{priority, 2}, {tos, 24}], [{tos, 0}]]],
    close(tcp, S).

multicast() ->
    Group = {224, 0, 0, 251},
    {ok, A} = gen_udp:open(0, [{reuseaddr, true}, {ip, {0, 0, 0, 0}}, {active, false}]),
    {ok, Port} = inet:port(A),
    t:w(interface, inet:setopts(A, [{multicast_if, {127, 0, 0, 1}}])),
    t:w(join, [inet:setopts(A, [{add_membership, M}]) || M <- [{Group, {127, 0, 0, 1}}, {Group, {127, 0, 0, 1}}, {{1, 2, 3, 4}, {127, 0, 0, 1}}]]),
    {ok, B} = gen_udp:open(0, [{multicast_if, {127, 0, 0, 1}}, {multicast_loop, true}, {multicast_ttl, 1}, {ip, {127, 0, 0, 1}}]),
    t:w(send, gen_udp:send(B, Group, Port, "to all")),
    t:w(received, case gen_udp:recv(A, 0, 2000) of {ok, {IP, _, D}} -> {IP, D}; O -> O end),
    t:w(leave, inet:setopts(A, [{drop_membership, {Group, {127, 0, 0, 1}}}])),
    ok = gen_udp:send(B, Group, Port, "to all"),
    t:w(not_received, gen_udp:recv(A, 0, 50)),
    t:w(wrong_family, inet:setopts(A, [{add_membership, {{16#ff02, 0, 0, 0, 0, 0, 0, 16#fb}, 1}}])),
    {ok, C} = gen_udp:open(0, [inet6, {active, false}]),
    t:w(six, {inet:setopts(C, [{add_membership, {{16#ff02, 0, 0, 0, 0, 0, 0, 16#fb}, 1}}])}),
    [gen_udp:close(S) || S <- [A, B, C]].

raw() ->
    {ok, S} = open(udp, inet),
    t:w(set, [inet:setopts(S, [{raw, 1, 6, <<1:32/native>>}]), inet:setopts(S, [{raw, 1, 9999, <<1:32/native>>}])]),
    t:w(get, [inet:getopts(S, [{raw, 1, 6, N}]) || N <- [4, 2, <<0:32>>, 65536 - 14, 65536 - 13, 65537]]),
    t:w(several, inet:getopts(S, [{raw, 1, 6, 4}, broadcast, {raw, 1, 9999, 4}, mode])),
    t:w(packet_options, [begin {ok, X} = open(K, F), R = inet:getopts(X, [pktoptions]), close(K, X), {K, F, R} end ||
                            K <- [tcp, udp], F <- [inet, inet6, local]]),
    close(udp, S),
    t:w(closed, {inet:getopts(S, [broadcast]), inet:setopts(S, [{broadcast, true}])}),
    t:w(namespace, [gen_udp:open(0, [{netns, Path}]) || Path <- ["/nonesuch", "/etc/passwd"]]),
    t:w(namespace_of_interfaces, inet:getifaddrs([{netns, "/nonesuch"}])),
    %% Only a privileged program may enter one, also its own.
    case gen_udp:open(0, [{netns, "/proc/self/ns/net"}]) of
        {ok, N} -> t:w(entered, {inet:getopts(N, [netns]), element(1, inet:getifaddrs([{netns, "/proc/self/ns/net"}])), gen_udp:close(N)});
        {error, eperm} -> t:w(entered, {{ok, [{netns, "/proc/self/ns/net"}]}, ok, ok})
    end.

interfaces() ->
    {ok, All} = inet:getifaddrs(),
    {ok, S} = open(udp, inet),
    {"lo", Lo} = lists:keyfind("lo", 1, All),
    t:w(loopback, [{K, V} || {K, V} <- Lo, K =/= hwaddr, V =/= {0, 0, 0, 0, 0, 0, 0, 1}, V =/= {65535, 65535, 65535, 65535, 65535, 65535, 65535, 65535}]),
    t:w(hardware, proplists:get_value(hwaddr, Lo)),
    {ok, Names} = inet:getiflist(),
    t:w(listed, lists:member("lo", Names)),
    t:w(known, [N || N <- Names, not lists:keymember(N, 1, All)]),
    t:w(get, inet:ifget("lo", [addr, netmask, flags, mtu, hwaddr])),
    t:w(none, inet:ifget("nonesuch", [addr, netmask, flags, mtu, hwaddr, broadaddr, dstaddr])),
    t:w(option, inet:ifget("lo", [nonsense])),
    t:w(set, {prim_inet:ifset(S, "nonesuch", [{mtu, 100}]), prim_inet:ifset(S, "nonesuch", [{flags, [up]}])}),
    close(udp, S).

names() ->
    t:w(service, [inet:getservbyname(N, P) || {N, P} <- [{"http", tcp}, {"domain", udp}, {nonesuch, tcp}, {"", tcp}]]),
    {ok, S} = open(tcp, inet),
    t:w(port, [prim_inet:getservbyport(S, N, P) || {N, P} <- [{80, tcp}, {53, udp}, {1, sctp}]]),
    close(tcp, S),
    {ok, Host} = inet:gethostname(),
    t:w(host, [] =/= Host).
