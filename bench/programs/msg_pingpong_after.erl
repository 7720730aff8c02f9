%% Two processes exchange messages, each with a time limit that does not run out: to compare with msg_pingpong.
-module(msg_pingpong_after).
-export([main/1, group/0]).

group() -> message.

main(_) -> bench:time(?MODULE, fun() -> P = spawn_link(fun pong/0), R = ping(P, 500000), P ! stop, R end).

ping(_, 0) -> done;
ping(P, N) -> P ! {ping, self()}, receive pong -> ping(P, N - 1) after 5000 -> late end.

pong() -> receive {ping, From} -> From ! pong, pong(); stop -> ok after 5000 -> late end.
