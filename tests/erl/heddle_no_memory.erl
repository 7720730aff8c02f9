%% A block that the system refuses ends the machine with one line, which says how large it was and what for, and a crash dump.
-module(heddle_no_memory).
-export([main/1]).

main(_) ->
    Dir = t:tmp(?MODULE),
    Dump = filename:join(Dir, "dump"),
    {Program, Arguments} = t:emulator(),
    %% As much address space as it has, and 200 MB more; a list of 800 MB.
    Code = "{ok, T} = file:read_file(\"/proc/self/statm\"), [Pages | _] = binary:split(T, <<\" \">>),"
           "Max = integer_to_list(binary_to_integer(Pages) * 4096 + 200000000),"
           "os:cmd(\"prlimit --pid \" ++ os:getpid() ++ \" --as=\" ++ Max), length(lists:seq(1, 50000000)), io:format(\"made~n\"), halt(0).",
    Port = open_port({spawn_executable, Program},
                     [{args, Arguments ++ ["-noinput", "-boot", "start_clean", "-eval", Code]}, {env, [{"ERL_CRASH_DUMP", Dump}, {"ERL_CRASH_DUMP_BYTES", false}, {"HEDDLE_ZEAL", false}]},
                      exit_status, stderr_to_stdout, binary]),
    {Status, Said} = collect(Port, <<>>),
    Lines = binary:split(Said, [<<"\r\n">>, <<"\n">>], [global, trim_all]),
    io:format("status ~p, ~p lines~n", [Status, length(Lines)]),
    {match, [Bytes]} = re:run(hd(Lines), "^heddle: cannot allocate ([0-9]+) bytes of memory \\(of type \"heap\"\\)$", [{capture, all_but_first, list}]),
    io:format("large ~p~n", [list_to_integer(Bytes) > 1000000]),
    {ok, Text} = file:read_file(Dump),
    [io:format("~s ~p~n", [Part, binary:match(Text, Part) =/= nomatch]) || Part <- [<<"Slogan: heddle: cannot allocate">>, <<"=memory">>, <<"=proc:">>, <<"=end">>]],
    ok = file:del_dir_r(Dir).

collect(Port, Said) ->
    receive
        {Port, {data, More}} -> collect(Port, <<Said/binary, More/binary>>);
        {Port, {exit_status, Status}} -> {Status, Said}
    end.
