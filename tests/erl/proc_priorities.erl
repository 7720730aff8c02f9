%% Processes of all priorities make progress; the order of ends does not matter.
-module(proc_priorities).
-export([main/1]).

main(_) ->
    Me = self(),
    Ps = [{Pr, N} || Pr <- [low, normal, high, max], N <- lists:seq(1, 5)],
    [spawn_opt(fun() -> Me ! {Pr, N, work(10000 + N, 0)} end, [{priority, Pr}]) || {Pr, N} <- Ps],
    t:w(results, lists:sort([receive {Pr, N, R} -> {Pr, N, R} end || {Pr, N} <- Ps])),
    L = spawn_opt(fun() -> busy() end, [{priority, low}]),
    H = spawn_opt(fun() -> receive {P, X} -> P ! {self(), X + 1} end end, [{priority, high}]),
    H ! {self(), 1},
    t:w(high_among_busy, receive {H, X} -> X end),
    exit(L, kill),
    t:w(yield, [erlang:yield() || _ <- [1, 2, 3]]).
work(0, A) -> A;
work(N, A) -> work(N - 1, (A * 31 + N) rem 1000003).
busy() -> busy().
