%% Large messages: long lists, large maps, many binaries, to several receivers.
-module(big_messages).
-export([main/1]).

main(_) ->
    Me = self(), L = lists:seq(1, 300000), M = maps:from_list([{N, {N, <<N:64>>}} || N <- lists:seq(1, 20000)]), Bs = [binary:copy(<<N>>, 200) || N <- lists:seq(1, 1000)],
    Ps = [spawn(fun() -> receive {T, X} -> Me ! {T, self(), measure(X), X} end end) || _ <- lists:seq(1, 5)],
    [P ! T || {P, T} <- lists:zip(Ps, [{list, L}, {map, M}, {bins, Bs}, {both, {L, M}}, {none, []}])],
    t:w(back, [receive {T, P, N, X} -> {T, N, measure(X) =:= N} end || P <- Ps]), t:w(queue, begin [self() ! {n, N, L} || N <- [1, 2, 3]], [receive {n, N, X} -> length(X) end || N <- [3, 1, 2]] end),
    Q = spawn(fun() -> collect([], 20, Me) end), [Q ! {N, Bs} || N <- lists:seq(1, 20)], t:w(kept, receive {kept, N} -> N end), t:w(spawn_copy, begin spawn(fun() -> Me ! {len, length(L), map_size(M)} end), receive {len, A, B} -> {A, B} end end).
measure(X) -> erlang:external_size(X). 
collect(A, 0, Me) -> Me ! {kept, lists:sum([iolist_size(B) || {_, B} <- A])}; collect(A, N, Me) -> receive X -> collect([X | A], N - 1, Me) end.
