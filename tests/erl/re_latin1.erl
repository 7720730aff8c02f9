-module(re_latin1).
-export([main/1]).

%% Characters above 127 have the classes of ISO 8859-1, with and without `unicode`; letters without a meaning in a class stand
%% for themselves; groups may nest some hundred deep.
main(_) ->
    Classes = ["upper", "lower", "space", "cntrl", "print", "punct", "graph", "alpha", "xdigit", "alnum", "word", "blank", "digit"],
    [io:format("~s ~w ~w~n", [N, O, [C || C <- lists:seq(0, 255), re:run([C], N, O) =/= nomatch]])
     || O <- [[], [unicode], [unicode, ucp]],
        N <- ["[[:" ++ C ++ ":]]" || C <- Classes] ++ ["\\w", "\\s", "\\d", "\\h", "\\v", "\\W"]],
    io:format("~w~n", [[{C, D} || O <- [[caseless], [unicode, caseless]], C <- lists:seq(160, 255), D <- lists:seq(160, 255),
                                  C =/= D, re:run([C], [D], O) =/= nomatch]]),
    [io:format("~p ~p~n", [P, re:run("zCBRXN", P, [{capture, first, list}])])
     || P <- ["[\\z\\C]+", "[\\B]", "[\\R]+", "[\\X]", "[\\A]", "[\\G]", "[\\Z]", "[\\K]", "\\C+", "[^\\C]"]],
    [io:format("~w ~w~n", [N, case re:compile([lists:duplicate(N, $(), lists:duplicate(N, $))]) of
                                  {ok, _} -> ok;
                                  {error, _} = E -> E
                              end]) || N <- [700, 819]].
