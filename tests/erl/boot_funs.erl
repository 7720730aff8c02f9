%% Closures, external funs, apply.
-module(boot_funs).
-export([main/1]).

main(_) ->
    K = id(10),
    F = fun(X) -> X + K end,
    G = fun Loop(0) -> []; Loop(N) -> [N | Loop(N - 1)] end,
    H = fun erlang:abs/1,
    [erlang:display(X) || X <- [F(1), G(3), H(-4), apply(F, [2]), apply(erlang, max, [1, 2]), is_function(F, 1), is_function(F, 2), fun lists:member/2]],
    ok.
id(X) -> X.
