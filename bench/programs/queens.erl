%% All solutions of the queens problem by comprehension.
-module(queens).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> length(queens(10, 10)) end).

queens(0, _) -> [[]];
queens(N, S) -> [[Q | B] || B <- queens(N - 1, S), Q <- lists:seq(1, S), safe(Q, 1, B)].

safe(_, _, []) -> true;
safe(Q, D, [H | T]) -> Q =/= H andalso abs(Q - H) =/= D andalso safe(Q, D + 1, T).
