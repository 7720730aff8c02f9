%% Bitstrings built of parts of all sizes, and taken apart again at all places: sizes in registers, tails, characters, appending.
-module(bits_parts).
-export([main/1]).

main(_) ->
    [t:p(Name, try F() catch C:R -> {C, R} end) || {Name, F} <- [
        {slices, fun slices/0}, {tails, fun tails/0}, {constant, fun constant/0}, {skips, fun skips/0}, {integers, fun integers/0},
        {characters, fun characters/0}, {built, fun built/0}, {appended, fun appended/0}, {old_part, fun old_part/0}, {wrong, fun wrong/0},
        {two, fun two/0}, {kept, fun kept/0}]].

sum(L) -> erlang:phash2(L).

bytes(N) -> << <<(I * 7 band 255)>> || I <- lists:seq(1, N) >>.

%% The same bits as part of another bitstring, at another bit, on the heap or in a block.
forms(B) ->
    Size = bit_size(B),
    [B | [begin <<_:Before, Part:Size/bitstring, _/bitstring>> = <<0:Before, B/bitstring, -1:After>>, Part end
          || Before <- [1, 8, 16, 800], After <- [0, 5, 8, 900]]].

take(N, B) -> case B of <<A:N/binary, Rest/binary>> -> {A, Rest}; _ -> none end.

slices() -> sum([take(N, F) || Size <- [0, 1, 7, 9, 70, 200], F <- forms(bytes(Size)), N <- lists:seq(0, 72) ++ [199, 200, 201, -1, a, 1 bsl 70]]).

tail(N, <<A, Rest/binary>>) when N > 0 -> [A | tail(N - 1, Rest)];
tail(_, <<Rest/bitstring>>) -> Rest.

tails() -> sum([tail(N, F) || Size <- [0, 1, 3, 66, 67], F <- forms(bytes(Size)), N <- [0, 1, 2, 5]] ++ [tail(1, F) || F <- forms(<<1, 2:3>>)]).

four(<<A:4/binary, B:2/binary, C, D/binary>>) -> {A, B, C, D};
four(<<A:1/binary, 7:16, B:66/binary, _/bitstring>>) -> {A, B};
four(<<_:5, A:3, B/bitstring>>) -> {A, B};
four(B) -> B.

constant() -> sum([four(F) || B <- [bytes(80), bytes(8), bytes(7), bytes(6), <<1, 0, 7, (bytes(66))/binary, 3:7>>, <<3:7>>, <<>>], F <- forms(B)]).

skip(N, B) -> case B of <<_:N/binary, A:16, _:N, R/bitstring>> -> {A, R}; <<_:N/unit:3, A>> -> A; _ -> none end.

skips() -> sum([skip(N, F) || B <- [bytes(10), bytes(9), <<1, 2, 3:5>>, <<>>], F <- forms(B), N <- lists:seq(0, 10) ++ [-1, a, 1.0, 1 bsl 60]]).

int(N, B) -> case B of <<A:N, R/bitstring>> -> {A, R}; _ -> none end.
signed(N, B) -> case B of <<A:N/signed, _/bitstring>> -> A; _ -> none end.
little(N, B) -> case B of <<A:N/little, _/bitstring>> -> A; _ -> none end.
units(N, B) -> case B of <<A:N/unit:7, _/bitstring>> -> A; _ -> none end.

integers() -> sum([{int(N, F), signed(N, F), little(N, F), units(N, F)} || B <- [bytes(20), bytes(8), <<5:3>>, <<>>], F <- forms(B), N <- lists:seq(0, 66) ++ [-1, x]]).

chars(<<C/utf8, R/binary>>, L) -> chars(R, [C | L]);
chars(<<R/bitstring>>, L) -> {L, R}.

pass(<<_/utf8, R/bitstring>>) -> pass(R);
pass(R) -> R.

characters() ->
    sum([{chars(F, []), pass(F)} || B <- [<<"abc">>, <<"a", 229/utf8, "b", 8364/utf8, 16#10ffff/utf8, "c">>, <<"ab", 255, "c">>, <<"a", 3:5>>, <<>>], F <- forms(B)]).

build(A, B, C, D) ->
    {<<A, B:16, C:24, D:32>>, <<A:4, B:4>>, <<A:3, B:13, "text", C:40/little, D:56>>, <<1:1, A:7, 5:4, B:12, C:64, D:48/little>>,
     <<"a longer text than eight bytes", A>>, <<A:16/little, B:24/little, C:32/little, D:64/little>>, <<A:60, B:4, C:8>>}.

built() -> sum([build(A, B, C, D) || A <- [0, 1, -1, 255], B <- [0, 1 bsl 20 + 77], C <- [0, -5, 1 bsl 40], D <- [7, 1 bsl 58, 1 bsl 70, -(1 bsl 66)]]).

add(0, _, B) -> B;
add(N, F, B) -> add(N - 1, F, F(N, B)).

appended() ->
    Fs = [fun(N, B) -> <<B/binary, N>> end, fun(N, B) -> <<B/binary, N:16, "ab", N:24/little>> end, fun(N, B) -> <<B/bitstring, N:8, 3:8>> end,
          fun(N, B) -> <<B/binary, (N * 1000000007 * 1000000007):8>> end],
    sum([add(300, F, Start) || F <- Fs, Start <- [<<>>, <<1>>, bytes(300)]]).

%% An older version is as it was when a newer one has been made of it, twice.
old_part() ->
    Old = add(100, fun(N, B) -> <<B/binary, N>> end, <<>>),
    New = <<Old/binary, 1:16>>,
    Other = <<Old/binary, 2:16>>,
    Longer = <<New/binary, "x">>,
    Self = self(),
    P = spawn(fun() -> receive B -> Self ! <<B/binary, 9>> end end),
    P ! Longer,
    Theirs = receive B -> B end,
    Ours = <<Longer/binary, 8>>,
    {sum(Old), sum(New), sum(Other), sum(Longer), sum(Theirs), sum(Ours), byte_size(Old), byte_size(Ours)}.

bad(F) -> try F() catch error:R -> R end.

wrong() ->
    B = t:id(add(100, fun(N, B) -> <<B/binary, N>> end, <<>>)),
    A = t:id(a),
    F = t:id(1.5),
    [bad(G) || G <- [fun() -> <<B/binary, A>> end, fun() -> <<A/binary, 1>> end, fun() -> <<F:8, A:16>> end, fun() -> <<B/binary, F:16>> end,
                     fun() -> <<(t:id(<<1:3>>))/binary, 1>> end, fun() -> <<1, A:8>> end, fun() -> <<_:A, _/bitstring>> = B end,
                     fun() -> byte_size(<<B/binary, 5>>) end]].

%% Two fields of the same value, with one that the match fails at after others were taken.
two() -> [case B of <<A:2/binary, 1, C:2/binary, 2>> -> {one, A, C}; <<A:2/binary, _, C:3/binary>> -> {two, A, C}; <<A/binary>> -> {three, A} end
          || B <- [<<"ab", 1, "cd", 2>>, <<"ab", 1, "cd", 3>>, <<"ab", 1, "c">>, <<"ab">>, <<>>]].

%% What is taken of it stays when the bitstring itself grows.
kept() ->
    Parts = fun Parts(0, _, L) -> L;
                Parts(N, B, L) ->
                    New = <<B/binary, N, (N + 1)>>,
                    Size = byte_size(New) - 2,
                    <<_:Size/binary, Last/binary>> = New,
                    <<First:(min(Size, 65))/binary, _/binary>> = New,
                    Parts(N - 1, New, [Last, First | L])
            end,
    sum(Parts(200, <<>>, [])).
