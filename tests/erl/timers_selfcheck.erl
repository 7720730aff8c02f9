%% receive timeouts beside timers and busy processes: none early, none lost.
-module(timers_selfcheck).
-export([main/1]).

main(_) -> Me = self(), B = [spawn(fun busy/0) || _ <- [1, 2, 3]], [spawn(fun() -> T0 = erlang:monotonic_time(microsecond), receive after N -> ok end, Me ! {N, erlang:monotonic_time(microsecond) - T0 >= N * 1000} end) || N <- [0, 1, 5, 10, 20, 50]], t:w(not_early, [receive {N, X} -> {N, X} end || N <- [0, 1, 5, 10, 20, 50]]), [exit(P, kill) || P <- B], R = [erlang:start_timer(N, self(), N) || N <- [30, 10, 20]], t:w(order, [receive {timeout, X, V} -> true = lists:member(X, R), V end || _ <- R]).
busy() -> busy().
