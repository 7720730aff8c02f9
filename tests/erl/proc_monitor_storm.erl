%% Thousands of monitors on one process, and one process that monitors thousands.
-module(proc_monitor_storm).
-export([main/1]).

main(_) -> Me = self(), T = spawn(fun() -> receive die -> exit(dead) end end), Ps = [spawn(fun() -> M = monitor(process, T), Me ! ready, receive {'DOWN', M, _, _, R} -> Me ! {saw, R} end end) || _ <- lists:seq(1, 2000)], [receive ready -> ok end || _ <- Ps], T ! die, t:w(all, lists:usort([receive {saw, R} -> R end || _ <- Ps])), Qs = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 3000)], Ms = [monitor(process, Q) || Q <- Qs], [demonitor(M) || M <- lists:sublist(Ms, 1000)], [Q ! stop || Q <- Qs], t:w(two_thousand, length([receive {'DOWN', M, _, _, normal} -> ok end || M <- lists:nthtail(1000, Ms)])), receive after 20 -> ok end, t:w(left, t:flush()).
