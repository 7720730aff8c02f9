%% Patterns and subjects that are none, with characters beyond bytes: which function the stack trace names.
-module(re_bad_patterns).
-export([main/1]).
main(_) -> [io:format("~p~n", [try re:run(<<"47AB">>, P, O) catch C:R:S -> {C,R,hd(S)} end]) || P <- [1, {re_pattern,1}, [a], <<"(">>, ["("]], O <- [[unicode],[]]], [io:format("~p~n", [try re:run(S0, P, [unicode]) catch C:R:S -> {C,R,hd(S)} end]) || P <- [1, "a"], S0 <- [x,[300],<<255>>,[-1]]], [io:format("~p~n", [try re:replace("abc", P, "b", [unicode]) catch C:R:S -> {C,R,hd(S)} end]) || P <- [1]], [io:format("~p~n", [try re:compile(P, [unicode]) catch C:R:S -> {C,R,hd(S)} end]) || P <- [1,[-1],x]].
