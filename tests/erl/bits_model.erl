%% Random constructions, appends and matches of every shape that the loader has a fast form for, against lists of bits. Sizes go up and down
%% over 64 bits, 512 bits (on the heap, or outside) and 2,048 bits (the first block for appending).
%% main([N, Seed]) runs N operations; tests run 800.
-module(bits_model).
-export([main/1]).

-define(FORM(Bin, Bits), {fun(B, X, Y) -> _ = {X, Y}, Bin end, fun(X, Y) -> Bits end}).
-define(READ(Pattern, Result, Bits), {fun(Off, B) -> case B of Pattern -> Result; _ -> none end end, Bits}).
-define(SLOTS, 6).

main([N, Seed]) when is_integer(N) -> run(N, Seed);
main(_) -> run(800, 1).

run(N, Seed) ->
    put(seed, Seed),
    Slots = list_to_tuple([{<<>>, []} || _ <- lists:seq(1, ?SLOTS)]),
    {Digest, _} = operations(N, 0, Slots),
    io:format("~p operations, ~p~n", [N, Digest]).

operations(0, Digest, Slots) -> {Digest, Slots};
operations(N, Digest, Slots) ->
    {Result, Next} = operation(random(10), N, Slots),
    operations(N - 1, erlang:phash2({Digest, Result}), Next).

operation(K, N, Slots) when K < 4 ->
    {B, Bits} = one(Slots),
    {Make, Model} = pick(forms()),
    {X, Y} = {number(), number()},
    keep(N, Make(B, X, Y), Bits ++ Model(X, Y), Slots);
operation(4, N, Slots) ->
    {B, Bits} = one(Slots),
    {Loop, Model} = pick(loops()),
    {Count, X} = {random(40), number()},
    keep(N, Loop(Count, X, B), Bits ++ lists:append([Model(I, X) || I <- lists:seq(Count, 1, -1)]), Slots);
operation(5, N, Slots) ->
    {Bin, Bits} = comprehension(random(5), random(30), random(70), number()),
    keep(N, Bin, Bits, Slots);
operation(6, N, Slots) ->
    {B, Bits} = one(Slots),
    From = random(length(Bits) + 1),
    Size = random(length(Bits) - From + 1),
    <<_:From/bits, Part:Size/bits, _/bits>> = B,
    keep(N, Part, lists:sublist(Bits, From + 1, Size), Slots);
operation(7, N, Slots) ->
    {B1, Bits1} = one(Slots),
    {B2, Bits2} = one(Slots),
    keep(N, <<B1/bits, B2/bits>>, Bits1 ++ Bits2, Slots);
operation(_, _, Slots) ->
    {B, Bits} = one(Slots),
    Off = random(length(Bits) + 1),
    {Read, Model} = pick(reads()),
    Found = Read(Off, B),
    case Model(lists:nthtail(Off, Bits)) of
        Found -> {Found, Slots};
        Other -> exit({differs, Off, B, Found, Other})
    end.

keep(N, Bin, Bits, Slots) ->
    check(Bin, Bits),
    [check(B, L) || {B, L} <- tuple_to_list(Slots), N rem 16 =:= 0],
    %% Too long to go on with: from the start again.
    Kept = case length(Bits) > limit(N) of true -> {<<>>, []}; false -> {Bin, Bits} end,
    {erlang:phash2(Bin), setelement(1 + random(?SLOTS), Slots, Kept)}.

%% Phases of small and of large ones.
limit(N) -> element(1 + N div 50 rem 4, {70, 600, 2200, 300}).

check(Bin, Bits) ->
    case [B || <<B:1>> <= Bin] of
        Bits -> ok;
        Other -> exit({differs, Bin, Other, Bits})
    end.

