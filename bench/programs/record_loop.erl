%% A record updated in a loop.
-module(record_loop).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> loop(15000000, {state, 0, 0, 0, 0}) end).

loop(0, {state, A, _, _, D}) -> {A, D};
loop(N, {state, A, B, C, D}) -> loop(N - 1, setelement(2, {state, A, B + 1, C, D + N rem 3}, A + 1)).
