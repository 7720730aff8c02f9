%% Linked processes and their exit signals.
-module(spawn_linked).
-export([main/1, group/0]).

group() -> spawn.

main(_) -> bench:time(?MODULE, fun() -> process_flag(trap_exit, true), loop(200000) end).

loop(0) -> done;
loop(N) -> P = spawn_link(fun() -> ok end), receive {'EXIT', P, _} -> loop(N - 1) end.
