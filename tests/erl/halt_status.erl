%% halt with a status ends the emulator with it.
-module(halt_status).
-export([main/1]).

main(_) -> io:format("about to stop~n"), halt(3).
