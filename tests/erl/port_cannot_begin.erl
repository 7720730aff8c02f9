%% Programs that cannot begin: the port is open before that is known. And which descriptors a program has without stdio.
-module(port_cannot_begin).
-export([main/1]).

main(_) ->
    File = filename:absname(?MODULE_STRING ++ "_file"),
    ok = file:write_file(File, "text"),
    t:w(no_folder, told({spawn, "ls"}, [{cd, "/nonexistent"}, exit_status])),
    t:w(no_folder_executable, told({spawn_executable, "/bin/ls"}, [{cd, "/nonexistent"}, exit_status])),
    t:w(a_file, element(1, told({spawn, "ls"}, [{cd, File}, exit_status]))),
    t:w(a_folder, told({spawn, "pwd"}, [{cd, "/usr"}, exit_status])),
    t:w(without_status, told({spawn, "true"}, [{cd, "/nonexistent"}])),
    t:e(no_program, fun() -> open_port({spawn_executable, "/nonexistent"}, [exit_status]) end),
    t:e(no_right, fun() -> open_port({spawn_executable, File}, [exit_status]) end),
    {Status, _} = told({spawn, "true"}, [{env, [{"cannot_begin", lists:duplicate(200_000, $x)}]}, exit_status]),
    t:w(large_environment, Status > 0 andalso Status < 128),
    t:w(descriptors, [{Way, has(Way)} || Way <- [[out], [in], [in, out]]]),
    ok = file:delete(File).

%% Exit status (or end), and what was said.
told(What, Options) ->
    told(open_port(What, [eof | Options]), proplists:get_bool(exit_status, Options), none, []).

told(Port, HasStatus, Status, Said) ->
    receive
        {Port, {data, Data}} -> told(Port, HasStatus, Status, Said ++ [Data]);
        {Port, {exit_status, New}} -> told(Port, HasStatus, New, Said);
        {Port, eof} when HasStatus, Status =:= none -> receive {Port, {exit_status, Last}} -> {Last, lists:append(Said)} end;
        {Port, eof} -> {Status, lists:append(Said)}
    end.

has(Way) ->
    Out = ?MODULE_STRING ++ "_descriptors",
    Port = open_port({spawn, "sh -c '(for d in 3 4; do [ -e /proc/self/fd/$d ] && echo $d; done; echo end) > " ++ Out ++ "'"}, [nouse_stdio | Way]),
    Found = whole(Out),
    catch port_close(Port),
    ok = file:delete(Out),
    Found.

whole(Out) ->
    case file:read_file(Out) of
        {ok, Found} when Found =/= <<>>, binary_part(Found, byte_size(Found), -4) =:= <<"end\n">> -> Found;
        _ -> timer:sleep(20), whole(Out)
    end.
