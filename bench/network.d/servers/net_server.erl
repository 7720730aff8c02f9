%% The servers of bench/network. Each says on which port it listens and which process of the system it is, and runs until its input ends.
-module(net_server).
-export([main/1]).

-define(COUNT, 100).

main([Kind | _]) ->
    process_flag(trap_exit, true),
    {ok, Port} = start(list_to_atom(Kind)),
    io:format("@port ~b~n@os_pid ~s~n", [Port, os:getpid()]),
    wait_for_end(),
    _ = file:del_dir_r(httpd_root()),
    halt(0).

httpd_root() -> filename:join("/tmp", "heddle-httpd-" ++ os:getpid()).

wait_for_end() ->
    case io:get_line("") of
        eof -> ok;
        {error, _} -> ok;
        "memory" ++ _ ->
            [garbage_collect(Process) || Process <- processes()],
            io:format("@memory ~b~n", [erlang:memory(total)]),
            wait_for_end();
        _ -> wait_for_end()
    end.

start(udp) ->
    {ok, Socket} = gen_udp:open(0, [binary, {active, ?COUNT}, {ip, {127, 0, 0, 1}}, {recbuf, 1048576}, {sndbuf, 1048576}]),
    Server = spawn_link(fun() -> receive go -> echo_datagrams(Socket) end end),
    ok = gen_udp:controlling_process(Socket, Server),
    Server ! go,
    inet:port(Socket);
start(socket) ->
    {ok, Listener} = socket:open(inet, stream, tcp),
    ok = socket:setopt(Listener, {socket, reuseaddr}, true),
    ok = socket:bind(Listener, #{family => inet, addr => {127, 0, 0, 1}, port => 0}),
    ok = socket:listen(Listener, 4096),
    {ok, #{port := Port}} = socket:sockname(Listener),
    spawn_link(fun() -> accept_sockets(Listener) end),
    {ok, Port};
start(httpd) ->
    {ok, _} = application:ensure_all_started(inets),
    Root = httpd_root(),
    ok = filelib:ensure_dir(filename:join(Root, "x")),
    ok = file:write_file(filename:join(Root, "index.html"), binary:copy(<<"0123456789abcdef">>, 8)),
    {ok, Server} = inets:start(httpd, [{port, 0}, {bind_address, {127, 0, 0, 1}}, {server_name, "bench"}, {server_root, Root},
                                       {document_root, Root}, {directory_index, ["index.html"]}, {max_clients, 20000},
                                       {max_keep_alive_request, 1000000000}, {modules, [mod_alias, mod_dir, mod_get, mod_head]}]),
    [{port, Port}] = httpd:info(Server, [port]),
    {ok, Port};
start(cowboy) ->
    {ok, _} = application:ensure_all_started(cowboy),
    Dispatch = cowboy_router:compile([{'_', [{"/", net_cowboy, []}]}]),
    {ok, _} = cowboy:start_clear(bench, #{socket_opts => [{port, 0}, {ip, {127, 0, 0, 1}}, {backlog, 4096}], max_connections => infinity},
                                 #{env => #{dispatch => Dispatch}, max_keepalive => infinity, idle_timeout => infinity}),
    {ok, ranch:get_port(bench)};
start(tls) ->
    {ok, _} = application:ensure_all_started(ssl),
    Made = [{key, {namedCurve, secp256r1}}, {digest, sha256}],
    Chain = #{root => Made, intermediates => [], peer => Made},
    #{server_config := Certificates} = public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    {ok, Listener} = ssl:listen(0, [{versions, ['tlsv1.3']}, {session_tickets, disabled}, binary, {active, false}, {backlog, 4096}, {reuseaddr, true},
                                    {nodelay, true}, {ip, {127, 0, 0, 1}}, {log_level, none} | Certificates]),
    [spawn_link(fun() -> accept_tls(Listener) end) || _ <- lists:seq(1, 4)],
    {ok, {_, Port}} = ssl:sockname(Listener),
    {ok, Port};
start(Mode) ->
    Active = case Mode of once -> once; count -> ?COUNT; passive -> false end,
    {ok, Listener} = gen_tcp:listen(0, [binary, {active, false}, {backlog, 4096}, {reuseaddr, true}, {nodelay, true}, {ip, {127, 0, 0, 1}}]),
    [spawn_link(fun() -> accept(Listener, Active) end) || _ <- lists:seq(1, 4)],
    inet:port(Listener).

accept(Listener, Active) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Server = spawn(fun() -> receive go -> serve(Socket, Active) end end),
    ok = gen_tcp:controlling_process(Socket, Server),
    Server ! go,
    accept(Listener, Active).

serve(Socket, false) ->
    receive_and_send(Socket);
serve(Socket, Active) ->
    ok = inet:setopts(Socket, [{active, Active}]),
    echo(Socket, Active).

echo(Socket, Active) ->
    receive
        {tcp, Socket, Data} ->
            ok = gen_tcp:send(Socket, Data),
            case Active of
                once -> inet:setopts(Socket, [{active, once}]);
                _ -> ok
            end,
            echo(Socket, Active);
        {tcp_passive, Socket} ->
            inet:setopts(Socket, [{active, Active}]),
            echo(Socket, Active);
        {tcp_closed, Socket} -> ok;
        {tcp_error, Socket, _} -> gen_tcp:close(Socket)
    end.

receive_and_send(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Data} ->
            _ = gen_tcp:send(Socket, Data),
            receive_and_send(Socket);
        {error, _} -> gen_tcp:close(Socket)
    end.

%% The handshake is made by the process that serves the connection.
accept_tls(Listener) ->
    {ok, Accepted} = ssl:transport_accept(Listener),
    Server = spawn(fun() -> receive go -> serve_tls(ssl:handshake(Accepted)) end end),
    ok = ssl:controlling_process(Accepted, Server),
    Server ! go,
    accept_tls(Listener).

serve_tls({ok, Socket}) -> tls_echo(Socket);
serve_tls({error, _}) -> ok.

tls_echo(Socket) ->
    case ssl:recv(Socket, 0) of
        {ok, Data} ->
            _ = ssl:send(Socket, Data),
            tls_echo(Socket);
        {error, _} -> ssl:close(Socket)
    end.

accept_sockets(Listener) ->
    {ok, Socket} = socket:accept(Listener),
    ok = socket:setopt(Socket, {tcp, nodelay}, true),
    Server = spawn(fun() -> receive go -> socket_echo(Socket) end end),
    ok = socket:setopt(Socket, {otp, controlling_process}, Server),
    Server ! go,
    accept_sockets(Listener).

socket_echo(Socket) ->
    case socket:recv(Socket, 0) of
        {ok, Data} ->
            _ = socket:send(Socket, Data),
            socket_echo(Socket);
        {error, _} -> socket:close(Socket)
    end.

echo_datagrams(Socket) ->
    receive
        {udp, Socket, Address, Port, Data} ->
            _ = gen_udp:send(Socket, Address, Port, Data),
            echo_datagrams(Socket);
        {udp_passive, Socket} ->
            ok = inet:setopts(Socket, [{active, ?COUNT}]),
            echo_datagrams(Socket)
    end.
