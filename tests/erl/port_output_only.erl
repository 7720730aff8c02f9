%% A port with output alone is not told that its program ended: it ends when output fails.
-module(port_output_only).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [io:format("~p ~p~n", [Options, try_one(Options)]) ||
        Options <- [[out], [out, exit_status], [out, eof], [out, eof, exit_status], [in], [in, exit_status], [eof, exit_status]]].

try_one(Options) ->
    Port = open_port({spawn, "true"}, Options),
    %% A port that reads may have ended already.
    case erlang:port_info(Port, os_pid) of
        {os_pid, Pid} -> gone(Pid, 100);
        undefined -> ok
    end,
    timer:sleep(50),
    Before = messages(Port),
    Is = erlang:port_info(Port, name),
    catch port_command(Port, "more"),
    timer:sleep(50),
    {Before, Is, messages(Port)}.

%% Until the program has been waited for.
gone(Pid, N) ->
    case filelib:is_file("/proc/" ++ integer_to_list(Pid)) of
        true when N > 0 -> timer:sleep(20), gone(Pid, N - 1);
        _ -> ok
    end.

messages(Port) ->
    receive
        {Port, What} -> [What | messages(Port)];
        {'EXIT', Port, Reason} -> [{exit, Reason} | messages(Port)]
    after 0 -> []
    end.
