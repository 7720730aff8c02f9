%% The program heart runs a command when the emulator has ended without saying so, and not when it has said so.
-module(heart_starts_again).
-export([main/1]).

main(_) ->
    File = filename:join(t:tmp(heart_starts_again), "ran"),
    Command = "echo again >> " ++ File,
    t:p(halt, ends(File, "halt(7)", [{"HEART_COMMAND", Command}])),
    t:p(stop, ends(File, "init:stop(7)", [{"HEART_COMMAND", Command}])),
    t:p(killed, ends(File, "os:cmd(\"kill -9 \" ++ os:getpid())", [{"HEART_COMMAND", Command}])),
    t:p(set_by_the_program, ends(File, "ok = heart:set_cmd(\"" ++ Command ++ "\"), {ok, Set} = heart:get_cmd(), halt(length(Set) - length(\"" ++ Command ++ "\"))", [])),
    t:p(cleared, ends(File, "ok = heart:set_cmd(\"x\"), ok = heart:clear_cmd(), {ok, Set} = heart:get_cmd(), halt(length(Set))",
                      [{"HEART_COMMAND", false}])),
    %% It is in a session of its own, so no signal of the emulator's terminal reaches it.
    t:p(session, ends(File, "{os_pid, Pid} = erlang:port_info(whereis(heart_port), os_pid), "
                            "halt(list_to_integer(string:trim(os:cmd(\"ps -o sid= -p \" ++ integer_to_list(Pid)))) - Pid)", [{"HEART_COMMAND", false}])).

%% The exit status, what heart said of its end, and what the command wrote.
ends(File, Code, Env) ->
    ok = file:write_file(File, ""),
    {Erl, First} = t:emulator(),
    %% All data has come when both programs have ended.
    Script = "exec 2>/dev/null; { \"$@\" 2>&1; echo \"status $?\"; } | cat",
    Port = open_port({spawn_executable, "/bin/sh"},
                     [{args, ["-c", Script, "sh", Erl | First ++ ["-noshell", "-heart", "-eval", Code ++ "."]]},
                      {env, [{"HEDDLE_OTP", code:root_dir()} | Env]}, exit_status, binary]),
    Said = said(Port, <<>>),
    {match, [Status]} = re:run(Said, "status ([0-9]+)", [{capture, all_but_first, list}]),
    Words = case re:run(Said, "heart: [^\r]*: (Executed|Would reboot)", [{capture, all_but_first, list}]) of
                {match, [W]} -> W;
                nomatch -> nothing
            end,
    {Status, Words, element(2, file:read_file(File))}.

said(Port, Said) ->
    receive
        {Port, {exit_status, _}} -> Said;
        {Port, {data, Data}} -> said(Port, <<Said/binary, Data/binary>>)
    after 60000 -> <<Said/binary, "status 999">>
    end.
