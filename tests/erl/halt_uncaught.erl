%% An exception in the start function ends the emulator with 1.
-module(halt_uncaught).
-export([main/1]).

main(_) -> io:format("before~n"), error(uncaught).
