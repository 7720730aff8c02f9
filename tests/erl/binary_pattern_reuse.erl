%% A compiled pattern finds the same in its first short text, in later ones, and in a long one.
-module(binary_pattern_reuse).
-export([main/1]).

main(_) ->
    Pattern = binary:compile_pattern([<<"ab">>, <<"abc">>, <<"b">>, <<"xyz">>, <<"q">>, <<"\r\n">>, <<"\n">>, <<0>>, <<"zzzz">>]),
    Text = <<"--abcab-xy-xyz\r\n-\nzzz", 0, "zzzzq">>,
    First = binary:matches(Text, Pattern),
    io:format("~p~n", [First]),
    true = lists:all(fun(_) -> binary:matches(Text, Pattern) =:= First end, lists:seq(1, 2000)),
    io:format("~p~n", [binary:match(Text, Pattern, [{scope, {4, 10}}])]),
    Long = binary:copy(Text, 3000),
    Again = binary:compile_pattern([<<"ab">>, <<"abc">>, <<"b">>, <<"xyz">>, <<"q">>, <<"\r\n">>, <<"\n">>, <<0>>, <<"zzzz">>]),
    io:format("~p ~p~n", [length(binary:matches(Long, Again)), binary:matches(Long, Again) =:= binary:matches(Long, Pattern)]),
    io:format("~p ~p~n", [binary:match(<<>>, Again), binary:match(<<"--">>, Again)]),
    Late = <<(binary:copy(<<"-">>, 20000))/binary, "abc">>,
    io:format("~p ~p~n", [binary:match(Late, Again), binary:split(<<"1,2;3">>, binary:compile_pattern([<<",">>, <<";">>]), [global])]).
