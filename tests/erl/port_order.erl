%% What one process has a port do is done in the order in which it asked: commands, whichever way they come, then the close, the exit
%% signal, or the end of the process. What was sent before the end still goes out, however slowly it is read.
-module(port_order).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    many(),
    [last(Way) || Way <- [close, port_close, exit, owner_ends]],
    connect(),
    asks().

%% Many senders, one port that is busy most of the time.
many() ->
    Port = open_port({spawn, "cat"}, [binary, {packet, 2}]),
    Me = self(),
    Pad = binary:copy(<<0>>, 300),
    Senders = 20,
    Each = 100,
    [spawn_link(fun() -> [send(Port, Me, I, <<S, I:16, Pad/binary>>) || I <- lists:seq(1, Each)] end) || S <- lists:seq(1, Senders)],
    Got = [receive {Port, {data, <<S, I:16, _/binary>>}} -> {S, I} end || _ <- lists:seq(1, Senders * Each)],
    t:w(in_order, lists:usort([[I || {T, I} <- Got, T =:= S] =:= lists:seq(1, Each) || S <- lists:seq(1, Senders)])),
    port_close(Port),
    t:flush().

send(Port, Owner, I, Data) when I rem 2 =:= 0 -> Port ! {Owner, {command, Data}};
send(Port, _, _, Data) -> port_command(Port, Data).

%% More than a pipe takes, to a program that reads late.
last(Way) ->
    File = filename:join(t:tmp(port_order), "out"),
    Me = self(),
    Data = binary:copy(<<"0123456789">>, 30_000),
    {_, Monitor} = spawn_monitor(fun() ->
        Port = open_port({spawn, "sh -c 'sleep 0.3; cat > " ++ File ++ "'"}, [binary, out]),
        Me ! {port, Port, monitor(port, Port)},
        port_command(Port, Data),
        end_it(Way, Port)
    end),
    receive {port, Port, _} -> ok end,
    Gone = monitor(port, Port),
    receive {'DOWN', Monitor, process, _, _} -> ok end,
    receive {'DOWN', Gone, port, Port, _} -> ok end,
    t:w({Way, written}, t:wait_until(fun() -> file:read_file(File) =:= {ok, Data} end)),
    t:w({Way, listed}, t:wait_until(fun() -> not lists:member(Port, erlang:ports()) end)),
    file:del_dir_r(filename:dirname(File)),
    t:flush().

end_it(close, Port) ->
    Port ! {self(), close},
    receive {Port, closed} -> ok end;
end_it(port_close, Port) ->
    unlink(Port),
    port_close(Port);
end_it(exit, Port) ->
    unlink(Port),
    exit(Port, stop);
end_it(owner_ends, _) ->
    ok.

%% From the next command on, a new owner counts.
connect() ->
    Port = open_port({spawn, "cat"}, [binary, {packet, 1}]),
    Me = self(),
    Heir = spawn_link(fun() -> receive {Port, {data, D}} -> Me ! {heir, D} end, receive stop -> ok end end),
    Port ! {self(), {command, <<"mine">>}},
    t:w(mine, receive {Port, {data, D}} -> D end),
    Port ! {self(), {connect, Heir}},
    Port ! {Heir, {command, <<"its">>}},
    t:w(connected, receive {Port, connected} -> ok end),
    t:w(heir, receive {heir, D2} -> D2 end),
    t:w(owner, erlang:port_info(Port, connected) =:= {connected, Heir}),
    %% If a process names another one as the owner, the owner hears of it.
    Port ! {self(), {command, <<"not any more">>}},
    t:w(badsig, receive {'EXIT', Heir, Why} -> Why after 5000 -> none end),
    t:w(output, erlang:port_info(Port, output)),
    Third = spawn(fun() -> receive stop -> ok end end),
    t:w(port_connect, erlang:port_connect(Port, Third)),
    t:w(links, lists:sort(element(2, erlang:port_info(Port, links))) =:= lists:sort([self(), Third])),
    Third ! stop,
    t:w(gone, t:wait_until(fun() -> erlang:port_info(Port) =:= undefined end)),
    t:w(exit, receive {'EXIT', Port, Reason} -> Reason after 5000 -> none end),
    t:flush().

%% Answers are of the moment after what was asked before.
asks() ->
    Port = open_port({spawn, "cat"}, [binary]),
    t:w(output, lists:usort([begin
        Port ! {self(), {command, <<"12345">>}},
        erlang:port_info(Port, output) =:= {output, N * 5}
    end || N <- lists:seq(1, 500)])),
    Port ! {self(), close},
    t:w(closed, {erlang:port_info(Port), catch port_command(Port, "x")} =/= {undefined, true}),
    t:e(command_after_close, fun() -> port_command(Port, "x") end),
    t:w(end_of_it, receive {Port, closed} -> ok after 5000 -> none end).
