%% Stacks of a hundred thousand frames, with data in them, and errors from the bottom.
-module(big_deep_recursion).
-export([main/1]).

main(_) ->
    t:w(sum, sum(100000)),
    t:w(list, length(build(100000))),
    t:w(catch_bottom, (catch throwing(100000))),
    t:w(float, fsum(100000)),
    t:w(tree, count_nodes(tree(14))),
    t:w(ack, ack(2, 300)),
    t:e(error_bottom, fun() -> failing(50000) end),
    {P, M} = spawn_monitor(fun() -> exit(sum(200000)) end),
    receive {'DOWN', M, process, P, R} -> t:w(other, R) end.
sum(0) -> 0;
sum(N) -> N + sum(N - 1).
build(0) -> [];
build(N) -> [{N, N} | build(N - 1)].
throwing(0) -> throw(bottom);
throwing(N) -> 1 + throwing(N - 1).
failing(0) -> hd(t:id([]));
failing(N) -> 1 + failing(N - 1).
fsum(0) -> 0.0;
fsum(N) -> 1.0 / N + fsum(N - 1).
tree(0) -> leaf;
tree(N) -> {tree(N - 1), N, tree(N - 1)}.
count_nodes(leaf) -> 1;
count_nodes({L, _, R}) -> count_nodes(L) + 1 + count_nodes(R).
ack(0, N) -> N + 1;
ack(M, 0) -> ack(M - 1, 1);
ack(M, N) -> ack(M - 1, ack(M, N - 1)).
