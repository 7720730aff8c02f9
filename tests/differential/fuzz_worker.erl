%% Runs programs and writes down what they gave: -run fuzz_worker main DIR OUT TIMEOUT_MS NAME...
%%
%% OUT/NAME.out has for each of the program's calls its value or exception (with stack trace, and as the shell would print
%% it), then messages and dictionary that were left behind; OUT/NAME.end how it ended, once it has.
-module(fuzz_worker).
-export([main/1]).

main([Dir, Out, Timeout, Names]) ->
    [program(Dir, Out, list_to_integer(Timeout), Name) || Name <- string:lexemes(Names, ",")],
    halt(0).

program(Dir, Out, Timeout, Name) ->
    Module = list_to_atom(Name),
    ok = file:write_file(filename:join(Out, "running"), Name),
    {ok, Beam} = file:read_file(filename:join(Dir, Name ++ ".beam")),
    Self = self(),
    Leader = group_leader(),
    %% A group leader of its own tells what it started from everything else; its output goes nowhere.
    Sink = spawn(fun sink/0),
    {Pid, Monitor} = spawn_monitor(
        fun() ->
            group_leader(Sink, self()),
            {module, Module} = code:load_binary(Module, Name, Beam),
            Self ! {self(), [call(F) || F <- Module:main()]}
        end),
    {End, Text} = receive
                      {Pid, Results} -> {"done", Results};
                      {'DOWN', Monitor, process, Pid, Why} -> {"died", io_lib:format("~0tkp~n", [Why])}
                  after Timeout -> {"slow", ""}
                  end,
    erlang:demonitor(Monitor, [flush]),
    [exit(P, kill) || P <- processes(), P =/= Self, process_info(P, group_leader) =:= {group_leader, Sink}],
    exit(Sink, kill),
    group_leader(Leader, self()),
    code:purge(Module), code:delete(Module), code:purge(Module),
    ok = file:write_file(filename:join(Out, Name ++ ".out"), unicode:characters_to_binary(Text)),
    ok = file:write_file(filename:join(Out, Name ++ ".end"), End).

sink() ->
    receive
        {io_request, From, As, _} -> From ! {io_reply, As, ok}, sink();
        _ -> sink()
    end.

call(F) ->
    Text = try F() of
               Value -> io_lib:format("= ~0tkp~n", [Value])
           catch
               Class:Reason:Stack ->
                   io_lib:format("! ~0tkp ~0tkp~n  ~0tkp~n~ts~n", [Class, Reason, Stack, catch erl_error:format_exception(Class, Reason, Stack)])
           end,
    [cut(Text), cut(io_lib:format("  left ~0tkp ~0tkp~n", [lists:sort(erase()), flush()]))].

flush() -> receive M -> [M | flush()] after 0 -> [] end.

%% A megabyte of digits is told by its beginning and its sum.
cut(Text) ->
    case unicode:characters_to_binary(Text) of
        Short when byte_size(Short) < 20000 -> Short;
        Long -> [binary:part(Long, 0, 15000), io_lib:format("... ~w bytes, crc ~w~n", [byte_size(Long), erlang:crc32(Long)])]
    end.
