%% A list a million deep: compared, hashed, sent, converted, collected.
-module(big_nested_list).
-export([main/1]).

main(_) ->
    A = nest(1000000, []), B = nest(1000000, []), C = nest(1000000, [x]),
    t:w(equal, {A =:= B, A == B, A =:= C, A < C}), t:w(hash, erlang:phash2(A) =:= erlang:phash2(B)), t:w(size, {erts_debug:flat_size(A), byte_size(term_to_binary(A))}),
    t:w(round_trip, binary_to_term(term_to_binary(A)) =:= A), Me = self(), spawn(fun() -> Me ! {back, A} end), t:w(sent, receive {back, X} -> X =:= B end),
    erlang:garbage_collect(), t:w(depth, depth(A, 0)), T = ets:new(t, []), ets:insert(T, {k, A}), t:w(ets, element(2, hd(ets:lookup(T, k))) =:= A), t:w(tuple, tdepth(tnest(300000, x), 0)), t:w(iolist, iolist_size(nest(1000000, [1]))), t:w(flatten, lists:flatten(nest(10000, [a]))).
nest(0, L) -> L; nest(N, L) -> nest(N - 1, [L]).
depth([], N) -> N; depth([H], N) -> depth(H, N + 1).
tnest(0, T) -> T; tnest(N, T) -> tnest(N - 1, {N, T}).
tdepth({_, T}, N) -> tdepth(T, N + 1); tdepth(_, N) -> N.
