%% A tree of linked processes comes down from any node.
-module(proc_kill_tree).
-export([main/1]).

main(_) -> process_flag(trap_exit, true), [begin Root = spawn_link(fun() -> branch(4) end), t:wait_until(fun() -> length(tree(Root, self())) =:= 31 end), All = tree(Root, self()), Ms = [monitor(process, P) || P <- All], exit(lists:nth(K, lists:sort(All)), R), t:w({K, R}, {lists:sort(lists:usort([receive {'DOWN', M, _, _, W} -> W end || M <- Ms])), receive {'EXIT', Root, W2} -> W2 end}) end || {K, R} <- [{1, boom}, {31, crash}, {16, {a, b}}]].
branch(0) -> receive x -> ok end; branch(N) -> [spawn_link(fun() -> branch(N - 1) end) || _ <- [l, r]], receive x -> ok end.
tree(P, Parent) -> case process_info(P, links) of {links, L} -> [P | lists:append([tree(C, P) || C <- L, C =/= Parent, is_pid(C)])]; undefined -> [] end.
