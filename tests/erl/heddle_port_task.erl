%% A port is a native task with the identity of a port: what it tells of itself, and that it is neither a process nor a type to start.
-module(heddle_port_task).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    Port = open_port({spawn, "cat"}, [binary]),
    t:w(info, heddle_task:info(Port)),
    t:w(types, maps:is_key(port, heddle_task:types())),
    t:e(start, fun() -> heddle_task:start(port, none) end),
    t:e(process_info, fun() -> process_info(Port, task) end),
    t:e(suspend, fun() -> erlang:suspend_process(Port) end),
    File = filename:join(t:tmp(heddle_port_task), "go"),
    Busy = open_port({spawn, "sh -c 'while [ -d " ++ filename:dirname(File) ++ " ]; do sleep 0.05; done'"}, [binary, out]),
    port_command(Busy, binary:copy(<<"a">>, 100_000)),
    #{info := #{queue_size := Queued}} = heddle_task:info(Busy),
    t:w(queued, {queue_size, Queued} =:= erlang:port_info(Busy, queue_size)),
    Sender = spawn(fun() -> port_command(Busy, "x") end),
    receive after 100 -> ok end,
    t:w(waits, is_process_alive(Sender)),
    %% It closes, and is there until all is written or the program is gone.
    port_close(Busy),
    t:w(closed, receive {'EXIT', Busy, Why} -> Why after 5000 -> none end),
    t:w(closing, is_map(heddle_task:info(Busy))),
    t:e(command, fun() -> port_command(Busy, "x") end),
    t:e(close, fun() -> port_close(Busy) end),
    t:w(sender, t:wait_until(fun() -> not is_process_alive(Sender) end)),
    file:del_dir_r(filename:dirname(File)),
    t:w(gone, t:wait_until(fun() -> erlang:port_info(Busy) =:= undefined end)),
    port_close(Port),
    t:w(gone, heddle_task:info(Port)).
