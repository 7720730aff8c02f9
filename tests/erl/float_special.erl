%% Negative zero, the smallest and largest, rounding, and comparisons of neighbours.
-module(float_special).
-export([main/1]).

main(_) -> L = [0.0, -0.0, 5.0e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1 + 0.2, 1.0e16 + 1, 4.35, 2.675, 1 / 3, -1 / 3, 1.0e23, 9007199254740993 / 1], [io:format("~w ~p ~.10f ~.5e~n", [X, X, X, X]) || X <- L, abs(X) < 1.0e100], t:w(neg_zero, [-t:id(0.0), 0.0 =:= t:id(-0.0), 0.0 == t:id(-0.0), -0.0 * 5, abs(-0.0), 0 * -1.0, 1 / -1.0e300 / 1.0e300, <<(t:id(-0.0))/float>>]), t:w(neighbours, [<<1.0/float>>, begin <<F/float>> = <<16#3ff0000000000001:64>>, {F, F > 1, F == 1, F - 1} end]), t:w(rounds, [[round(X), trunc(X), ceil(X), floor(X)] || X <- [0.5, 1.5, 2.5, -0.5, -1.5, 1.0e15 + 0.5, 4503599627370496.5, 0.49999999999999994]]), t:w(int_div, [7 / 2, 6 / 2, -7 / 2, (1 bsl 100) / (1 bsl 98)]).
