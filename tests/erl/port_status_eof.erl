-module(port_status_eof).
-export([main/1]).

%% With `exit_status` and `eof` the status comes first: programs close the port at `eof` and still wait for the status.
main(_) ->
    [io:format("~w ~p~n", [N, run("echo " ++ integer_to_list(N) ++ "; exit " ++ integer_to_list(N))]) || N <- lists:seq(0, 9)],
    io:format("~p~n", [run("exec >&-; sleep 0.1; exit 3")]),
    io:format("~p~n", [run("(sleep 0.2; echo late) & exit 4")]).

run(Command) ->
    Port = open_port({spawn, "sh -c '" ++ Command ++ "'"}, [exit_status, eof, in]),
    collect(Port).

collect(Port) ->
    receive
        {Port, eof} -> [eof];
        {Port, What} -> [What | collect(Port)]
    after 5000 -> [timeout]
    end.
