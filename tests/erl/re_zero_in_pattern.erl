%% A zero byte ends a pattern, as for stock's C library; in subjects it is a byte like others.
-module(re_zero_in_pattern).
-export([main/1]).
main(_) ->
    t:all({re, run}, [["abc", <<"b",0,"zzz">>], [<<"ab",0,"zzz">>, <<"b",0,"zzz">>], ["abc", [0]], ["abc", <<"b",0,"(">>],
                      [<<"xb",0,"c">>, <<"b",0,"c">>, [unicode]], [<<"xb",0,"c">>, <<"b\\",0,"c">>, [unicode]],
                      [<<"xb",0,"c">>, <<"b\\x{0}c">>], [<<"xb",0,"c">>, <<"b\\0c">>], [<<"abc">>, <<0,255>>, [unicode]]]),
    [t:w(P, case re:compile(P) of {ok, _} -> ok; E -> E end)
     || P <- [<<"b",0,"(">>, <<"(",0,")">>, <<"[",0,"]">>, <<"a\\Qb",0,"\\E(">>]],
    t:w(names, re:inspect(element(2, re:compile(<<"(?<A>b)",0,"(?<B>d)">>)), namelist)),
    t:w(split, re:split(<<"xb",0,"c">>, <<"b",0,"d">>)),
    t:w(replace, re:replace(<<"xb",0,"c">>, <<0>>, "y", [{return, binary}])).
