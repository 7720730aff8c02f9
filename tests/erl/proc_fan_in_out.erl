%% Work handed to many processes and collected in any order.
-module(proc_fan_in_out).
-export([main/1]).

main(_) -> t:w(pmap, pmap(fun(X) -> X * X end, lists:seq(1, 500))), t:w(nested, pmap(fun(X) -> lists:sum(pmap(fun(Y) -> X * Y end, lists:seq(1, 20))) end, lists:seq(1, 30))), t:w(failing, [catch hd(pmap(fun(X) -> X / 0 end, [1])) || _ <- [1]] =/= []).
pmap(F, L) -> Me = self(), Rs = [begin R = make_ref(), spawn(fun() -> Me ! {R, catch F(X)} end), R end || X <- L], [receive {R, V} -> V end || R <- Rs].
