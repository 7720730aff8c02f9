%% Bit patterns whose sizes come from earlier fields, in heads and comprehensions.
-module(lang_bit_generators_nested).
-export([main/1]).

main(_) ->
    Packet = << <<(byte_size(S)):8, S/binary>> || S <- [<<"a">>, <<>>, <<"hello">>, <<"xyz">>] >>,
    t:w(fields, [S || <<N:8, S:N/binary>> <= Packet]),
    t:w(units, [X || <<N:4, X:N/unit:2>> <= <<1:4, 3:2, 2:4, 9:4, 0:4, 3:4, 33:6>>]),
    t:w(parse, parse(<<1, 2, "ab", 2, 7:16, 3, 0, 9, 1:1>>)),
    t:w(skip, [X || <<_:4, X:4>> <= <<1, 2, 3>>]),
    t:w(size_expr, begin N = t:id(2), <<A:(N * 8), B:(N + 1)/binary, R/bits>> = <<1, 2, 3, 4, 5, 6>>, {A, B, R} end),
    t:e(negative, fun() -> N = t:id(-1), case <<1, 2>> of <<_:N, _/bits>> -> yes; _ -> no end end),
    t:e(not_int, fun() -> N = t:id(a), case <<1, 2>> of <<_:N, _/bits>> -> yes; _ -> no end end),
    t:e(huge, fun() -> N = t:id(1 bsl 70), case <<1, 2>> of <<_:N, _/bits>> -> yes; _ -> no end end),
    t:w(from_map, begin M = #{n => 3}, <<X:(map_get(n, M))/bits, _/bits>> = <<16#f0>>, X end),
    t:w(in_fun_head, [(fun(<<L, S:L/bytes, _/bits>>) -> S; (_) -> none end)(B) || B <- [<<2, 1, 2, 3>>, <<3, 1>>, <<>>, a]]).
parse(<<1, N, S:N/binary, R/bits>>) -> [{str, S} | parse(R)];
parse(<<2, I:16, R/bits>>) -> [{int, I} | parse(R)];
parse(<<3, R/bits>>) -> [three | parse(R)];
parse(<<B:1>>) -> [{bit, B}];
parse(<<C, R/bits>>) -> [{byte, C} | parse(R)];
parse(<<>>) -> [].
