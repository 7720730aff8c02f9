%% A hundred thousand short processes one after the other, and two thousand at once.
-module(proc_storm).
-export([main/1]).

main(_) ->
    Me = self(),
    t:w(sequence, storm(100000)),
    t:w(monitored, lists:sum([begin {P, M} = spawn_monitor(fun() -> exit(N) end), receive {'DOWN', M, _, P, R} -> R end end || N <- lists:seq(1, 3000)])),
    Ps = [spawn(fun() -> receive {go, X} -> Me ! {done, N * X} end end) || N <- lists:seq(1, 2000)],
    [P ! {go, 2} || P <- Ps],
    t:w(at_once, lists:sum([receive {done, V} -> V end || _ <- Ps])),
    t:w(distinct, length(lists:usort(Ps))),
    t:w(alive, t:wait_until(fun() -> not lists:any(fun is_process_alive/1, Ps) end)),
    t:w(tree, tree(10)),
    t:w(count, t:wait_until(fun() -> erlang:system_info(process_count) < 200 end)).
storm(0) -> done;
storm(N) -> spawn(fun() -> ok end), storm(N - 1).
tree(0) -> 1;
tree(N) -> P = self(), [spawn(fun() -> P ! {self_of(P), tree(N - 1)} end) || _ <- [1, 2]], receive {_, A} -> receive {_, B} -> A + B end end.
self_of(_) -> self().
