%% A tree of processes.
-module(spawn_tree).
-export([main/1, group/0]).

group() -> spawn.

main(_) -> bench:time(?MODULE, fun() -> tree(16) end).

tree(0) -> 1;
tree(N) ->
    Me = self(),
    [spawn(fun() -> Me ! {x, tree(N - 1)} end) || _ <- [l, r]],
    receive {x, A} -> receive {x, B} -> A + B end end.
