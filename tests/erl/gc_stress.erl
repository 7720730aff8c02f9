%% Live data of several generations under heavy allocation, checked at the end.
-module(gc_stress).
-export([main/1]).

main(_) ->
    Keep = [{N, integer_to_list(N), <<N:128>>, #{N => [N]}} || N <- lists:seq(1, 3000)], F = fun(X) -> {X, length(Keep)} end,
    t:w(churn, lists:sum([churn(N, 20) || N <- lists:seq(1, 500)])), t:w(intact, lists:all(fun({N, S, <<B:128>>, #{} = M}) -> list_to_integer(S) =:= N andalso B =:= N andalso maps:get(N, M) =:= [N] end, Keep)), garbage_collect(), t:w(minor, garbage_collect(self(), [{type, minor}])), t:w(closure, F(1)),
    t:w(other, begin P = spawn(fun() -> receive x -> ok end end), {garbage_collect(P), P ! x} end), t:w(async, begin R = make_ref(), {garbage_collect(self(), [{async, R}]), receive {garbage_collect, R, V} -> V end} end), t:w(binaries, lists:sum([byte_size(binary:part(binary:copy(<<"x">>, 10000), 0, N rem 100)) || N <- lists:seq(1, 1000)])),
    t:w(floats, lists:sum([X * 0.5 || X <- [float(N) || N <- lists:seq(1, 10000)]])), t:e(bad, fun() -> garbage_collect(self(), [foo]) end), t:w(procs, lists:sum([begin {P2, M} = spawn_monitor(fun() -> exit(churn(N, 50)) end), receive {'DOWN', M, _, P2, R2} -> R2 end end || N <- lists:seq(1, 50)])).
churn(_, 0) -> 1; churn(N, K) -> L = [{X, N} || X <- lists:seq(1, 30)], {_, N} = lists:last(L), churn(N, K - 1).
