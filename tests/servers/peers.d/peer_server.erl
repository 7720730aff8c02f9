%% Servers and clients of ssl and ssh for tests/servers/peers. Each says `@port N` or `@got ...`, and runs until its input ends.
-module(peer_server).
-export([main/1]).

main([Kind, Folder | Rest]) ->
    _ = [{ok, _} = application:ensure_all_started(Application) || Application <- [ssl, ssh]],
    start(Kind, Folder, Rest),
    until_end:wait(),
    halt(0).

%% Echoes what comes over TLS (or DTLS) of one version. The last byte of the input is a line feed.
start("tls", Folder, [Version]) ->
    listen([{versions, [list_to_atom(Version)]} | keys(Folder)]);
start("dtls", Folder, [Version]) ->
    listen([{protocol, dtls}, {versions, [list_to_atom(Version)]} | keys(Folder)]);
start("tls_client_certificate", Folder, []) ->
    listen([{verify, verify_peer}, {fail_if_no_peer_cert, true}, {cacertfile, filename:join(Folder, "authority.pem")} | keys(Folder)]);
%% A client of another server: sends a line and says what comes back.
start("tls_client", Folder, [Port, Version]) ->
    {ok, Socket} = ssl:connect("localhost", list_to_integer(Port),
                               [binary, {active, false}, {packet, line}, {versions, [list_to_atom(Version)]}, {verify, verify_peer},
                                {cacertfile, filename:join(Folder, "authority.pem")}]),
    ok = ssl:send(Socket, "olleh\n"),
    {ok, Line} = ssl:recv(Socket, 0),
    {ok, [{protocol, Protocol}]} = ssl:connection_information(Socket, [protocol]),
    io:format("@got ~s ~s", [Protocol, Line]),
    ok = ssl:close(Socket);
start("ssh", Folder, []) ->
    {ok, Daemon} = ssh:daemon({127, 0, 0, 1}, 0, [{system_dir, Folder}, {user_dir, Folder}, {auth_methods, "publickey"},
                                                   {subsystems, [ssh_sftpd:subsystem_spec([{cwd, Folder}])]}]),
    {ok, Info} = ssh:daemon_info(Daemon),
    io:format("@port ~b~n", [proplists:get_value(port, Info)]).

keys(Folder) ->
    [{certfile, filename:join(Folder, "certificate.pem")}, {keyfile, filename:join(Folder, "key.pem")}].

listen(Options) ->
    {ok, Listener} = ssl:listen(0, [binary, {active, false}, {reuseaddr, true}, {ip, {127, 0, 0, 1}} | Options]),
    {ok, {_, Port}} = ssl:sockname(Listener),
    io:format("@port ~b~n", [Port]),
    spawn_link(fun() -> accept(Listener) end).

accept(Listener) ->
    {ok, Transport} = ssl:transport_accept(Listener),
    spawn(fun() ->
        case ssl:handshake(Transport, 10000) of
            {ok, Socket} -> echo(Socket);
            {error, Reason} -> io:format("@refused ~p~n", [Reason])
        end
    end),
    accept(Listener).

echo(Socket) ->
    case ssl:recv(Socket, 0) of
        {ok, Data} ->
            ok = ssl:send(Socket, Data),
            echo(Socket);
        {error, _} -> ok
    end.
