%% Of many that load the same module at once, one replaces its code: the others find old code in the way.
-module(code_load_once).
-export([main/1]).
-define(LOADERS, 8).

main(_) ->
    {ok, M, First} = compile:forms(forms(first)),
    {ok, M, Second} = compile:forms(forms(second)),
    io:format("~p~n", [lists:usort([round(M, First, Second) || _ <- lists:seq(1, 100)])]),
    second = M:f().

forms(What) ->
    [{attribute, 1, module, code_load_once_loaded}, {attribute, 1, export, [{f, 0}]},
     {function, 2, f, 0, [{clause, 2, [], [], [{atom, 2, What}]}]}].

%% How often it was loaded, and how often not.
round(M, First, Second) ->
    code:purge(M),
    code:delete(M),
    code:purge(M),
    {module, M} = erlang:load_module(M, First),
    Me = self(),
    Loaders = [spawn_link(fun() ->
        Prepared = erlang:prepare_loading(M, Second),
        Me ! {ready, self()},
        receive go -> Me ! {self(), erlang:finish_loading([Prepared])} end
    end) || _ <- lists:seq(1, ?LOADERS)],
    [receive {ready, L} -> ok end || L <- Loaders],
    [L ! go || L <- Loaders],
    Results = [receive {L, Result} -> Result end || L <- Loaders],
    code:purge(M),
    {length([ok || ok <- Results]), length([no || {not_purged, [_]} <- Results])}.
