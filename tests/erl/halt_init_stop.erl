%% init:stop with a status, orderly.
-module(halt_init_stop).
-export([main/1]).

main(_) -> io:format("stopping~n"), init:stop(5), receive after infinity -> ok end.
