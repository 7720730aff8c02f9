%% Group leaders: inherited, changed, of others.
-module(proc_group_leader).
-export([main/1]).

main(_) -> GL = spawn(fun() -> receive stop -> ok end end), Me = self(), P = spawn(fun() -> receive ask -> Me ! {gl, group_leader() =:= GL}, spawn(fun() -> Me ! {child, group_leader() =:= GL} end) end end), t:w(set, group_leader(GL, P)), P ! ask, t:w(other, receive {gl, X} -> X end), t:w(child, receive {child, Y} -> Y end), t:e(dead, fun() -> D = spawn(fun() -> ok end), M = monitor(process, D), receive {'DOWN', M, _, _, _} -> ok end, group_leader(GL, D) end), t:e(bad, fun() -> group_leader(a, self()) end), GL ! stop.
