%% Packets that have all come before the socket becomes active: each is delivered, however many there are.
-module(tcp_waiting_packets).
-export([main/1]).

main(_) ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {packet, 4}, {ip, {127, 0, 0, 1}}, {buffer, 1024}]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {packet, 4}]),
    {ok, S} = gen_tcp:accept(L),
    t:w(packets, [packets(C, S, N) || N <- lists:seq(1, 20)]),
    t:w(one_by_one, [one_by_one(C, S, N) || N <- [7, 8, 9]]),
    [ok = gen_tcp:close(X) || X <- [C, S, L]].

send(C, N) ->
    [ok = gen_tcp:send(C, binary:copy(<<I>>, 4000)) || I <- lists:seq(1, N)],
    %% They are in the socket's buffer, of the system.
    timer:sleep(20).

packets(C, S, N) ->
    send(C, N),
    ok = inet:setopts(S, [{active, N}]),
    Got = [receive {tcp, S, <<I, _/binary>> = Data} -> {I, byte_size(Data)} after 5000 -> none end || _ <- lists:seq(1, N)],
    receive {tcp_passive, S} -> ok end,
    Got =:= [{I, 4000} || I <- lists:seq(1, N)].

one_by_one(C, S, N) ->
    send(C, N),
    [I || _ <- lists:seq(1, N), {ok, <<I, _/binary>>} <- [gen_tcp:recv(S, 0, 5000)]].
