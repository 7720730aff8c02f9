%% Growing a binary by appending, sharing the buffer, and appending to an old version.
-module(bits_append).
-export([main/1]).

main(_) ->
    A = grow(1000, <<>>),
    t:w(grown, {byte_size(A), erlang:md5(A)}),
    B = <<A/binary, "b">>,
    C = <<A/binary, "c">>,
    t:w(forked, {binary:last(B), binary:last(C), byte_size(A), binary:part(B, 0, 4000) =:= A, erlang:md5(C)}),
    D = lists:foldl(fun(N, Acc) -> <<Acc/bits, N:3>> end, <<>>, lists:seq(1, 1000)),
    t:w(bits, {bit_size(D), erlang:phash2(D)}),
    E = lists:foldl(fun(N, Acc) -> X = <<Acc/binary, N>>, <<_/binary>> = X, X end, <<>>, lists:seq(1, 300)),
    t:w(kept, {byte_size(E), binary:at(E, 255)}),
    P = self(),
    F = <<(grow(100, <<>>))/binary, "sent">>,
    spawn(fun() -> P ! <<F/binary, "more">> end),
    G = receive M -> M end,
    H = <<F/binary, "mine">>,
    t:w(shared, {binary:part(G, byte_size(G), -8), binary:part(H, byte_size(H), -8)}),
    t:w(prepend, byte_size(lists:foldl(fun(N, Acc) -> <<N:16, Acc/binary>> end, <<>>, lists:seq(1, 500)))),
    t:w(private, begin X = grow(10, <<>>), Y = [<<X/binary, N>> || N <- lists:seq(1, 5)], [binary:last(Z) || Z <- Y] end),
    t:w(versions, begin L = versions(50, <<>>, []), lists:all(fun(V) -> V =:= binary:part(hd(L), 0, byte_size(V)) end, L) end),
    garbage_collect(),
    t:w(after_gc, erlang:md5(<<A/binary, D:80/bits>>)).
grow(0, B) -> B;
grow(N, B) -> grow(N - 1, <<B/binary, N:32>>).
versions(0, _, L) -> L;
versions(N, B, L) -> C = <<B/binary, N:24, "xyz">>, versions(N - 1, C, [C | L]).
