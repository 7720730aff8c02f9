%% Collatz lengths: division, remainder, branches.
-module(collatz).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> lists:max([len(N, 1) || N <- lists:seq(1, 200000)]) end).

len(1, L) -> L;
len(N, L) when N rem 2 =:= 0 -> len(N div 2, L + 1);
len(N, L) -> len(3 * N + 1, L + 1).
