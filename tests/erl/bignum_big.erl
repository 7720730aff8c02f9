%% Really large integers: factorials, powers, division by long numbers, text of ten thousand digits.
-module(bignum_big).
-export([main/1]).

main(_) ->
    F = fac(600),
    t:w(fac, {length(integer_to_list(F)), erlang:phash2(F), F rem 1000003, F rem 16#ffffffffffffffff}),
    t:w(fac_div, F div fac(598)),
    P = pow(3, 5000),
    t:w(pow, {erlang:phash2(P), P rem 1000000007, length(integer_to_list(P, 2))}),
    t:w(back, {list_to_integer(integer_to_list(P)) =:= P, binary_to_integer(integer_to_binary(-P, 36), 36) =:= -P}),
    Q = pow(7, 2000),
    t:w(long_division, {erlang:phash2(P div Q), erlang:phash2(P rem Q), (P div Q) * Q + P rem Q =:= P, (-P div Q) * Q + -P rem Q =:= -P}),
    t:w(gcd, gcd(fac(60), pow(2, 100) * 3)),
    t:w(modpow, modpow(3, 1 bsl 200, (1 bsl 127) - 1)),
    t:w(fib, erlang:phash2(fib(5000))),
    t:w(sqrt2, isqrt(2 * pow(10, 200)) div pow(10, 80)),
    t:w(mul_kinds, [erlang:phash2(pow(3, N) * pow(5, M)) || {N, M} <- [{10, 4000}, {4000, 10}, {3000, 3000}, {1, 9000}]]),
    t:w(bits, {erlang:phash2(P band Q), erlang:phash2(-P bor Q), erlang:phash2(P bxor -Q), erlang:phash2(bnot P)}),
    t:w(compare, {P > Q, -P < -Q, P =:= P + 0, P == P * 1, P < P + 1}),
    t:w(external, binary_to_term(term_to_binary({P, -Q})) =:= {P, -Q}),
    t:w(floats, {float(fac(100)), float(-pow(2, 1000)), trunc(1.0e300) =:= trunc(float(trunc(1.0e300))), round(1.0e25), trunc(-1.0e22)}),
    t:e(float_too_big, fun() -> float(fac(200)) end).
fac(0) -> 1;
fac(N) -> N * fac(N - 1).
pow(_, 0) -> 1;
pow(B, N) when N rem 2 =:= 0 -> H = pow(B, N div 2), H * H;
pow(B, N) -> B * pow(B, N - 1).
gcd(A, 0) -> A;
gcd(A, B) -> gcd(B, A rem B).
modpow(_, 0, _) -> 1;
modpow(B, E, M) when E band 1 =:= 1 -> B * modpow(B * B rem M, E bsr 1, M) rem M;
modpow(B, E, M) -> modpow(B * B rem M, E bsr 1, M).
fib(N) -> fib(N, 0, 1).
fib(0, A, _) -> A;
fib(N, A, B) -> fib(N - 1, B, A + B).
isqrt(N) -> isqrt(N, N).
isqrt(N, X) -> case (X + N div X) div 2 of Y when Y >= X -> X; Y -> isqrt(N, Y) end.
