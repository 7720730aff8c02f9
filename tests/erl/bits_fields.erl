%% Matching fields that are read together, at any bit and up to the last byte; clauses that fail in the middle; sizes known at
%% run time; bit fields appended.
-module(bits_fields).
-export([main/1]).

main(_) ->
    Bytes = << <<(N * 37 + 11):8>> || N <- lists:seq(1, 100) >>,
    Shifted = [begin <<_:S, B/bitstring>> = id(<<0:S, Bytes/binary>>), B end || S <- [1, 3, 7]],
    All = [Bytes | Shifted],
    [t:w(header, [header(drop(B, N)) || N <- [0, 1, 79, 80, 84, 88, 89, 90, 91, 92, 95, 99, 100]]) || B <- All],
    [t:w(signed, [signed(drop(B, N)) || N <- [0, 80, 92, 93, 94, 95, 96]]) || B <- All],
    [t:w(wide, [wide(drop(B, N)) || N <- [0, 70, 80, 81, 82]]) || B <- All],
    [t:w(single, [single(drop(B, N)) || N <- [0, 92, 95, 96, 97, 98, 99, 100]]) || B <- All],
    [t:w(sum, sum(B, 0)) || B <- All ++ [<<>>, <<1:1>>, <<255, 1:1>>]],
    [t:w(packets, packet(<<K, 5:4, 3:4, L:16, 1, 2, 3, 4>>)) || K <- [1, 2, 3, 4], L <- [0, 4, 5]],
    t:w(clauses, [clause(id(<<A:3, B:5, C:16, D>>)) || A <- [1, 2, 5], B <- [7, 8], C <- [0, 258], D <- [0, 9]]),
    [t:w(clauses_short, clause(drop(<<1, 2, 3, 4>>, N))) || N <- [0, 1, 2, 3, 4]],
    t:w(strings, [method(drop(<<"xyGET PUT POST DELETE OPTIONS ">>, N)) || N <- [2, 6, 10, 15, 22, 23, 27]]),
    Sizes = [0, 1, 3, 8, 9, 24, 31, 32, 33, 55, 56, 57, 63, 64, 65, 100, -1, 10000, 1 bsl 58, 1 bsl 64, x, 1.0],
    [t:w(sized_integers, [{S, sized_integer(B, id(S))} || S <- Sizes]) || B <- [drop(X, 91) || X <- All]],
    [t:w(sized_binaries, [{S, sized_binary(B, id(S))} || S <- Sizes]) || B <- [drop(X, 20) || X <- All]],
    [t:w(constant_binaries, [constant_binary(drop(B, N)) || N <- [0, 20, 34, 35, 36, 85, 99]]) || B <- All],
    Text = unicode:characters_to_binary([$a, 228, $b, 8364, 128512, $c]),
    [t:w(utf8, utf8(B, [])) || B <- [Text, <<1:1, Text/binary>>, <<Text/binary, 128>>, <<Text/binary, 195>>, <<"abc", 1:3>>, <<>>]],
    t:w(skip_utf8, [skip_utf8(B) || B <- [Text, <<"a">>, <<>>, <<255>>]]),
    t:w(units, [unit(drop(Bytes, N)) || N <- lists:seq(88, 100)]),
    t:w(counted, counted(<<2, "ab", 0, 5, "hello", 70, Bytes:70/binary, 1>>, [])),
    t:w(appended, [erlang:phash2(append(200, W, <<>>)) || W <- lists:seq(1, 9)]),
    t:w(append_kept, begin L = append_kept(100, <<>>, []), {length(L), erlang:phash2(L)} end),
    t:w(append_to, [append_to(B, V) || B <- [<<>>, <<1>>, <<1:1>>, Bytes, hd(Shifted), x], V <- [5, -1, 1 bsl 70, x]]),
    t:w(append_twice, begin P = append(50, 3, <<>>), Q = <<P/bitstring, 1:3>>, R = <<P/bitstring, 6:3>>, {bit_size(P), Q =:= R, last(Q), last(R), last(P)} end).

