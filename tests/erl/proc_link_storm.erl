%% Links made and broken by both sides at once.
-module(proc_link_storm).
-export([main/1]).

main(_) -> process_flag(trap_exit, true), Ps = [spawn_link(fun() -> receive {exit, R} -> exit(R) end end) || _ <- lists:seq(1, 1000)], [unlink(P) || {N, P} <- lists:enumerate(Ps), N rem 2 =:= 0], [P ! {exit, N rem 3} || {N, P} <- lists:enumerate(Ps)], t:w(exits, [length([1 || {N, P} <- lists:enumerate(Ps), N rem 2 =:= 1, N rem 3 =:= K, receive {'EXIT', P, K} -> true end]) || K <- [0, 1, 2]]), receive after 20 -> ok end, t:w(left, t:flush()), t:w(links, [X || X <- element(2, process_info(self(), links)), lists:member(X, Ps)]), Q = spawn(fun() -> receive x -> ok end end), [begin link(Q), unlink(Q) end || _ <- lists:seq(1, 1000)], exit(Q, kill), receive after 10 -> ok end, t:w(unlinked, t:flush()).
