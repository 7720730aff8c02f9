%% Float arithmetic in loops and in expressions mixed with integers.
-module(lang_float_loops).
-export([main/1]).

main(_) ->
    t:w(sum, lists:foldl(fun(X, A) -> A + 1 / X end, 0, lists:seq(1, 1000))),
    t:w(mixed, mix(100, 1, 0.5)),
    t:w(newton, newton(2.0, 1.0, 30)),
    t:w(ops, [{A + B, A - B, A * B, A / B} || A <- [1.5, -2.0, 3], B <- [0.25, 7]]),
    t:w(neg, [-t:id(X) || X <- [1.5, 0.0, -0.0, 0]]),
    t:e(overflow, fun() -> t:id(1.0e308) * t:id(10.0) end),
    t:e(overflow_add, fun() -> X = t:id(1.7e308), X + X end),
    t:e(div0, fun() -> t:id(1.0) / t:id(0.0) end),
    t:e(div0i, fun() -> t:id(1) / t:id(0) end),
    t:e(big_int, fun() -> t:id(1.0) + t:id(1 bsl 2000) end),
    t:e(type, fun() -> t:id(1.0) + t:id(a) end),
    t:w(underflow, t:id(1.0e-308) / t:id(1.0e10)),
    t:w(underflow0, t:id(1.0e-308) / t:id(1.0e300)),
    t:w(compare, [{A < B, A == B, A =:= B} || A <- [1, 1.0, 1 bsl 53, 9007199254740993], B <- [1.0, 9007199254740992.0]]),
    t:w(chain, chain(t:id(1.5), t:id(2), t:id(3.25))).
mix(0, _, A) -> A;
mix(N, I, A) -> mix(N - 1, I + 1, (A * I + N) / (I + 1.0)).
newton(_, X, 0) -> X;
newton(A, X, N) -> newton(A, (X + A / X) / 2, N - 1).
chain(A, B, C) -> D = A * B + C, E = D / A - B, F = (E + D) * (E - D), {D, E, F, -F, abs(F)}.
