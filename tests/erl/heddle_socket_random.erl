%% Random arguments to the natives of sockets themselves, past the Erlang code that checks: an error or a result, and the VM goes on.
-module(heddle_socket_random).
-export([main/1]).

main(_) ->
    _ = rand:seed(exsss, 20261126),
    Natives = [{M, F, A} || M <- [prim_socket, prim_net], {F, A} <- natives(M)],
    Results = [call(N) || _ <- lists:seq(1, 150), N <- Natives],
    t:w(natives, length(Natives)),
    t:w(kinds, lists:usort(Results)),
    t:flush(),
    {ok, A} = socket:open(inet, dgram, udp),
    ok = socket:bind(A, #{family => inet, addr => loopback, port => 0}),
    {ok, Addr} = socket:sockname(A),
    t:w(still, {socket:sendto(A, <<"alive">>, Addr), socket:recv(A)}).

natives(prim_socket) ->
    [{nif_accept, 2}, {nif_bind, 2}, {nif_cancel, 3}, {nif_close, 1}, {nif_command, 1}, {nif_connect, 1}, {nif_connect, 3}, {nif_finalize_close, 1},
     {nif_getopt, 3}, {nif_getopt, 4}, {nif_info, 1}, {nif_ioctl, 2}, {nif_ioctl, 3}, {nif_ioctl, 4}, {nif_listen, 2}, {nif_open, 2}, {nif_open, 4},
     {nif_peername, 1}, {nif_recv, 4}, {nif_recvfrom, 4}, {nif_recvmsg, 5}, {nif_send, 4}, {nif_sendfile, 1}, {nif_sendfile, 4}, {nif_sendfile, 5},
     {nif_sendmsg, 5}, {nif_sendto, 5}, {nif_sendv, 3}, {nif_setopt, 5}, {nif_shutdown, 2}, {nif_sockname, 1}, {nif_supports, 1}];
natives(prim_net) ->
    [{nif_command, 1}, {nif_getifaddrs, 1}, {nif_getnameinfo, 2}, {nif_getservbyname, 2}, {nif_getservbyport, 2}, {nif_if_index2name, 1}, {nif_if_name2index, 1}].

call({M, F, A}) ->
    Args = case M of
               prim_socket when F =/= nif_open, F =/= nif_command, F =/= nif_supports -> [socket() | [value() || _ <- lists:seq(2, A)]];
               _ -> [value() || _ <- lists:seq(1, A)]
           end,
    try apply(M, F, Args) of
        {error, _} -> error;
        {invalid, _} -> error;
        _ -> result
    catch
        error:badarg -> badarg;
        error:{invalid, _} -> invalid;
        error:{select_read, _} -> invalid;
        error:{select_write, _} -> invalid;
        error:Reason -> {F, A, Reason}
    end.

socket() ->
    case rand:uniform(4) of
        1 -> value();
        _ ->
            {ok, {'$socket', S}} = socket:open(one_of([inet, inet6, local]), one_of([stream, dgram])),
            S
    end.

one_of(List) -> lists:nth(rand:uniform(length(List)), List).

value() ->
    case rand:uniform(40) of
        N when N =< 8 -> one_of([a, ok, select, recv, send, accept, connect, zero, default, socket, otp, read, write, integer, options, debug]);
        N when N =< 16 -> one_of([0, 1, 2, 3, 5, 7, 41, 255, 1000, 1004, 1009, -1, 1 bsl 31, 1 bsl 32, 1 bsl 59, -(1 bsl 59), 1 bsl 64, 1 bsl 90, 35090, 35091, 21531]);
        N when N =< 18 -> 1.5;
        N when N =< 21 -> bytes();
        22 -> <<5:3>>;
        N when N =< 24 -> make_ref();
        25 -> self();
        26 -> "nonesuch";
        27 -> [value() | value()];
        N when N =< 29 -> [value() || _ <- lists:seq(1, rand:uniform(3))];
        N when N =< 31 -> {value(), value()};
        N when N =< 36 -> maps:from_list([{one_of([family, addr, port, path, flowinfo, scope_id, level, type, data, value, ctrl, command, netns, multiaddr, interface]), value()} || _ <- lists:seq(1, rand:uniform(4))]);
        _ -> one_of([#{family => inet, addr => loopback, port => 1}, #{family => local, path => <<>>}, #{family => 77, addr => <<1, 2, 3>>}, #{family => inet6, addr => any, port => 0, flowinfo => 0, scope_id => 0}])
    end.

bytes() -> << <<(rand:uniform(256) - 1)>> || _ <- lists:seq(1, rand:uniform(40)) >>.
