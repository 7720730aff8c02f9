%% Without optimisations one place that raises serves ways inside and outside of a try.
-module(loader_shared_raise).
-compile([no_ssa_opt]).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[catch nested(X) || X <- [[], 42, {throw, 17}, {throw, 1}, {error, foo}]]]).

nested(X) ->
    try
        [] = try
                 id(X)
             catch
                 throw:17 -> try [] catch _:_ -> a end;
                 error:foo -> id(foo)
             end
    of _ -> ok
    catch
        _:_ -> caught
    end.

id({throw, X}) -> throw(X);
id({error, X}) -> error(X);
id(X) -> X.
