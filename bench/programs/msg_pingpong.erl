%% A message there and back.
-module(msg_pingpong).
-export([main/1, group/0]).

group() -> message.

main(_) -> bench:time(?MODULE, fun() -> P = spawn_link(fun pong/0), R = ping(P, 500000), P ! stop, R end).

ping(_, 0) -> done;
ping(P, N) -> P ! {ping, self()}, receive pong -> ping(P, N - 1) end.

pong() -> receive {ping, From} -> From ! pong, pong(); stop -> ok end.
