%% Where re:run/3 with `unicode` fails: in the native, which explains it, or in the Erlang code that makes text of what is no binary.
-module(re_errors_where).
-export([main/1]).

main(_) ->
    {ok, Compiled} = re:compile("a", [unicode]),
    [t:e({S, name(P), O}, fun() -> re:run(S, P, O) end)
     || S <- [<<"aba">>, <<97, 255>>, <<97, 3:4>>, "abca", [97, 300], [97, 16#d800], ["a" | b], [], a],
        P <- [<<"a">>, <<255>>, <<97, 3:4>>, "a", [300], [16#d800], [], "(", <<"(">>, a, Compiled],
        O <- [[], [global], [unicode], [unicode, global], [unicode, {capture, all, list}], [unicode, global, {capture, all, list}],
              [unicode, {capture, no}], [unicode, {capture, all, no}], [unicode, global, {capture, no}], [unicode, global, report_errors]]],
    ok.

%% A compiled pattern is not the same on all machines.
name(Pattern) when is_tuple(Pattern) -> compiled;
name(Pattern) -> Pattern.
