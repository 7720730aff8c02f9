%% A process made and ended, one after the other.
-module(spawn_exit).
-export([main/1, group/0]).

group() -> spawn.

main(_) -> bench:time(?MODULE, fun() -> loop(300000) end).

loop(0) -> done;
loop(N) -> {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, P, _} -> loop(N - 1) end.
