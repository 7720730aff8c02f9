%% Binaries of whole bytes, which are built by chains of specialised operations: every kind of segment, values that do not fit
%% it, values that are wrong, and what the sources look like afterwards.
-module(bits_chain).
-export([main/1]).

main(_) ->
    Big = id(16#123456789abcdef0123456789abcdef),
    Ints = [0, 1, -1, 127, 255, 256, -128, 65535, 16#7fffffff, -16#80000000, 1 bsl 58, (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59),
            -(1 bsl 59) - 1, 1 bsl 63, 1 bsl 64, -(1 bsl 64), Big, -Big],
    [t:w(ints, ints(id(I))) || I <- Ints],
    [t:w(append, appended(id(<<"head">>), id(I))) || I <- Ints],
    [t:w(groups, groups(id(I), id(I bsr 3), id(I bsl 2))) || I <- Ints],
    [t:w(sized, [sized(id(I), id(N)) || N <- [0, 1, 2, 3, 7, 8, 9, 16, 17]]) || I <- Ints],
    t:w(odd_sizes, [bits(id(N)) || N <- [0, 1, 7, 8, 9, 64, 65]]),
    t:w(strings, strings(id(1))),
    t:w(floats, [floats(id(F)) || F <- [0.0, -0.0, 1.5, 1.0e300, 7, -(1 bsl 70)]]),
    Bins = [<<>>, <<1>>, <<1, 2, 3>>, <<1, 2, 3, 4>>, <<"0123456">>, <<"01234567">>, <<"0123456789abcdef">>, <<"0123456789abcdefg">>,
            binary:copy(<<"x">>, 63), binary:copy(<<"y">>, 64), binary:copy(<<"z">>, 65), binary:copy(<<"w">>, 1000)],
    [t:w(whole, whole(id(B), id(5))) || B <- Bins],
    <<_:16, Sub/binary>> = id(binary:copy(<<"abcdef">>, 40)),
    <<_:3, Inside/bitstring>> = id(binary:copy(<<"abcdef">>, 40)),
    <<_:3, InsideBytes:20/binary, _/bitstring>> = id(binary:copy(<<"abcdef">>, 40)),
    [t:w(slices, {whole(B, 1), parts(B)}) || B <- [Sub, Inside, InsideBytes]],
    [t:w(parts, parts(id(B))) || B <- Bins],
    [t:w(sized_parts, [sized_part(id(B), id(N)) || N <- [0, 1, 4, 8, 64, 65, 66]]) || B <- Bins],
    [t:w(utf8, utf8(id(C))) || C <- [0, $a, 127, 128, 16#7ff, 16#800, 16#d7ff, 16#d800, 16#dfff, 16#e000, 16#ffff, 16#10000, 16#10ffff, 16#110000, -1, x]],
    Wrong = [x, 1.5, <<"b">>, <<1:3>>, [1], {}, self],
    [t:w(wrong, [ints(id(W)), appended(<<"head">>, id(W)), groups(1, id(W), 3), sized(id(W), 2), sized(1, id(W)), whole(id(W), 1),
                 whole(<<"b">>, id(W)), parts(id(W)), sized_part(<<"abc">>, id(W)), floats(id(W)), appended(id(W), 1)]) || W <- Wrong],
    [t:w(bad_size, [sized(1, id(N)), sized_part(<<"abc">>, id(N)), bits(id(N))]) || N <- [-1, 1 bsl 62, 1 bsl 70, -(1 bsl 70)]],
    t:w(guards, [guard(id(X), id(Y)) || X <- [1, x, 300], Y <- [<<1, 1>>, <<"a">>, y]]),
    t:w(registers, registers(id(1), id(<<"two">>), id(3))),
    t:w(large, [erlang:md5(large(id(X))) || X <- [1, -1, Big]]),
    t:w(needs, needs(200, [])).

ints(I) -> try <<I:8, I:16, I:24, I:32, I:40, I:48, I:56, I:64, I:72, I:128, I:8/little, I:16/little, I:24/little, I:32/little,
                 I:40/little, I:64/little, I:72/little>> catch C:E:S -> why(C, E, S) end.
appended(B, I) -> try <<B/binary, I:16, 7, I:24/little, "tail", I>> catch C:E:S -> why(C, E, S) end.
groups(A, B, C) -> try <<A:3, B:5, C:1, A:7, B:4, C:12, A:1, B:1, C:62, A:12, B:20, C:31, 1:1>> catch Cl:E:S -> why(Cl, E, S) end.
sized(I, N) -> try {<<I:N/unit:8>>, <<1, I:N/little-unit:8, 2, I:(N * 8), 3>>} catch C:E:S -> why(C, E, S) end.
bits(N) -> try <<1, 5:N, 2>> catch C:E:S -> why(C, E, S) end.
strings(X) -> [<<X, "a">>, <<X, "ab", X>>, <<X, "abc", X>>, <<X, "abcd", X>>, <<X, "abcde", X>>, <<X, "abcdef", X>>, <<X, "abcdefg", X>>,
               <<X, "abcdefgh", X>>, <<X, "abcdefghi", X>>, <<X, "abcdefghijklmnopqrstuvwxyz0123456789", X>>,
               <<"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789", X>>].
floats(F) -> try <<1, F/float, F:64/float-little, F:32/float, 2>> catch C:E:S -> why(C, E, S) end.
whole(B, X) -> try {<<X, B/binary>>, <<X:16, B/binary, X, B/binary>>, <<B/binary, B/binary, "x">>, <<"p", B/binary-unit:16>>}
               catch C:E:S -> why(C, E, S) end.
parts(B) -> try {<<1, B:1/binary>>, <<B:4/binary, 2, B:7/binary>>, <<3, B:17/binary>>, <<4, B:64/binary>>} catch C:E:S -> why(C, E, S) end.
sized_part(B, N) -> try <<1, B:N/binary, 2>> catch C:E:S -> why(C, E, S) end.
utf8(C) -> try {<<C/utf8>>, <<1, C/utf8, 2, C/utf8, "x">>, <<"abc", C/utf8>>} catch Cl:E:S -> why(Cl, E, S) end.
guard(X, Y) when <<X, 1>> =:= Y -> first;
guard(X, Y) when <<Y/binary, X:16>> =:= <<"a", 1:16>> -> second;
guard(_, _) -> none.
%% Destinations that are sources, and sources in the frame.
registers(A, B, C) ->
    A1 = <<A, C>>, B1 = <<B/binary, C>>, _ = id(A1),
    C1 = <<C, A, B/binary>>, _ = id(B1),
    {A1, B1, C1, <<A1/binary, B1/binary, C1/binary>>}.
large(X) -> <<X:520, X:1024/little, 1, X:2048>>.
%% Heap is needed right after the instruction.
needs(0, L) -> erlang:phash2(L);
needs(N, L) -> needs(N - 1, [{<<N:16, "x">>, [N | <<N:32, (<<N, N>>)/binary>>]} | L]).

%% The error, and the explanation that programs can read.
why(C, E, [{_, _, _, Info} | _] = S) ->
    Cause = case lists:keyfind(error_info, 1, Info) of {_, M} -> maps:get(cause, M, none); false -> none end,
    {C, E, Cause, try erl_erts_errors:format_bs_fail(E, S) catch _:_ -> unformatted end}.
id(X) -> X.
