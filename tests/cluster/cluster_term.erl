%% Terms of all kinds and sizes that follow from a number, so a receiver can build what it must have got; and terms that exist once.
-module(cluster_term).
-export([make/1, small/1, reason/1, unique/0, is_large/1]).

-define(DEPTH, 3).
-define(MB, 1000000).

%% The term of number N: mostly small, at times a binary of up to 10 MB.
make(N) ->
    case chance(N, size, 100) of
        X when X < 12 -> binary(N, bytes(N));
        X when X < 16 -> long_list(N);
        _ -> term(N, ?DEPTH)
    end.

small(N) -> term(N, 1).

%% Large enough that the sender better waits for an answer before it sends more.
is_large(Term) when is_binary(Term) -> byte_size(Term) > 200000;
is_large(_) -> false.

%% Reasons of exits, of all sizes. They begin with `cluster`, so they are told from those that others make.
reason(N) ->
    case chance(N, reason, 20) of
        0 -> {cluster, N, binary(N, bytes(N))};
        1 -> {cluster, N, long_list(N)};
        X when X < 5 -> {cluster, N, term(N, ?DEPTH)};
        X when X < 12 -> {cluster, N, small(N)};
        _ -> {cluster, N}
    end.

%% Terms of which there is one in the world, with what they are made of.
unique() ->
    Me = self(),
    Alias = alias(),
    true = unalias(Alias),
    [Me, make_ref(), {node(), group_leader()}, Alias, lists:sublist(erlang:ports(), 2), fun() -> Me end, #{Me => make_ref()}].

%% 0 to Below - 1, for number N and a purpose.
chance(N, Purpose, Below) -> erlang:phash2({N, Purpose}, Below).

%% 1 byte to 10 MB.
bytes(N) ->
    Percent = persistent_term:get(cluster_size, 100),
    case chance(N, order, 1000) of
        X when X < 600 -> 1 + chance(N, bytes, 200);
        X when X < 900 -> 1 + chance(N, bytes, 70000);
        X when X < 985 -> 60000 + chance(N, bytes, 200000);
        X when X < 997 -> ?MB * Percent div 100 + chance(N, bytes, 70000);
        _ -> 10 * ?MB * Percent div 100 + chance(N, bytes, 70000)
    end.

binary(_, 0) -> <<>>;
binary(N, Bytes) ->
    Piece = << <<(chance(N, I, 1 bsl 32)):32>> || I <- lists:seq(1, min(256, Bytes div 4 + 1)) >>,
    binary:part(binary:copy(Piece, Bytes div byte_size(Piece) + 1), 0, Bytes).

long_list(N) ->
    Length = 1 + chance(N, length, 20000),
    case chance(N, list, 4) of
        0 -> lists:duplicate(Length, chance(N, byte, 256));
        1 -> lists:seq(N, N + Length);
        2 -> [{I, N} || I <- lists:seq(1, Length div 4)];
        3 -> lists:duplicate(70000, N rem 256)
    end.

term(N, 0) -> simple(chance(N, simple, 14), N);
term(N, Depth) ->
    case chance(N, {kind, Depth}, 9) of
        0 -> [term(N + I, Depth - 1) || I <- lists:seq(1, chance(N, length, 6))];
        1 -> list_to_tuple([term(N + I, Depth - 1) || I <- lists:seq(1, chance(N, length, 6))]);
        2 -> #{term(N + I, Depth - 1) => term(N - I, Depth - 1) || I <- lists:seq(1, chance(N, length, 6))};
        3 when Depth =:= ?DEPTH -> #{term(N + I, 0) => I || I <- lists:seq(1, 20 + chance(N, length, 200))};
        4 when Depth =:= ?DEPTH -> list_to_tuple(lists:seq(1, 200 + chance(N, length, 200)));
        5 -> [term(N + 1, Depth - 1) | term(N + 2, Depth - 1)];
        6 -> A = term(N + 1, Depth - 1), fun(X) -> {X, A, N} end;
        _ -> simple(chance(N, simple, 14), N)
    end.

simple(0, N) -> N;
simple(1, N) -> -N;
simple(2, N) -> (1 bsl chance(N, bits, 3000)) + N;
simple(3, N) -> -(1 bsl (20 + chance(N, bits, 100))) - N;
simple(4, N) -> N / 7;
simple(5, _) -> -0.0;
simple(6, N) -> element(1 + chance(N, atom, 6), {ok, '', 'with space', 'ä', '猫', list_to_atom(lists:duplicate(255, $a))});
simple(7, N) -> binary(N, chance(N, bytes, 100));
simple(8, N) -> Bits = 1 + chance(N, bits, 40), <<N:Bits>>;
simple(9, _) -> [];
simple(10, N) -> integer_to_list(N);
simple(11, N) -> element(1 + chance(N, function, 2), {fun lists:map/2, fun ?MODULE:make/1});
simple(12, N) -> <<_:3, Part/bitstring>> = binary(N, 10), Part;
simple(13, N) -> {N, binary:part(binary(N, 300), 20, 100 + chance(N, bytes, 100))}.
