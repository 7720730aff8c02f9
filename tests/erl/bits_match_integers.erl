%% Integer segments matched against binaries of the right and wrong length.
-module(bits_match_integers).
-export([main/1]).

main(_) ->
    Bs = [<<>>, <<1>>, <<1, 2>>, <<1, 2, 3>>, <<255, 255, 255, 255>>, <<1:1>>, <<-1:12>>, <<16#8000000000000000:64>>, <<16#123456789abcdef012345678:96>>],
    [t:w(Name, [F(B) || B <- Bs]) || {Name, F} <- [
        {u8, fun(<<X>>) -> X; (_) -> no end}, {u8r, fun(<<X, R/binary>>) -> {X, R}; (_) -> no end}, {u8b, fun(<<X, R/bits>>) -> {X, R}; (_) -> no end},
        {s8, fun(<<X/signed, R/bits>>) -> {X, R}; (_) -> no end}, {u16, fun(<<X:16, R/bits>>) -> {X, R}; (_) -> no end},
        {l16, fun(<<X:16/little, R/bits>>) -> {X, R}; (_) -> no end}, {u12, fun(<<X:12, R/bits>>) -> {X, R}; (_) -> no end},
        {s12, fun(<<X:12/signed, _/bits>>) -> X; (_) -> no end}, {l12, fun(<<X:12/little, _/bits>>) -> X; (_) -> no end},
        {u64, fun(<<X:64, _/bits>>) -> X; (_) -> no end}, {s64, fun(<<X:64/signed, _/bits>>) -> X; (_) -> no end}, {l64, fun(<<X:64/little-signed, _/bits>>) -> X; (_) -> no end},
        {u96, fun(<<X:96>>) -> X; (_) -> no end}, {u65, fun(<<_:3, X:65, _/bits>>) -> X; (_) -> no end}, {bit, fun(<<X:1, Y:1, _/bits>>) -> {X, Y}; (<<X:1>>) -> X; (_) -> no end},
        {lit, fun(<<1, 2, R/bits>>) -> R; (<<1:1>>) -> one; (<<255:8, _/bits>>) -> ff; (_) -> no end},
        {zero, fun(<<X:0, R/bits>>) -> {X, R} end}, {skip, fun(<<_:10, R/bits>>) -> R; (_) -> no end}, {unit, fun(<<X:2/unit:8, _/bits>>) -> X; (_) -> no end}]],
    t:w(sizes, [begin <<X:S, _/bits>> = <<16#f123456789abcdef:64, 16#0fedcba987654321:64>>, X end || S <- lists:seq(0, 128, 5)]),
    t:w(sizes_signed, [begin <<_:1, X:S/signed, _/bits>> = <<16#f123456789abcdef:64, 16#0fedcba987654321:64, 9>>, X end || S <- lists:seq(1, 127, 7)]),
    t:w(bound, [case B of <<X, X, _/bits>> -> {twice, X}; <<X, Y, _/bits>> when Y > X -> up; _ -> other end || B <- Bs]),
    t:e(nomatch, fun() -> <<X:16>> = t:id(<<1>>), X end),
    t:e(notbin, fun() -> <<X:16>> = t:id([1]), X end).
