%% Expressions evaluated with bindings, records and local functions.
-module(shell_expressions).
-export([main/1]).

main(_) -> Ev = fun(S, B) -> {ok, T, _} = erl_scan:string(S), {ok, E} = erl_parse:parse_exprs(T), {value, V, B2} = erl_eval:exprs(E, B, {value, fun(N, A) -> {local, N, A} end}), {V, erl_eval:bindings(B2)} end, B0 = erl_eval:add_binding('X', 10, erl_eval:new_bindings()), [t:e(S, fun() -> Ev(S, B0) end) || S <- ["X + 1.", "Y = X * 2.", "f(X, 2).", "X = 11.", "fun(Z) -> Z + X end(5).", "[f(N) || N <- [1, 2]].", "case X of 10 -> ten; _ -> other end.", "Q + 1.", "spawn(fun() -> ok end), done.", "try X / 0 catch error:E -> E end.", "<<X:16>>.", "receive after 1 -> t end."]].
