%% Where and whether a crash dump is written, and how large it becomes, say the variables that the program set last.
-module(crash_dump_settings).
-export([main/1]).

main(_) ->
    Dump = filename:join(t:tmp(crash_dump_settings), "dump"),
    Variables = [[], [{bytes, 1000}], [{bytes, 0}], [{bytes, '10k'}], [{seconds, 0}], [{seconds, 20}], [{seconds, -1}]],
    [t:p(V, dump(Dump, [], V)) || V <- Variables],
    %% A program waits to start the emulator again, and is told how long it may take.
    [t:p({heart, V}, dump(Dump, ["-heart"], V)) || V <- [[], [{seconds, 20}]]].

dump(Dump, Flags, Variables) ->
    _ = file:delete(Dump),
    {Erl, First} = t:emulator(),
    Set = [{"ERL_CRASH_DUMP", Dump} | [{"ERL_CRASH_DUMP_" ++ string:uppercase(atom_to_list(Name)), lists:concat([Value])} || {Name, Value} <- Variables]],
    Code = lists:flatten(io_lib:format("[os:putenv(Name, Value) || {Name, Value} <- ~p], halt(\"the end\").", [Set])),
    Port = open_port({spawn_executable, Erl},
                     [{args, First ++ ["-noshell" | Flags] ++ ["-eval", Code]},
                      {env, [{"HEDDLE_OTP", code:root_dir()}, {"ERL_CRASH_DUMP_SECONDS", false}, {"ERL_CRASH_DUMP_BYTES", false}]},
                      exit_status, stderr_to_stdout, binary]),
    Status = t:exit_status(Port, 60000),
    case file:read_file(Dump) of
        {ok, Text} -> {Status, whole_or_cut(Text), byte_size(Text) < 1100};
        {error, Reason} -> {Status, Reason}
    end.

whole_or_cut(Text) ->
    case lists:last(binary:split(Text, <<"\n=">>, [global])) of
        <<"end\n">> -> whole;
        <<"abort:", Why/binary>> -> Why
    end.
