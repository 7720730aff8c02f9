%% Options of sockets where stock returns bytes that nothing wrote or turns a number round (multicast_if).
-module(heddle_inet).
-export([main/1]).

main(_) ->
    {ok, A} = gen_udp:open(0, []),
    t:w(interface, {inet:setopts(A, [{multicast_if, {127, 0, 0, 1}}]), inet:getopts(A, [multicast_if])}),
    {ok, B} = gen_udp:open(0, [inet6]),
    t:w(interface_6, {inet:setopts(B, [{multicast_if, 1}]), inet:getopts(B, [multicast_if])}),
    {ok, C} = prim_inet:open(udp, local, dgram),
    t:w(local, {inet:setopts(C, [{multicast_if, {127, 0, 0, 1}}]), inet:getopts(C, [multicast_if])}),
    [gen_udp:close(S) || S <- [A, B, C]].
