%% Requests to the drivers of sockets that no library makes: random bytes to each operation, in each state. Each is answered by a list, or by
%% `badarg`, and the socket goes on or ends with an error; the VM lives.
-module(inet_requests).
-export([main/1]).

-define(MAGIC, 16#03f1a300).

main(_) ->
    process_flag(trap_exit, true),
    rand:seed(exsss, {1, 2, 3}),
    t:w(short, [{Driver, request(Driver, Op, <<>>)} || Driver <- ["tcp_inet", "udp_inet"], Op <- [1, 3, 6, 13, 17, 18, 22, 26, 27, 29, 30, 45, 60]]),
    t:w(opened, [{D, O, request(D, 1, O)} || D <- ["tcp_inet", "udp_inet"], O <- [[1, 1], [1, 2], [9, 1], [1, 9], [1, 2, 3], [5, 2]]]),
    [random(Kind) || Kind <- [tcp_closed, tcp, listener, connection, udp_closed, udp, connected_udp, local]],
    t:w(lives, [begin {ok, S} = gen_udp:open(0), gen_udp:close(S) end || _ <- [1, 2]]).

request(Driver, Op, Data) ->
    P = open_port({spawn_driver, Driver}, [binary]),
    R = try port_control(P, ?MAGIC + Op, Data) of
            [0 | Error] -> Error;
            Other -> Other
        catch error:E -> E
        end,
    catch port_close(P),
    R.

random(Kind) ->
    Answers = [begin
                   S = socket(Kind),
                   %% Descriptors of the VM itself are not taken over (13), and no open file is sent (45).
                   Op = case rand:uniform(70) of 13 -> 14; 45 -> 44; N -> N end,
                   Data = [rand:uniform(256) - 1 || _ <- lists:seq(1, rand:uniform(24) - 1)],
                   A = answer(S, Op, case Op of 60 -> [0, 0, 0, 0 | Data]; 42 -> [0, 0, 0, 0 | Data]; _ -> Data end),
                   command(S, Data),
                   catch port_close(S),
                   t:flush(),
                   A
               end || _ <- lists:seq(1, 400)],
    t:w({random, Kind}, lists:usort([A || A <- Answers, A =/= ok, A =/= error, A =/= badarg])).

answer(S, Op, Data) ->
    try port_control(S, ?MAGIC + Op, Data) of
        [0 | Error] -> case lists:all(fun(C) -> C >= $a andalso C =< $z orelse C >= $0 andalso C =< $9 end, Error) of
                           true -> error;
                           false -> {odd, Error}
                       end;
        [1 | _] -> ok;
        Other -> {odd, Other}
    catch error:badarg -> badarg
    end.

command(S, Data) ->
    try port_command(S, Data) catch error:badarg -> ok end.

socket(tcp_closed) -> open_port({spawn_driver, "tcp_inet"}, [binary]);
socket(udp_closed) -> open_port({spawn_driver, "udp_inet"}, [binary]);
socket(tcp) -> {ok, S} = prim_inet:open(tcp, inet, stream), S;
socket(udp) -> {ok, S} = prim_inet:open(udp, inet, dgram), S;
socket(local) -> {ok, S} = prim_inet:open(udp, local, dgram), S;
socket(listener) -> {ok, S} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), S;
socket(connected_udp) -> {ok, S} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]), ok = gen_udp:connect(S, {127, 0, 0, 1}, 9), S;
socket(connection) ->
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [{active, false}]),
    gen_tcp:close(L),
    S.
