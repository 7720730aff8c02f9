%% The dump that halt("text") writes has a section for each process, port, table and module, which name what they should.
-module(crash_dump).
-export([main/1, child/0]).

main(_) ->
    Dump = filename:join(t:tmp(crash_dump), "dump"),
    {Erl, First} = t:emulator(),
    Port = open_port({spawn_executable, Erl},
                     [{args, First ++ ["-noshell", "-pa", filename:dirname(code:which(?MODULE)), "-run", "crash_dump", "child"]},
                      {env, [{"ERL_CRASH_DUMP", Dump}, {"HEDDLE_OTP", code:root_dir()},
                            {"ERL_CRASH_DUMP_SECONDS", false}, {"ERL_CRASH_DUMP_BYTES", false}]}, exit_status, stderr_to_stdout, binary]),
    t:w(status, t:exit_status(Port, 20000)),
    {ok, Text} = file:read_file(Dump),
    Sections = [binary:split(S, <<"\n">>) || S <- binary:split(Text, <<"\n=">>, [global])],
    Of = fun(Kind, Line) ->
             length([x || [Head, Body] <- Sections, hd(binary:split(Head, <<":">>)) =:= Kind,
                          lists:member(Line, binary:split(Body, <<"\n">>, [global]))])
         end,
    t:w(slogan, lists:member(<<"Slogan: the end">>, binary:split(Text, <<"\n">>, [global]))),
    t:w(named, [Of(<<"proc">>, L) || L <- [<<"Name: child_process">>, <<"State: Waiting">>]] =/= [0, 0]),
    t:w(queued, Of(<<"proc">>, <<"Message queue length: 3">>)),
    t:w(table, Of(<<"ets">>, <<"Name: child_table">>)),
    t:w(port, lists:any(fun([Head | _]) -> hd(binary:split(Head, <<":">>)) =:= <<"port">> end, Sections)),
    t:w(module, [Head || [Head | _] <- Sections, Head =:= <<"mod:lists">>]),
    t:w(complete, binary:longest_common_suffix([Text, <<"\n=end\n">>])).

child() ->
    ets:new(child_table, [named_table, public]),
    open_port({spawn, "cat"}, []),
    Pid = spawn(fun() -> receive stop -> ok end end),
    register(child_process, Pid),
    [Pid ! N || N <- [1, 2, 3]],
    timer:sleep(100),
    halt("the end").
