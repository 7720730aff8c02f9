%% Runs many test programs in one emulator, one after the other: each in a process of its own, under a group leader
%% that keeps what it prints. Called as: -run batch main OUT_DIR TIMEOUT_MS NAME...
%%
%% For the runner, a line `@begin NAME` precedes and `@end NAME STATUS` follows each program, where STATUS is the exit
%% code it would have had, or `hang`. The output is in OUT_DIR/NAME.out by the time the second line is printed.
-module(batch).
-export([main/1]).

main([Dir, Timeout | Names]) ->
    lists:foreach(fun(Name) -> program(Dir, list_to_integer(Timeout), Name) end, Names),
    tell("@done\n"),
    erlang:halt(0).

tell(Line) -> io:put_chars(user, Line).

program(Dir, Timeout, Name) ->
    tell(["@begin ", Name, "\n"]),
    Module = list_to_atom(Name),
    Leader = spawn(fun() -> leader([]) end),
    {Pid, Monitor} = spawn_monitor(
        fun() ->
            group_leader(Leader, self()),
            try Module:main([])
            catch Class:Reason:Stack ->
                io:format("EXCEPTION ~tw:~tp~n~tp~n", [Class, Reason, Stack]),
                exit(failed)
            end
        end),
    Status = receive
                 {'DOWN', Monitor, process, Pid, normal} -> "0";
                 {'DOWN', Monitor, process, Pid, _} -> "1"
             after Timeout ->
                 tell_place(Leader, Pid),
                 exit(Pid, kill),
                 "hang"
             end,
    Leader ! {finish, self()},
    Output = receive {output, Leader, O} -> O end,
    tidy(Leader),
    ok = file:write_file(filename:join(Dir, Name ++ ".out"), Output),
    tell(["@end ", Name, " ", Status, "\n"]).

%% Adds to the output where the program stands. (The process that asks waits no longer than 10 s: what hangs may not answer.)
tell_place(Leader, Pid) ->
    Ps = [Pid | [P || P <- processes(), P =/= Pid, process_info(P, group_leader) =:= {group_leader, Leader}]],
    {Asker, Monitor} = spawn_monitor(fun() ->
        group_leader(Leader, self()),
        [io:format("~tp: ~0tP~n", [P, process_info(P, [status, current_stacktrace, message_queue_len, messages]), 60]) || P <- lists:sublist(Ps, 5)]
    end),
    receive {'DOWN', Monitor, process, Asker, _} -> ok after 10000 -> exit(Asker, kill) end.

%% What the program left running has its group leader, and must not disturb the next one.
tidy(Leader) ->
    [exit(P, kill) || P <- processes(), process_info(P, group_leader) =:= {group_leader, Leader}],
    exit(Leader, kill).

%% The server side of the I/O protocol, for output only. Data is kept in reverse.
leader(Data) ->
    receive
        {io_request, From, ReplyAs, Request} ->
            {Reply, More} = request(Request),
            From ! {io_reply, ReplyAs, Reply},
            leader([More | Data]);
        {finish, From} ->
            From ! {output, self(), lists:reverse(Data)},
            leader([]);
        _ -> leader(Data)
    end.

request({put_chars, Encoding, Chars}) -> put_chars(Encoding, Chars);
request({put_chars, Encoding, M, F, A}) ->
    try put_chars(Encoding, apply(M, F, A)) catch _:_ -> {{error, F}, []} end;
request({requests, Requests}) ->
    lists:foldl(fun(R, {ok, Data}) -> {Reply, More} = request(R), {Reply, [Data, More]};
                   (_, Failed) -> Failed
                end, {ok, []}, Requests);
request({setopts, _}) -> {ok, []};
request(getopts) -> {[{binary, false}, {encoding, unicode}], []};
request({get_geometry, _}) -> {{error, enotsup}, []};
request(Input) when element(1, Input) =:= get_line; element(1, Input) =:= get_chars; element(1, Input) =:= get_until ->
    {eof, []};
request(_) -> {{error, request}, []}.

put_chars(Encoding, Chars) ->
    case unicode:characters_to_binary(Chars, Encoding) of
        Bin when is_binary(Bin) -> {ok, Bin};
        _ -> {{error, put_chars}, []}
    end.
