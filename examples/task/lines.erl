%% The Erlang side of lines.rs: starts tasks of the type `lines`, links to them, monitors, asks and looks at them.
-module(lines).
-export([main/1]).

main(_) ->
    #{lines := #{level := 18}} = heddle_task:types(),
    Dir = "/tmp/heddle_lines_" ++ os:getpid(),
    ok = file:make_dir(Dir),
    try
        file(filename:join(Dir, "file")),
        fifo(filename:join(Dir, "fifo")),
        errors(Dir)
    after
        file:del_dir_r(Dir)
    end.

%% A regular file: all its lines, in order, and then the end. It is larger than what is read at a time.
file(Path) ->
    Lines = [integer_to_binary(I * I * I) || I <- lists:seq(1, 20000)],
    ok = file:write_file(Path, [lists:join($\n, Lines), "\nthe rest"]),
    {ok, {Task, Monitor}} = heddle_task:start(lines, #{path => Path, to => self()}, [monitor]),
    Got = collect(Task, Monitor),
    io:format("file: ~p, last ~p~n", [lists:droplast(Got) =:= Lines, lists:last(Got)]).

collect(Task, Monitor) ->
    receive
        {line, Task, Line} -> [Line | collect(Task, Monitor)];
        {'DOWN', Monitor, process, Task, normal} -> []
    end.

%% A FIFO: lines come as a process writes them; meanwhile the task counts, is asked, looked at, and ended.
fifo(Path) ->
    [] = os:cmd("mkfifo " ++ Path),
    process_flag(trap_exit, true),
    Writer = open_port({spawn, "cat > " ++ Path}, [out, stream, binary]),
    {ok, Task} = heddle_task:start_link(lines, #{path => Path, to => self(), every => 20}, [{name, reader}]),
    port_command(Writer, <<"one\ntw">>),
    io:format("fifo: ~p~n", [receive {line, Task, One} -> One end]),
    port_command(Writer, <<"o\n">>),
    io:format("fifo: ~p~n", [receive {line, Task, Two} -> Two end]),
    reader ! {count, self()},
    io:format("count: ~p~n", [receive {count, Task, Count} -> Count end]),
    receive {lines, Task, 2} -> io:format("told by the clock~n") end,
    io:format("info: ~kp~n", [heddle_task:info(Task)]),
    io:format("listed: ~p ~p~n", [lists:member(Task, processes()), process_info(Task, [registered_name, initial_call, priority])]),
    exit(Task, enough),
    receive {stopped, Task, 2} -> ok end,
    receive {'EXIT', Task, Reason} -> io:format("ended: ~p, ~p~n", [Reason, whereis(reader)]) end,
    port_close(Writer),
    %% It links itself to the process that it reads for, and ends with that process. No process writes here.
    Silent = Path ++ "_silent",
    [] = os:cmd("mkfifo " ++ Silent),
    {Pid, Monitor} = spawn_monitor(fun() -> heddle_task:start(lines, #{path => Silent, to => self()}, [{name, reader}]), receive stop -> ok end end),
    Other = wait_for(reader),
    TaskMonitor = monitor(process, Other),
    exit(Pid, gone),
    receive {'DOWN', Monitor, process, Pid, _} -> ok end,
    receive {'DOWN', TaskMonitor, process, Other, Why} -> io:format("with its process: ~p~n", [Why]) end.

wait_for(Name) ->
    case whereis(Name) of
        undefined -> timer:sleep(1), wait_for(Name);
        Pid -> case process_info(Pid, links) of {links, [_ | _]} -> Pid; _ -> timer:sleep(1), wait_for(Name) end
    end.

errors(Dir) ->
    io:format("~p~n", [heddle_task:start(lines, #{path => Dir, to => self(), every => often})]),
    {error, {open, Text}} = heddle_task:start(lines, #{path => filename:join(Dir, "nothing"), to => self()}),
    io:format("~s~n", [Text]),
    try heddle_task:start(line, #{})
    catch error:badarg -> io:format("no type `line`~n")
    end.
