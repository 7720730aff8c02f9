%% Philosophers and forks: processes that wait for two others; ends without deadlock.
-module(proc_dining).
-export([main/1]).

main(_) -> Forks = list_to_tuple([spawn(fun fork/0) || _ <- lists:seq(1, 5)]), Me = self(), [spawn(fun() -> phil(N, 50, Forks), Me ! {full, N} end) || N <- lists:seq(1, 5)], t:w(full, lists:sort([receive {full, N} -> N end || _ <- lists:seq(1, 5)])).
fork() -> receive {take, P} -> P ! {taken, self()}, receive {put, P} -> fork() end end.
phil(_, 0, _) -> ok; phil(N, K, F) -> {A, B} = {min(N, N rem 5 + 1), max(N, N rem 5 + 1)}, [begin X = element(I, F), X ! {take, self()}, receive {taken, X} -> ok end end || I <- [A, B]], [element(I, F) ! {put, self()} || I <- [B, A]], phil(N, K - 1, F).
