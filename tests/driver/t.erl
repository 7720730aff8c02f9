%% What the test programs share: printing that never shows a pid, reference, port or address, and a call that
%% shows how it failed (class, reason, the frame on top of the stack, and the explanation OTP gives for it).
-module(t).
-export([id/1, p/2, w/2, e/2, all/2, clean/1, head/1, wait_until/1, flush/0, sum/1, tmp/1, threads/0, threads_left/1, resident/0, emulator/0, stop_os/1, exit_status/2, forms/1]).

%% The compiler cannot see through this one, so that what is tested happens at run time.
id(X) -> X.

p(Label, Value) -> io:format("~ts = ~ktp~n", [text(Label), clean(Value)]).
w(Label, Value) -> io:format("~ts = ~ktw~n", [text(Label), clean(Value)]).

text(Label) when is_atom(Label) -> atom_to_list(Label);
text(Label) when is_binary(Label) -> Label;
text(Label) ->
    case Label =/= [] andalso io_lib:printable_unicode_list(Label) of
        true -> Label;
        false -> io_lib:format("~ktw", [clean(Label)])
    end.

%% Calls Fun and prints its value or its failure.
e(Label, Fun) ->
    try Fun() of
        Value -> w(Label, Value)
    catch
        Class:Reason:Stack ->
            io:format("~ts ! ~w:~ktw @ ~ts~ts~n", [text(Label), Class, clean(Reason), head(Stack), why(Reason, Stack)])
    end.

%% Applies F to each list of arguments, one line each.
all(F, ArgLists) when is_function(F) ->
    lists:foreach(fun(Args) -> e(Args, fun() -> apply(F, Args) end) end, ArgLists);
all({M, F}, ArgLists) ->
    lists:foreach(fun(Args) ->
                          e(unicode:characters_to_list(io_lib:format("~w:~w~ktw", [M, F, clean(Args)])), fun() -> apply(M, F, Args) end)
                  end, ArgLists).

head([{M, F, A, _} | _]) when is_list(A) -> io_lib:format("~w:~tw/~w", [M, F, length(A)]);
head([{M, F, A, _} | _]) -> io_lib:format("~w:~tw/~w", [M, F, A]);
head([{F, A, _} | _]) when is_function(F) -> io_lib:format("fun with ~w", [if is_list(A) -> length(A); true -> A end]);
head(_) -> "nowhere".

%% The explanation that the frame's error_info leads to.
why(Reason, [{_, _, _, Location} | _] = Stack) ->
    case lists:keyfind(error_info, 1, Location) of
        {error_info, Info} ->
            Module = maps:get(module, Info, element(1, hd(Stack))),
            Texts = try Module:(maps:get(function, Info, format_error))(Reason, Stack) catch C:R -> #{general => {C, R}} end,
            [io_lib:format(" ~w:~ts", [Key, text(Text)]) || {Key, Text} <- lists:sort(maps:to_list(Texts))];
        false -> ""
    end;
why(_, _) -> "".

%% A term with what differs between runs replaced by its kind.
clean(X) when is_pid(X) -> '<pid>';
clean(X) when is_reference(X) -> '<ref>';
clean(X) when is_port(X) -> '<port>';
clean(X) when is_function(X) ->
    {arity, A} = erlang:fun_info(X, arity),
    case erlang:fun_info(X, type) of
        {type, external} -> X;
        {type, local} -> {'<fun>', A}
    end;
clean([H | T]) -> [clean(H) | clean(T)];
clean(X) when is_tuple(X) -> list_to_tuple(clean(tuple_to_list(X)));
clean(X) when is_map(X) -> maps:from_list([{clean(K), clean(V)} || {K, V} <- maps:to_list(X)]);
clean(X) -> X.

%% Waits, for at most five seconds, until Fun says true.
wait_until(Fun) -> wait_until(Fun, 1000).

wait_until(_, 0) -> timeout;
wait_until(Fun, N) ->
    case Fun() of
        true -> ok;
        false -> receive after 5 -> wait_until(Fun, N - 1) end
    end.

%% Stops an operating system process, and returns when none of its threads runs: a signal is on its way for a while. One thread takes it and stops the
%% others, which go on until then.
stop_os(Pid) ->
    os:cmd("kill -STOP " ++ Pid ++ "; while grep -h ^State /proc/" ++ Pid ++ "/task/*/status | grep -qv stopped; do sleep 0.01; done").

%% The messages in the queue, in order.
flush() ->
    receive M -> [M | flush()] after 0 -> [] end.

%% A number that stands for a large term.
sum(Term) -> erlang:crc32(io_lib:format("~ktw", [clean(Term)])).

%% An empty directory of this program's own.
tmp(Name) ->
    Dir = filename:join(os:getenv("TMPDIR", "/tmp"), "heddle-" ++ atom_to_list(Name) ++ "-" ++ os:getpid()),
    _ = file:del_dir_r(Dir),
    ok = file:make_dir(Dir),
    Dir.

%% Threads of the operating system that the emulator has.
threads() ->
    {ok, Names} = file:list_dir("/proc/self/task"),
    length(Names).

%% How many more than before, once those that are about to end have had the time.
threads_left(Before) -> threads_left(Before, 100).

threads_left(Before, 0) -> threads() - Before;
threads_left(Before, Times) ->
    case threads() - Before of
        N when N =< 0 -> 0;
        _ -> receive after 100 -> ok end, threads_left(Before, Times - 1)
    end.

%% Memory of this machine that is in use, as the system says, in bytes.
resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.

%% The program that runs this, and its first arguments.
emulator() ->
    {ok, Exe} = file:read_link("/proc/self/exe"),
    case filename:basename(Exe) of
        "heddle" -> {Exe, ["erl"]};
        _ -> {filename:join([code:root_dir(), "bin", "erl"]), []}
    end.

%% The exit status of a port's program, whatever else the port sends; `hangs` if nothing comes for so long.
exit_status(Port, Ms) ->
    receive
        {Port, {exit_status, Status}} -> Status;
        {Port, _} -> exit_status(Port, Ms)
    after Ms -> hangs
    end.

%% The forms of a module's text.
forms(Text) -> forms(Text, 1).

forms(Text, Line) ->
    case erl_scan:tokens([], Text, Line) of
        {done, {ok, Tokens, Next}, Rest} ->
            {ok, Form} = erl_parse:parse_form(Tokens),
            [Form | forms(Rest, Next)];
        {done, {eof, _}, _} -> [];
        {more, _} -> []
    end.
