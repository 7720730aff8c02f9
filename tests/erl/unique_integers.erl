%% unique_integer: distinct, monotonic, positive, from many processes.
-module(unique_integers).
-export([main/1]).

main(_) ->
    L = [erlang:unique_integer() || _ <- lists:seq(1, 5000)], t:w(distinct, length(lists:usort(L))), M = [erlang:unique_integer([monotonic]) || _ <- lists:seq(1, 5000)], t:w(monotonic, M =:= lists:sort(M) andalso length(lists:usort(M)) =:= 5000), t:w(positive, lists:all(fun(X) -> X > 0 end, [erlang:unique_integer([positive]) || _ <- lists:seq(1, 1000)])), Me = self(), Ps = [spawn(fun() -> Me ! {self(), [erlang:unique_integer([positive]) || _ <- lists:seq(1, 1000)], [make_ref() || _ <- lists:seq(1, 1000)]} end) || _ <- lists:seq(1, 10)], R = [receive {P, I, Rs} -> {I, Rs} end || P <- Ps], t:w(across, {length(lists:usort(lists:append([I || {I, _} <- R]))), length(lists:usort(lists:append([Rs || {_, Rs} <- R])))}), t:w(both, erlang:unique_integer([positive, monotonic]) < erlang:unique_integer([monotonic, positive])), t:e(bad, fun() -> erlang:unique_integer([x]) end), t:e(improper, fun() -> erlang:unique_integer([positive | x]) end).
