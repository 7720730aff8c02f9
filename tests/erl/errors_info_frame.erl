%% What erlang:error/3 adds stands in the frame of its caller: called, by apply, and as a fun.
-module(errors_info_frame).
-export([main/1, direct/1, applied/2, through/2]).

main(_) ->
    Options = [{error_info, #{cause => x, module => y}}],
    show(fun() -> direct(Options) end),
    show(fun() -> applied(error, [a, [arg], Options]) end),
    show(fun() -> applied(error, [a, [arg]]) end),
    show(fun() -> applied(error, [a]) end),
    show(fun() -> applied(exit, [a]) end),
    show(fun() -> through(fun erlang:error/3, Options) end),
    show(fun() -> ets:lookup(no_such_table, 1) end),
    ok.

direct(Options) ->
    erlang:error(a, [], Options),
    ok.

applied(F, Args) ->
    _ = apply(erlang, F, Args),
    ok.

through(Fun, Options) ->
    _ = Fun(a, none, Options),
    ok.

show(Fun) ->
    try Fun() of
        Result -> io:format("~p~n", [Result])
    catch
        Class:Reason:Stack -> io:format("~p ~p~n  ~w~n", [Class, Reason, hd(Stack)])
    end.
