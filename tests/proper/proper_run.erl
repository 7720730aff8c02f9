%% Runs the EUnit tests of one function (a generator or a test) of a module and writes a line a test to a file:
%% FUNCTION#NUMBER, result, reason, tab separated. Called as: -run proper_run main FILE MODULE FUNCTION.
-module(proper_run).
-behaviour(eunit_listener).
-export([main/1, start/1, init/1, handle_begin/3, handle_end/3, handle_cancel/3, terminate/2]).

main([File, Module, Function]) ->
    {M, F} = {list_to_atom(Module), list_to_atom(Function)},
    Test = case lists:suffix("_test_", Function) of
               true -> {generator, M, F};
               false -> {test, M, F}
           end,
    eunit:test({timeout, 600, Test}, [{report, {?MODULE, [{file, File}, {function, Function}]}}]),
    halt(0).

start(Options) -> eunit_listener:start(?MODULE, Options).

init(Options) ->
    {ok, Out} = file:open(proplists:get_value(file, Options), [append, raw]),
    receive {start, _Reference} -> {Out, proplists:get_value(function, Options), 1} end.

handle_begin(_, _, State) -> State.

handle_end(test, Data, {Out, Function, N}) ->
    {Result, Reason} = case proplists:get_value(status, Data) of
                           ok -> {"ok", ""};
                           {skipped, Why} -> {"skipped", Why};
                           {error, Why} -> {"failed", {proplists:get_value(line, Data), Why}}
                       end,
    line(Out, [[Function, $#, integer_to_list(N)], Result, flat(Reason)]),
    {Out, Function, N + 1};
handle_end(group, _, State) -> State.

handle_cancel(_, Data, {Out, Function, N}) ->
    line(Out, [[Function, $#, integer_to_list(N)], "failed", flat({cancelled, proplists:get_value(reason, Data)})]),
    {Out, Function, N + 1}.

terminate(_, {Out, _, _}) -> line(Out, ["done"]).

line(Out, Fields) -> ok = file:write(Out, unicode:characters_to_binary([lists:join($\t, Fields), $\n])).

flat("") -> "";
flat(Term) -> re:replace(io_lib:format("~0tp", [Term]), "\\s+", " ", [global, unicode, {return, list}]).
