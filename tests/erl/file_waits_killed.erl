%% A process that waits for the system in a native (to open a pipe that nothing writes to) answers and ends as any other: a process that checks for
%% old code, purges it, or kills the process does not wait for the native.
-module(file_waits_killed).
-export([main/1]).

main(_) ->
    Fifo = "/tmp/file_waits_killed." ++ os:getpid(),
    "" = os:cmd("mkfifo " ++ Fifo),
    M = file_waits_killed_m,
    load(M),
    {P, Ref} = spawn_monitor(fun() -> register(waits_in_old_code, self()), M:f(Fifo) end),
    waits(P),
    load(M),
    io:format("~p~n", [erlang:check_process_code(P, M)]),
    io:format("~p~n", [code:soft_purge(M)]),
    io:format("~p~n", [code:purge(M)]),
    io:format("~p ~p ~p~n", [ended(P, Ref), is_process_alive(P), whereis(waits_in_old_code)]),
    {Q, RefQ} = spawn_monitor(fun() -> file:open(Fifo, [read, raw]) end),
    waits(Q),
    {message_queue_len, 0} = process_info(Q, message_queue_len),
    Q ! hello,
    io:format("~p~n", [process_info(Q, [message_queue_len, status])]),
    exit(Q, enough),
    io:format("~p~n", [ended(Q, RefQ)]),
    %% Both threads come back.
    "" = os:cmd("exec 3> " ++ Fifo),
    ok = file:delete(Fifo).

load(M) ->
    Open = {call, 1, {remote, 1, {atom, 1, file}, {atom, 1, open}}, [{var, 1, 'X'}, erl_parse:abstract([read, raw])]},
    Forms = [{attribute, 1, module, M}, {attribute, 1, export, [{f, 1}]},
             {function, 1, f, 1, [{clause, 1, [{var, 1, 'X'}], [], [Open, {atom, 1, done}]}]}],
    {ok, M, Bin} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "m", Bin).

waits(P) ->
    case process_info(P, [current_function, status]) of
        [{_, {prim_file, open_nif, 2}}, {_, running}] -> ok;
        _ -> receive after 1 -> waits(P) end
    end.

ended(P, Ref) ->
    receive {'DOWN', Ref, process, P, Reason} -> Reason end.
