%% Integers of every size from 1 to 128 bits, signed and not, big and little, at every bit offset.
-module(bits_construct_sizes).
-export([main/1]).

main(_) ->
    Vs = [0, 1, -1, 5, 16#123456789abcdef0fedcba9876543210, -16#123456789abcdef0fedcba9876543210],
    t:w(big, erlang:md5([<< <<V:S, 0:(7 - (S + 7) rem 8)>> || V <- Vs, S <- lists:seq(1, 128) >>])),
    [t:w(S, {[<<V:S>> || V <- Vs], [<<V:S/little>> || V <- Vs]}) || S <- [1, 3, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 59, 60, 61, 63, 64, 65, 100, 127, 128]],
    t:w(offset, [<<0:O, V:S>> || O <- [1, 4, 7], V <- [-1, 16#a5], S <- [1, 5, 8, 13, 64, 67]]),
    t:w(offset_little, [<<0:O, V:S/little>> || O <- [1, 4, 7], V <- [-2, 16#a5c3], S <- [1, 5, 8, 13, 64, 67]]),
    t:w(native, [<<16#0102:16/native>> =:= <<16#0102:16/little>>, <<1.5/native-float>> =:= <<1.5/little-float>>]),
    t:w(round_trip, [begin N = round_trip(S), N end || S <- lists:seq(1, 128)] =:= lists:duplicate(128, ok)),
    t:w(unit, [<<1:2/unit:8>>, <<-1:3/unit:5>>, <<7:1/unit:256>>]),
    t:w(zero, [<<5:0>>, <<(t:id(99)):(t:id(0))>>, <<>>]).
round_trip(S) ->
    [begin
         <<A:S>> = <<V:S>>, A = V band ((1 bsl S) - 1),
         <<B:S/little>> = <<V:S/little>>, B = A,
         <<C:S/signed>> = <<V:S>>, C = sign(A, S),
         <<D:S/signed-little>> = <<V:S/little>>, D = C,
         <<_:3, E:S/signed, _:2>> = <<0:3, V:S, 0:2>>, E = C,
         <<_:5, F:S/little, _/bits>> = <<0:5, V:S/little, 1:1>>, F = A
     end || V <- [0, 1, -1, 16#5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a, -(1 bsl (S - 1)), (1 bsl (S - 1)) - 1]],
    ok.
sign(A, S) when A bsr (S - 1) =:= 1 -> A - (1 bsl S);
sign(A, _) -> A.
