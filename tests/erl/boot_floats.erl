%% Float arithmetic with natives only.
-module(boot_floats).
-export([main/1]).

main(_) ->
    F = float(length([a, b, c])),
    [erlang:display(X) || X <- [F + 0.5, F * F, F / 4, -F, trunc(F / 2), F > 2, F == 3, F =:= 3, abs(-F), round(F / 2)]],
    ok.
