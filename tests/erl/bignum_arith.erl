%% Large integers: all operators over a grid of sizes and signs, checked against identities and by hash.
-module(bignum_arith).
-export([main/1]).

main(_) ->
    Ps = [0, 1, 31, 58, 59, 60, 64, 127, 1000],
    Ns = lists:usort([S * ((1 bsl P) + D) || P <- Ps, D <- [-1, 0, 1], S <- [1, -1]]),
    t:w(count, length(Ns)),
    t:w(add, t:sum([A + B || A <- Ns, B <- Ns])),
    t:w(sub, t:sum([A - B || A <- Ns, B <- Ns])),
    t:w(mul, t:sum([A * B || A <- Ns, B <- Ns])),
    t:w(divs, t:sum([A div B || A <- Ns, B <- Ns, B =/= 0])),
    t:w(rems, t:sum([A rem B || A <- Ns, B <- Ns, B =/= 0])),
    t:w(identity, [{A, B} || A <- Ns, B <- Ns, B =/= 0, (A div B) * B + A rem B =/= A]),
    t:w(sub_identity, [{A, B} || A <- Ns, B <- Ns, (A + B) - B =/= A]),
    t:w(square, [A || A <- Ns, (A + 1) * (A - 1) =/= A * A - 1]),
    t:w(bands, t:sum([A band B || A <- Ns, B <- Ns])),
    t:w(bors, t:sum([A bor B || A <- Ns, B <- Ns])),
    t:w(bxors, t:sum([A bxor B || A <- Ns, B <- Ns])),
    t:w(bit_identity, [{A, B} || A <- Ns, B <- Ns, (A bor B) + (A band B) =/= A + B]),
    t:w(bnots, [A || A <- Ns, bnot A =/= -A - 1]),
    t:w(abs, t:sum([abs(A) || A <- Ns])),
    t:w(sorted, lists:sort(lists:reverse(Ns)) =:= Ns),
    t:w(shown, [A || A <- Ns, abs(A) < 1 bsl 66, abs(A) > 1 bsl 57]),
    t:w(shift, t:sum([A bsl S || A <- Ns, S <- [0, 1, 7, 59, 60, 64, 100]])),
    t:w(shift_right, t:sum([A bsr S || A <- Ns, S <- [0, 1, 7, 59, 60, 64, 100, 2000]])),
    t:w(shift_identity, [{A, S} || A <- Ns, S <- [1, 59, 64, 65], (A bsl S) bsr S =/= A]),
    t:w(floor, [{A, S} || A <- Ns, S <- [1, 5, 60, 64], (A bsr S) =/= (A - ((A rem (1 bsl S)) + (1 bsl S)) rem (1 bsl S)) div (1 bsl S)]).
