%% The math module and the domain errors.
-module(math_functions).
-export([main/1]).

main(_) ->
    [t:e({F, X}, fun() -> round6(math:F(X)) end) || F <- [sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, exp, log, log2, log10, sqrt, ceil, floor, erf, erfc], X <- [0, 0.5, -0.5, 1, 2, -3, 100.0, 1 bsl 70]],
    [t:e({F, A, B}, fun() -> round6(math:F(A, B)) end) || F <- [pow, atan2, fmod], {A, B} <- [{2, 10}, {2.0, 0.5}, {-8, 3}, {-8, 0.5}, {0, 0}, {0, -1}, {10, 3}, {-10, 3}, {1, 0}, {1.0e300, 2}]],
    t:w(pi, {math:pi(), math:tau()}), t:e(overflow, fun() -> math:exp(1000) end), t:e(type, fun() -> math:sin(t:id(a)) end), t:e(type2, fun() -> math:pow(t:id(2), t:id(b)) end), t:e(big, fun() -> math:sqrt(1 bsl 5000) end), t:w(exact, [math:sqrt(16), math:pow(2, 10), math:floor(-1.5), math:ceil(1.2), math:log2(8), math:fmod(5.5, 2)]).
round6(X) -> list_to_float(float_to_list(X, [{scientific, 9}])).