forms() ->
    [?FORM(<<B/bits, X:8>>, big(X, 8) ++ none(Y)),
     ?FORM(<<B/bits, X:16, Y:8>>, big(X, 16) ++ big(Y, 8)),
     ?FORM(<<B/bits, X:16/little, Y:32/little>>, little(X, 16) ++ little(Y, 32)),
     ?FORM(<<B/bits, X:24, Y:24/little>>, big(X, 24) ++ little(Y, 24)),
     ?FORM(<<B/bits, X:64, Y:64/little>>, big(X, 64) ++ little(Y, 64)),
     ?FORM(<<B/bits, X:3, Y:5>>, big(X, 3) ++ big(Y, 5)),
     ?FORM(<<B/bits, X:1, Y:7, X:9, Y:15>>, big(X, 1) ++ big(Y, 7) ++ big(X, 9) ++ big(Y, 15)),
     ?FORM(<<B/bits, X:13>>, big(X, 13) ++ none(Y)),
     ?FORM(<<B/bits, X:100, Y:77/little>>, big(X, 100) ++ little(Y, 77)),
     ?FORM(<<B/bits, X:(Y band 63)>>, big(X, Y band 63)),
     ?FORM(<<B/bits, X:(Y band 255)/little>>, little(X, Y band 255)),
     ?FORM(<<B/bits, "text", X:8>>, string("text") ++ big(X, 8) ++ none(Y)),
     ?FORM(<<B/bits, (point(X))/utf8, (point(Y))/utf8>>, utf8(point(X)) ++ utf8(point(Y))),
     ?FORM(<<B/bits, (point(X))/utf16, Y:3>>, utf16(point(X)) ++ big(Y, 3)),
     ?FORM(<<B/bits, (point(X))/utf32-little>>, little(point(X), 32) ++ none(Y)),
     ?FORM(<<B/bits, (X band 16#ffff):64/float, Y:8>>, float64(X band 16#ffff) ++ big(Y, 8)),
     ?FORM(<<B/bits, (<<X:40>>)/binary, Y:4>>, big(X, 40) ++ big(Y, 4)),
     ?FORM(<<B/bits, (<<X:43>>)/bits, Y:12>>, big(X, 43) ++ big(Y, 12)),
     ?FORM(<<B/bits, (<<X:80>>):(Y band 7)/binary>>, lists:sublist(big(X, 80), 8 * (Y band 7)))].

%% Each appends to what no other process has.
loops() ->
    [{fun loop8/3, fun(I, X) -> big(X + I, 8) end},
     {fun loop12/3, fun(I, X) -> big(X - I, 12) end},
     {fun loop_group/3, fun(I, X) -> big(I, 5) ++ big(X, 11) end},
     {fun loop_utf8/3, fun(I, X) -> utf8(point(X * I)) end},
     {fun loop_bits/3, fun(I, X) -> big(X, I) end},
     {fun loop_kept/3, fun(I, X) -> big(X bxor I, 9) end}].

loop8(0, _, B) -> B;
loop8(N, X, B) -> loop8(N - 1, X, <<B/bits, (X + N):8>>).
loop12(0, _, B) -> B;
loop12(N, X, B) -> loop12(N - 1, X, <<B/bits, (X - N):12>>).
loop_group(0, _, B) -> B;
loop_group(N, X, B) -> loop_group(N - 1, X, <<B/bits, N:5, X:11>>).
loop_utf8(0, _, B) -> B;
loop_utf8(N, X, B) -> loop_utf8(N - 1, X, <<B/bits, (point(X * N))/utf8>>).
loop_bits(0, _, B) -> B;
loop_bits(N, X, B) -> loop_bits(N - 1, X, <<B/bits, X:N>>).
%% All but the last are kept, and looked at afterwards; one is appended to twice.
loop_kept(N, X, B) -> loop_kept(N, X, B, []).
loop_kept(0, _, B, Kept) ->
    true = lists:all(fun(K) -> S = bit_size(K), <<Part:S/bits, _/bits>> = B, Part =:= K end, Kept),
    B;
loop_kept(N, X, B, Kept) ->
    _ = <<B/bits, (bnot X):7>>,
    loop_kept(N - 1, X, <<B/bits, (X bxor N):9>>, [B | Kept]).

comprehension(0, N, _, X) ->
    L = lists:seq(1, N),
    {<< <<(X + I):8>> || I <- L >>, lists:append([big(X + I, 8) || I <- L])};
comprehension(1, N, W, X) ->
    L = lists:seq(1, N),
    {<< <<(X * I):W>> || I <- L >>, lists:append([big(X * I, W) || I <- L])};
comprehension(2, N, W, X) ->
    Source = << <<(X bxor I):13>> || I <- lists:seq(1, N) >>,
    {<< <<V:W/little, 1:1>> || <<V:13>> <= Source, V band 1 =:= 0 >>,
     lists:append([little(V, W) ++ [1] || I <- lists:seq(1, N), V <- [(X bxor I) band 16#1fff], V band 1 =:= 0])};
comprehension(3, N, _, X) ->
    L = [point(X + I * 977) || I <- lists:seq(1, N)],
    Bin = << <<C/utf8>> || C <- L >>,
    L = [C || <<C/utf8>> <= Bin],
    {Bin, lists:append([utf8(C) || C <- L])};
comprehension(4, N, W, X) ->
    L = [<<(X + I):W>> || I <- lists:seq(1, N)],
    {<< <<B/bits, 2:2>> || B <- L >>, lists:append([big(X + I, W) ++ [1, 0] || I <- lists:seq(1, N)])}.

reads() ->
    [?READ(<<_:Off, V:8, _/bits>>, V, fun(L) -> int(L, 8, fun unsigned/1) end),
     ?READ(<<_:Off, V:16/signed, _/bits>>, V, fun(L) -> int(L, 16, fun signed/1) end),
     ?READ(<<_:Off, V:32/little, _/bits>>, V, fun(L) -> int(L, 32, fun(F) -> unsigned(swap(F)) end) end),
     ?READ(<<_:Off, V:64/little-signed, _/bits>>, V, fun(L) -> int(L, 64, fun(F) -> signed(swap(F)) end) end),
     ?READ(<<_:Off, V:61, _/bits>>, V, fun(L) -> int(L, 61, fun unsigned/1) end),
     ?READ(<<_:Off, V:90/signed, _/bits>>, V, fun(L) -> int(L, 90, fun signed/1) end),
     ?READ(<<_:Off, V:77/little, _/bits>>, V, fun(L) -> int(L, 77, fun(F) -> unsigned(swap(F)) end) end),
     ?READ(<<_:Off, N:6, V:N, _/bits>>, {N, V}, fun sized/1),
     ?READ(<<_:Off, A:3, B1:5, C:16/little, D:4/signed, R/bits>>, {A, B1, C, D, bit_size(R)}, fun fields/1),
     ?READ(<<_:Off, V:24/bits, _/bits>>, V, fun(L) -> int(L, 24, fun(F) -> << <<X:1>> || X <- F >> end) end),
     ?READ(<<_:Off, 1:1, R/binary>>, byte_size(R), fun tail/1),
     ?READ(<<_:Off, V/utf8, _/bits>>, V, fun point_of/1),
     ?READ(<<_:Off, R/bits>>, bit_size(R), fun erlang:length/1),
     {fun(Off, B) -> <<_:Off, R/bits>> = B, heads(R) end, fun heads_of/1}].

heads(<<0:4, V:4, _/bits>>) -> {low, V};
heads(<<1:1, V:15, _/bits>>) -> {high, V};
heads(<<7:4, 0:4, V:24, _/bits>>) -> {mark, V};
heads(<<V:12, _/bits>>) -> {any, V};
heads(R) -> {rest, bit_size(R)}.

heads_of([0, 0, 0, 0, A, B, C, D | _]) -> {low, unsigned([A, B, C, D])};
heads_of([1 | T]) when length(T) >= 15 -> {high, unsigned(lists:sublist(T, 15))};
heads_of([0, 1, 1, 1, 0, 0, 0, 0 | T]) when length(T) >= 24 -> {mark, unsigned(lists:sublist(T, 24))};
heads_of(L) when length(L) >= 12 -> {any, unsigned(lists:sublist(L, 12))};
heads_of(L) -> {rest, length(L)}.

int(L, N, F) when length(L) >= N -> F(lists:sublist(L, N));
int(_, _, _) -> none.

sized(L) when length(L) >= 6 ->
    {Size, Rest} = lists:split(6, L),
    N = unsigned(Size),
    int(Rest, N, fun(F) -> {N, unsigned(F)} end);
sized(_) -> none.

fields([A1, A2, A3, B1, B2, B3, B4, B5 | T]) when length(T) >= 20 ->
    {C, [D1, D2, D3, D4 | R]} = lists:split(16, T),
    {unsigned([A1, A2, A3]), unsigned([B1, B2, B3, B4, B5]), unsigned(swap(C)), signed([D1, D2, D3, D4]), length(R)};
fields(_) -> none.

tail([1 | T]) when length(T) rem 8 =:= 0 -> length(T) div 8;
tail(_) -> none.

%% The first code point, as it is written: there is no shorter way, and no surrogate.
point_of(L) -> point_of([8, 16, 24, 32], L).
point_of([N | More], L) when length(L) >= N ->
    Field = lists:sublist(L, N),
    case decode(Field) of
        none -> point_of(More, L);
        C -> case utf8(C) of Field -> C; _ -> none end
    end;
point_of(_, _) -> none.

decode([0 | T]) when length(T) =:= 7 -> unsigned(T);
decode([1, 1, 0 | T]) when length(T) =:= 13 -> tails(T, 5);
decode([1, 1, 1, 0 | T]) when length(T) =:= 20 -> tails(T, 4);
decode([1, 1, 1, 1, 0 | T]) when length(T) =:= 27 -> tails(T, 3);
decode(_) -> none.

tails(T, N) ->
    {First, Rest} = lists:split(N, T),
    case tails(Rest) of
        none -> none;
        Bits -> case unsigned(First ++ Bits) of C when C > 16#10ffff; C >= 16#d800, C < 16#e000 -> none; C -> C end
    end.
tails([]) -> [];
tails([1, 0, A, B, C, D, E, F | T]) -> case tails(T) of none -> none; Bits -> [A, B, C, D, E, F | Bits] end;
tails(_) -> none.

%% ---- bits of values, by arithmetic alone ----

none(_) -> [].
big(V, N) -> [(V bsr I) band 1 || I <- lists:seq(N - 1, 0, -1)].
%% Whole bytes, the lowest first; an incomplete last one has the highest bits.
little(V, N) when N < 8 -> big(V, N);
little(V, N) -> big(V, 8) ++ little(V bsr 8, N - 8).
swap(L) when length(L) < 8 -> L;
swap(L) -> {Byte, Rest} = lists:split(8, L), swap(Rest) ++ Byte.
unsigned(L) -> lists:foldl(fun(B, N) -> N * 2 + B end, 0, L).
signed([1 | _] = L) -> unsigned(L) - (1 bsl length(L));
signed(L) -> unsigned(L).
string(S) -> lists:append([big(C, 8) || C <- S]).
utf8(C) when C < 16#80 -> big(C, 8);
utf8(C) when C < 16#800 -> [1, 1, 0 | big(C bsr 6, 5)] ++ six(C);
utf8(C) when C < 16#10000 -> [1, 1, 1, 0 | big(C bsr 12, 4)] ++ six(C bsr 6) ++ six(C);
utf8(C) -> [1, 1, 1, 1, 0 | big(C bsr 18, 3)] ++ six(C bsr 12) ++ six(C bsr 6) ++ six(C).
six(C) -> [1, 0 | big(C, 6)].
utf16(C) when C < 16#10000 -> big(C, 16);
utf16(C) -> big(16#d800 bor ((C - 16#10000) bsr 10), 16) ++ big(16#dc00 bor (C band 16#3ff), 16).
float64(0) -> big(0, 64);
float64(N) ->
    Exponent = length(integer_to_list(N, 2)) - 1,
    [0 | big(Exponent + 1023, 11)] ++ big(N bsl (52 - Exponent), 52).

%% ---- random ----

point(X) ->
    case abs(X) rem 16#110000 band (16#7f bor element(1 + abs(X) rem 4, {0, 16#7ff, 16#ffff, 16#1fffff})) of
        C when C >= 16#d800, C < 16#e000 -> C - 16#d800;
        C when C > 16#10ffff -> C - 16#100000;
        C -> C
    end.

number() ->
    case random(6) of
        0 -> random(256);
        1 -> -random(70000);
        2 -> (1 bsl random(130)) - random(2);
        3 -> -(1 bsl random(130));
        _ -> random(1 bsl 28) * random(1 bsl 28) * random(1 bsl 28)
    end.

one(Slots) -> element(1 + random(?SLOTS), Slots).
pick(L) -> lists:nth(1 + random(length(L)), L).
random(N) ->
    S = (get(seed) * 1103515245 + 12345) band 16#7fffffff,
    put(seed, S),
    (S bsr 3) rem N.
