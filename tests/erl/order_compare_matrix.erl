%% Every pair of a set of terms under every comparison operator.
-module(order_compare_matrix).
-export([main/1]).

main(_) ->
    L = [0, 0.0, -0.0, 1, 1.0, 1 bsl 64, 18446744073709551616.0, a, 'A', '', {}, {1}, {1, 2}, {2}, [], [1], [1, 2], [1 | 2], "b", <<>>, <<1>>, <<1, 0>>, <<1:1>>, #{}, #{1 => a}, #{1.0 => a}, #{2 => a}],
    [t:w(A, [[op(A < B), op(A =< B), op(A == B), op(A =:= B), op(A > B), op(A >= B), op(A /= B), op(A =/= B)] || B <- L]) || A <- L],
    t:w(pids, begin P = self(), R = make_ref(), F = fun() -> 1 end, [R < P, F < P, R < F, P < {}, P > a, F > R, P == P] end).
op(true) -> $t; op(false) -> $f.
