%% badarith and its relatives for every operator and kind of operand.
-module(bif_arith_errors).
-export([main/1]).

main(_) ->
    Ops = ['+', '-', '*', '/', 'div', 'rem', 'band', 'bor', 'bxor', 'bsl', 'bsr'],
    Vals = [0, 7, -3, 2.5, 1 bsl 65, a, []],
    [t:e({Op, A, B}, fun() -> erlang:Op(A, B) end) || Op <- Ops, A <- Vals, B <- Vals, {Op, B} =/= {'bsl', 1 bsl 65}],
    [t:e({Op, A}, fun() -> erlang:Op(A) end) || Op <- ['+', '-', 'bnot', abs], A <- Vals],
    [t:e({Op, A}, fun() -> erlang:Op(A) end) || Op <- [trunc, round, ceil, floor, float], A <- [1, 2.5, -2.5, 0.5, -0.5, 1.0e20, 1 bsl 70, a, "1"]],
    t:e(inline_plus, fun() -> t:id(1) + t:id(x) end),
    t:e(inline_minus, fun() -> t:id(x) - 1 end),
    t:e(inline_mul, fun() -> t:id([]) * 3 end),
    t:e(inline_div, fun() -> t:id(4) div t:id(0) end),
    t:e(inline_rem, fun() -> t:id(4) rem t:id(0) end),
    t:e(inline_band, fun() -> t:id(4.0) band 1 end),
    t:e(inline_bsl, fun() -> t:id(4) bsl t:id(1.0) end),
    t:e(inline_bnot, fun() -> bnot t:id(1.0) end),
    t:e(inline_neg, fun() -> -t:id(a) end),
    t:e(too_big, fun() -> t:id(1) bsl t:id(1 bsl 40) end),
    t:e(too_big_zero, fun() -> t:id(0) bsl t:id(1 bsl 40) end),
    t:e(shift_right_far, fun() -> {t:id(5) bsr t:id(1 bsl 40), t:id(-5) bsr t:id(1 bsl 40), t:id(5) bsr -3, t:id(5) bsl -1} end),
    t:all({erlang, max}, [[1, 1.0], [1.0, 1], [a, 1], [[], {}]]),
    t:all({erlang, min}, [[1, 1.0], [1.0, 1], [a, 1], [[], {}]]).
