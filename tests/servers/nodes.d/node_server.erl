%% A node that evaluates what it reads. A line of its input is an expression; the answer is a line "@value Term" or "@error Reason".
%% The process that evaluates gets exits as messages.
-module(node_server).
-export([main/0, next/1, check/3, check/2, until/2, silent/0]).

main() ->
    process_flag(trap_exit, true),
    say("ready", {node(), os:getpid()}),
    answer().

answer() ->
    case io:get_line("") of
        Line when is_list(Line) -> evaluate(Line), answer();
        %% The tester is gone.
        _ -> erlang:halt()
    end.

evaluate(Line) ->
    try
        {ok, Tokens, _} = erl_scan:string(Line),
        {ok, Expressions} = erl_parse:parse_exprs(Tokens),
        {value, Value, _} = erl_eval:exprs(Expressions, erl_eval:new_bindings()),
        say("value", Value)
    catch
        _:Reason:Stack -> say("error", {Reason, Stack})
    end.

say(Word, Term) ->
    io:put_chars(["@", Word, " ", io_lib:format("~0tp", [Term]), "\n"]).

%% Tells the tester whether the function returns what is wanted.
check(What, Wanted, Function) ->
    Got = try Function() catch Class:Reason:Stack -> {Class, Reason, Stack} end,
    case Got of
        Wanted -> io:put_chars(["@check ok ", What, "\n"]);
        _ -> io:put_chars(["@check FAILED ", What, io_lib:format(": ~0tp, not ~0tp", [Got, Wanted]), "\n"])
    end.

check(What, Function) ->
    check(What, true, Function).

%% Calls the function until it returns the value, for at most ten seconds; its last value.
until(Wanted, Function) ->
    until(Wanted, Function, 200).

until(Wanted, Function, Times) ->
    case Function() of
        Wanted -> Wanted;
        _ when Times > 0 -> timer:sleep(50), until(Wanted, Function, Times - 1);
        Other -> Other
    end.

%% The next message of the process that evaluates, or `none`.
next(Milliseconds) ->
    receive Message -> Message after Milliseconds -> none end.

%% Starts a process that does nothing, and returns its pid.
silent() ->
    spawn(fun() -> receive stop -> ok end end).
