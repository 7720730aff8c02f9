%% Three servers that call one another, with selective replies.
-module(recv_nested_servers).
-export([main/1]).

main(_) -> C = spawn(fun() -> srv(fun(X) -> X * 2 end) end), B = spawn(fun() -> srv(fun(X) -> call(C, X) + 1 end) end), A = spawn(fun() -> srv(fun(X) -> call(B, X) + call(C, X) end) end), t:w(sum, lists:sum([call(A, N) || N <- lists:seq(1, 1000)])), Me = self(), [spawn(fun() -> Me ! {r, N, call(A, N)} end) || N <- lists:seq(1, 200)], t:w(parallel, lists:sum([receive {r, N, V} -> V end || N <- lists:seq(1, 200)])), [exit(P, kill) || P <- [A, B, C]].
srv(F) -> receive {P, R, X} -> P ! {R, F(X)}, srv(F) end.
call(S, X) -> R = make_ref(), S ! {self(), R, X}, receive {R, V} -> V end.