drop(B, N) -> <<_:N/binary, R/bitstring>> = B, R.
header(<<V:4, H:4, _:8, Len:16, Id:16, _:1, D:1, M:1, Off:13, T:8, P:8, R/bitstring>>) -> {V, H, Len, Id, D, M, Off, T, P, bit_size(R)};
header(<<A:3, _:2, B:11, R/bitstring>>) -> {A, B, R};
header(<<A:1, B:7>>) -> {A, B};
header(B) -> {none, B}.
signed(<<A:4/signed, B:12/signed, C:8/signed-little, D:3/signed, 1:2, E:3, _/bitstring>>) -> {A, B, C, D, E};
signed(<<A:4/signed, B:12/signed, C:8/little, D:3/signed, _:5, _/bitstring>>) -> {A, B, C, D};
signed(<<A:16/little-signed, B:9/signed-little, _/bitstring>>) -> {A, B};
signed(_) -> none.
wide(<<A:59, B:5, C:60, D:4, E:64, F:7, G:33, _/bitstring>>) -> {A, B, C, D, E, F, G};
wide(<<A:33, B:31, C:1, D:63, _/bitstring>>) -> {A, B, C, D};
wide(<<A:64, B:64/signed, _/bitstring>>) -> {A, B};
wide(_) -> none.
single(B) -> {s8(B), s16(B), s24(B), s32(B), s64(B), l16(B), l32(B)}.
s8(<<A, _/binary>>) -> A; s8(<<A:8, R/bitstring>>) -> {A, bit_size(R)}; s8(_) -> none.
s16(<<A:16, _/binary>>) -> A; s16(<<A:16, R/bitstring>>) -> {A, bit_size(R)}; s16(_) -> none.
s24(<<A:24, _/binary>>) -> A; s24(<<A:24, R/bitstring>>) -> {A, bit_size(R)}; s24(_) -> none.
s32(<<A:32, _/binary>>) -> A; s32(<<A:32, R/bitstring>>) -> {A, bit_size(R)}; s32(_) -> none.
s64(<<A:64, _/binary>>) -> A; s64(<<A:64, R/bitstring>>) -> {A, bit_size(R)}; s64(_) -> none.
l16(<<A:16/little, _/bitstring>>) -> A; l16(_) -> none.
l32(<<A:32/little-signed, _/bitstring>>) -> A; l32(_) -> none.
sum(<<X, R/binary>>, A) -> sum(R, A + X);
sum(<<>>, A) -> A;
sum(B, A) -> {A, B}.
packet(<<1, A:4, 3:4, 4:16, R/binary>>) -> {one, A, R};
packet(<<2, 5:4, B:4, L:16, D:L/binary, _/binary>>) -> {two, B, L, D};
packet(<<K, _:4, 3:4, 0:8, L:8, R/binary>>) when K < 4 -> {three, K, L, R};
packet(<<K, R/binary>>) -> {other, K, R}.
clause(<<1:3, 7:5, 0:16, X>>) -> {a, X};
clause(<<1:3, X:5, 258:16, 9>>) -> {b, X};
clause(<<2:3, X:5, Y:16, 0>>) -> {c, X, Y};
clause(<<X:3, 8:5, R/binary>>) -> {d, X, R};
clause(<<X:8, R/binary>>) -> {e, X, R};
clause(<<>>) -> empty.
method(<<"GET ", R/binary>>) -> {get, R};
method(<<"PUT ", R/binary>>) -> {put, R};
method(<<"POST ", R/binary>>) -> {post, R};
method(<<"DELETE ", R/binary>>) -> {delete, R};
method(<<"OPTIONS ", R/binary>>) -> {options, R};
method(<<"OP", C, R/binary>>) -> {op, C, R};
method(_) -> none.
sized_integer(B, S) ->
    {case B of <<X:S, R/bitstring>> -> {X, bit_size(R)}; _ -> none end,
     case B of <<X1:S/little-signed, R1/bitstring>> -> {X1, bit_size(R1)}; _ -> none end,
     case B of <<_:3, X2:S/unit:3, R2/bitstring>> -> {X2, bit_size(R2)}; _ -> none end}.
sized_binary(B, S) ->
    {case B of <<X:S/binary, R/bitstring>> -> {X, bit_size(R)}; _ -> none end,
     case B of <<X1:S/bitstring, R1/bitstring>> -> {X1, bit_size(R1)}; _ -> none end,
     case B of <<_:S/binary, X2, _/bitstring>> -> X2; _ -> none end,
     case B of <<_:S, R3/bitstring>> -> bit_size(R3); _ -> none end}.
constant_binary(<<A:1/binary, B:64/binary, C/bitstring>>) -> {A, erlang:md5(B), bit_size(C)};
constant_binary(<<A:1/binary, B:65/binary, C/bitstring>>) -> {A, erlang:md5(B), bit_size(C)};
constant_binary(<<_:1, A:9/binary, B:17/bitstring, C/bitstring>>) -> {A, B, bit_size(C)};
constant_binary(B) -> {B, byte_size(B)}.
utf8(<<C/utf8, R/binary>>, L) -> utf8(R, [C | L]);
utf8(<<C/utf8, R/bitstring>>, L) -> utf8(R, [{C} | L]);
utf8(B, L) -> {L, B}.
skip_utf8(<<_/utf8, R/binary>>) -> R;
skip_utf8(_) -> none.
unit(B) ->
    [case B of <<_:8, _/binary-unit:16>> -> 16; _ -> no end, case B of <<_/binary-unit:24>> -> 24; _ -> no end,
     case B of <<X:8, R/binary-unit:32>> -> {X, byte_size(R)}; _ -> no end, case B of <<X1:16, _/binary-unit:40>> -> X1; _ -> no end].
counted(<<L, B:L/binary, R/binary>>, A) -> counted(R, [B | A]);
counted(R, A) -> {R, A}.
append(0, _, B) -> B;
append(N, 1, B) -> append(N - 1, 1, <<B/bitstring, N:1>>);
append(N, 2, B) -> append(N - 1, 2, <<B/bitstring, N:3, (N bsr 2):2>>);
append(N, 3, B) -> append(N - 1, 3, <<B/bitstring, N:7>>);
append(N, 4, B) -> append(N - 1, 4, <<B/bitstring, N:9, -N:8>>);
append(N, 5, B) -> append(N - 1, 5, <<B/bitstring, N:49, (N * 3):6>>);
append(N, 6, B) -> append(N - 1, 6, <<B/bitstring, (N * N):55>>);
append(N, 7, B) -> append(N - 1, 7, <<B/bitstring, (N bsl 40):57>>);
append(N, 8, B) -> append(N - 1, 8, <<B/bitstring, N:8>>);
append(N, 9, B) -> append(N - 1, 9, <<B/bitstring, N:5/little, N:13/little>>).
append_kept(0, _, L) -> L;
append_kept(N, B, L) -> C = <<B/bitstring, N:5>>, append_kept(N - 1, C, [C, <<B/bitstring, N:11>> | L]).
append_to(B, V) -> try {<<B/bitstring, V:3>>, <<B/binary, V:4, V:7>>} catch error:R:S -> {R, erl_erts_errors:format_bs_fail(R, S)} end.
last(B) -> S = bit_size(B) - 20, <<_:S, R/bitstring>> = B, R.
id(X) -> X.
