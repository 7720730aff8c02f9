%% A port whose program does not read is busy when much is queued: a process that sends then waits, or is told, and goes on when there is room, or
%% when the port ends.
-module(port_busy).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    told(),
    waits(),
    closed(),
    killed(),
    limits().

%% A program that reads nothing until it is told to, and a port full of data.
full(Options) ->
    File = filename:join(t:tmp(list_to_atom("port_busy" ++ integer_to_list(erlang:unique_integer([positive])))), "go"),
    Port = open_port({spawn, "sh -c 'while [ -d " ++ filename:dirname(File) ++ " -a ! -e " ++ File ++ " ]; do sleep 0.05; done; cat > /dev/null'"}, [binary | Options]),
    true = port_command(Port, binary:copy(<<"a">>, 200_000)),
    {Port, File}.

go(File) -> file:write_file(File, "").

%% The program has seen it, or is gone.
clear(File) -> file:del_dir_r(filename:dirname(File)).

told() ->
    {Port, File} = full([out]),
    t:w(queued, element(2, erlang:port_info(Port, queue_size)) > 8192),
    t:w(nosuspend, port_command(Port, "x", [nosuspend])),
    t:w(send_nosuspend, erlang:send(Port, {self(), {command, "x"}}, [nosuspend])),
    t:e(force, fun() -> port_command(Port, "x", [force]) end),
    t:w(output, erlang:port_info(Port, output)),
    go(File),
    t:w(room, t:wait_until(fun() -> port_command(Port, "x", [nosuspend]) end)),
    t:w(output, erlang:port_info(Port, output)),
    exit(Port, kill),
    clear(File),
    t:flush().

waits() ->
    {Port, File} = full([out]),
    Me = self(),
    Before = erlang:system_monitor(Me, [busy_port]),
    Senders = [spawn_link(fun() -> send(Port, Me, N), Me ! {self(), done} end) || N <- lists:seq(1, 10)],
    t:w(monitored, lists:usort([receive {monitor, S, busy_port, Port} -> ok after 5000 -> none end || S <- Senders])),
    erlang:system_monitor(Before),
    t:w(waiting, [S || S <- Senders, receive {S, done} -> true after 0 -> false end]),
    go(File),
    t:w(done, lists:usort([receive {S, done} -> ok after 5000 -> none end || S <- Senders])),
    t:w(all_sent, t:wait_until(fun() -> erlang:port_info(Port, output) =:= {output, 200_010} end)),
    exit(Port, kill),
    clear(File),
    t:flush().

send(Port, Owner, N) when N rem 2 =:= 0 -> Port ! {Owner, {command, "y"}};
send(Port, _, _) -> port_command(Port, "y").

%% The port ends while they wait.
closed() ->
    {Port, File} = full([out]),
    Me = self(),
    Senders = [spawn(fun() -> Me ! {self(), catch begin send(Port, Me, N), ok end} end) || N <- lists:seq(1, 4)],
    receive after 100 -> ok end,
    exit(Port, kill),
    Results = [receive {S, {'EXIT', {Why, _}}} -> Why; {S, Ok} -> Ok after 5000 -> none end || S <- Senders],
    t:w(closed, Results),
    go(File),
    t:flush().

%% A process that waits can be killed, and its command is not sent.
killed() ->
    {Port, File} = full([out]),
    {Sender, Monitor} = spawn_monitor(fun() -> port_command(Port, "yyy") end),
    receive after 100 -> ok end,
    exit(Sender, kill),
    t:w(killed, receive {'DOWN', Monitor, process, Sender, Why} -> Why end),
    go(File),
    t:w(empty, t:wait_until(fun() -> erlang:port_info(Port, queue_size) =:= {queue_size, 0} end)),
    t:w(output, erlang:port_info(Port, output)),
    port_close(Port),
    clear(File),
    t:flush().

%% Limits of its own.
limits() ->
    {Port, File} = full([out, {busy_limits_port, {1_000_000, 2_000_000}}]),
    t:w(not_busy, port_command(Port, "x", [nosuspend])),
    exit(Port, kill),
    go(File),
    {Never, File2} = full([out, {busy_limits_port, disabled}]),
    t:w(never_busy, port_command(Never, binary:copy(<<"a">>, 3_000_000), [nosuspend])),
    t:w(never_busy, port_command(Never, "x", [nosuspend])),
    exit(Never, kill),
    go(File2),
    [t:e(Wrong, fun() -> open_port({spawn, "cat"}, [Wrong]) end)
     || Wrong <- [{busy_limits_port, {0, 1}}, {busy_limits_port, 1}, {busy_limits_msgq, {1, disabled}}]],
    clear(File),
    clear(File2),
    t:flush().
