%% Named funs that call themselves, shadow, and recurse through others.
-module(lang_named_funs).
-export([main/1]).

main(_) ->
    t:w(fib, [(fun F(N) when N < 2 -> N; F(N) -> F(N - 1) + F(N - 2) end)(X) || X <- [0, 1, 10, 15]]),
    Even = fun E(0, _) -> true; E(N, O) -> O(N - 1, E) end, Odd = fun O(0, _) -> false; O(N, E) -> E(N - 1, O) end,
    t:w(mutual, [Even(N, Odd) || N <- [0, 1, 10, 11]]),
    t:w(capture, begin K = t:id(3), (fun L(0) -> [K]; L(N) -> [N * K | L(N - 1)] end)(4) end),
    t:w(info, erlang:fun_info(fun G(X) -> G(X) end, arity)), t:w(long, (fun L2(0, A) -> A; L2(N, A) -> L2(N - 1, A + N) end)(100000, 0)).
