%% halt with a string is a crash with exit code 1.
-module(halt_string).
-export([main/1]).

main(_) -> io:format("before~n"), halt("slogan").
